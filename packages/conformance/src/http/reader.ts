import { project } from "@millrace/core";
import { receive } from "@millrace/core/wire";
import type { SessionState } from "@millrace/core";
import { assert, within } from "../case.ts";
import type { HttpBody } from "./body.ts";
import type { Incoming } from "./exchange.ts";

/** One message of a stream: the id of its frame, if that has one, and its JSON. Steps may share a frame. */
export interface StreamMessage {
  readonly id: string | undefined;
  readonly line: string;
  readonly message: HttpBody;
}

/** An open stream. What has come is kept, so that a case may ask for it late. */
export interface EventReader extends Disposable {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly messages: readonly StreamMessage[];
  readonly comments: readonly string[];
  readonly retries: readonly number[];
  /** All bytes, as text. */
  readonly raw: () => string;
  /** The cursor of the last frame that had one. */
  readonly cursor: () => string;
  /** The state of the session, or of the one with this uid; undefined before its snapshot. */
  readonly state: (uid?: string) => SessionState | undefined;
  /** The first message that passes, also one that came before. */
  readonly until: (
    isIt: (message: HttpBody) => boolean,
    what: string,
    from?: number,
  ) => Promise<StreamMessage>;
  /** Resolves when so many characters have come, or at the end. */
  readonly received: (count: number) => Promise<void>;
  /** The end of the body. */
  readonly ended: () => Promise<void>;
  /** Hangs up. */
  readonly close: () => void;
}

/**
 * Reads server-sent events from an answer, checking each frame's form and that it follows the state before
 * it. With `from` it goes on where that reader was. Without a snapshot there is no state.
 */
export function readEvents(incoming: Incoming, from?: EventReader): EventReader {
  const frames = createFrames(from?.state());
  let waiting: (() => void)[] = [];
  const ending = { over: false, failure: undefined as unknown };
  const wake = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const text = new TextDecoder();
  incoming.body.on("data", (bytes: Uint8Array) => {
    try {
      frames.feed(text.decode(bytes, { stream: true }));
    } catch (error) {
      ending.failure = error;
    }
    wake();
  });
  const end = (): void => {
    ending.over = true;
    wake();
  };
  for (const name of ["end", "close", "error"]) incoming.body.once(name, end);
  const change = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const check = (): void => {
    if (ending.failure !== undefined) throw ending.failure as Error;
  };

  const until: EventReader["until"] = async (isIt, what, from = 0) => {
    for (let at = from; ; at += 1) {
      while (frames.messages.length <= at) {
        check();
        assert(!ending.over, `the stream ended before: ${what}`);
        await within(change(), what);
      }
      const found = frames.messages[at];
      if (found !== undefined && isIt(found.message)) return found;
    }
  };
  const close = (): void => {
    incoming.body.destroy();
    waiting = [];
  };
  return {
    ...incoming,
    ...frames,
    until,
    received: async (count) => {
      while (!ending.over && frames.raw().length < count) await within(change(), "more comes");
    },
    ended: async () => {
      while (!ending.over) await within(change(), "the stream ends");
      check();
    },
    close,
    [Symbol.dispose]: close,
  };
}

type Frames = Pick<
  EventReader,
  "messages" | "comments" | "retries" | "raw" | "cursor" | "state"
> & { readonly feed: (text: string) => void };

function createFrames(before: SessionState | undefined): Frames {
  const messages: StreamMessage[] = [];
  const comments: string[] = [];
  const retries: number[] = [];
  let raw = "";
  let taken = 0;
  let cursor = "";
  let last = before?.uid as string | undefined;
  const states = new Map<string | undefined, SessionState>();
  if (before !== undefined) states.set(last, before);

  const take = (frame: string): void => {
    const fields = frame.split("\n").map((line) => line.split(/: ?(.*)/s, 2));
    const of = (name: string): string[] =>
      fields.filter(([field]) => field === name).map(([, value = ""]) => value);
    comments.push(...of(""));
    retries.push(...of("retry").map(Number));
    for (const [field = ""] of fields)
      assert(["", "id", "data", "retry"].includes(field), `a frame has a field ${field}`);
    const lines = of("data");
    const [id] = of("id");
    if (id !== undefined) cursor = id;
    const came = lines.map((line) => ({ id, line, message: JSON.parse(line) as HttpBody }));
    messages.push(...came);
    const [first] = came;
    if (id === undefined || first === undefined) return;
    last = id.split(".")[1];
    const next = advance(states.get(last), { ...first, line: lines.join("\n") });
    if (next !== undefined) states.set(last, next);
  };
  return {
    messages,
    comments,
    retries,
    raw: () => raw,
    cursor: () => cursor,
    state: (uid = last) => states.get(uid),
    feed: (text) => {
      raw += text;
      for (;;) {
        const at = raw.indexOf("\n\n", taken);
        if (at < 0) return;
        take(raw.slice(taken, at));
        taken = at + 2;
      }
    },
  };
}

/** The state after a message, or after all steps of a frame. Fails if the message does not follow the state, which would be a loss. */
export function advance(
  state: SessionState | undefined,
  { id = "", line, message }: StreamMessage,
): SessionState | undefined {
  if (state === undefined && message.type !== "snapshot") return undefined;
  const received = receive(state, line, id);
  assert("state" in received, `${received.outcome} at ${id}: ${line.slice(0, 200)}`);
  return received.state;
}

/** The texts of the items that a state shows, also of those being written. */
export function textsOf(state: SessionState | undefined): readonly string[] {
  if (state === undefined) return [];
  return project(state).items.map(({ parts }) =>
    parts.map((part) => ("text" in part ? part.text : "")).join(""),
  );
}
