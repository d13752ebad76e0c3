import type { Cause } from "@millrace/core";
import type { Clock, ModelNotice, ModelResponse } from "@millrace/core/ports";
import type { Framed, Framer, Framing } from "../framing/framing.ts";
import type { StreamEnd } from "../protocol.ts";
import type { ReplyEnd, ReplyReader } from "../reply.ts";
import { Excerpt } from "./excerpt.ts";
import type { Exchange, ExchangeEvents, ResponseHead, Send } from "./exchange.ts";
import { openBody } from "./inflate.ts";
import type { BodyDecoder } from "./inflate.ts";
import { responseOf } from "./response-headers.ts";
import { startVitals, watch } from "./timeouts.ts";
import type { Timeouts, Vitals } from "./timeouts.ts";
import { withRetryTime } from "../vendor-delay.ts";
import { bodyFailure, isStream, statusFailure } from "./vendor-error.ts";

export interface ConversationOptions<Event, State> {
  readonly exchange: Exchange;
  readonly send: Send;
  readonly framing: Framing<Event>;
  readonly reader: ReplyReader<Event, State>;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly badEvents: "fail" | "skip";
  readonly onBytes: (() => void) | undefined;
  /** Undefined without a listener: some notices cost as much as their event. */
  readonly notify: ((notice: ModelNotice) => void) | undefined;
}

/** Sends one request and reads its reply to the end, however it ends. Never rejects. */
export async function converse<Event, State>(
  options: ConversationOptions<Event, State>,
): Promise<ReplyEnd> {
  const { exchange, send, reader, timeouts, clock, signal, notify } = options;
  const conversation = new Conversation(options);
  const leave = (): void => conversation.finish({ kind: "aborted" });
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  send(exchange, conversation, conversation.socket);
  const stalled = (silentMs: number): void => notify?.({ type: "stalled", silentMs });
  const watched = watch(conversation.vitals, timeouts, clock, conversation.done, stalled).then(
    (cause) => cause !== undefined && conversation.finish({ kind: "cut", cause }),
  );
  const end = await conversation.end;
  signal.removeEventListener("abort", leave);
  await watched;
  const reply = reader.end(
    end.kind === "cut" ? { ...end, cause: addressed(end.cause, exchange) } : end,
  );
  const { response } = conversation;
  return reply.cause === undefined
    ? { ...reply, response }
    : { ...reply, cause: withRetryTime(reply.cause, clock.now()), response };
}

/** The cause with the address of the request, without credentials and query. */
function addressed(cause: Cause, { url }: Exchange): Cause {
  const { origin, pathname } = new URL(url); // it was checked before it was sent
  return { ...cause, message: `${cause.message} (at ${origin}${pathname})` };
}

/**
 * How long a vendor may take to end its body after its last event, so that the connection can be
 * reused.
 */
const graceMs = 250;

/** How long the usage may take to follow a complete reply. */
const settledMs = 2_000;

/** The longest reply that is read from one piece of JSON, in bytes. */
const wholeLimit = 16 * 1024 * 1024;

/** The state of one exchange. */
class Conversation<Event, State> implements ExchangeEvents {
  readonly vitals: Vitals;
  readonly end: Promise<StreamEnd>;
  /** What the answer had beside its content. */
  response: ModelResponse | undefined;
  readonly #options: ConversationOptions<Event, State>;
  readonly #resolve: (end: StreamEnd) => void;
  readonly #done = new AbortController();
  readonly #socket = new AbortController();
  readonly #framer: Framer<Event>;
  /** The beginning of the body; all of it if it may be a whole reply. */
  #excerpt = new Excerpt();
  #body: BodyDecoder | undefined;
  #head: ResponseHead | undefined;
  #events = 0;

  constructor(options: ConversationOptions<Event, State>) {
    const { promise, resolve } = Promise.withResolvers<StreamEnd>();
    this.end = promise;
    this.#resolve = resolve;
    this.#options = options;
    this.#framer = options.framing.open();
    this.vitals = startVitals(options.clock.now());
  }

  /** Aborted when the reply is over. */
  get done(): AbortSignal {
    return this.#done.signal;
  }

  /** Aborted when the socket has to be closed. */
  get socket(): AbortSignal {
    return this.#socket.signal;
  }

  readonly finish = (end: StreamEnd): void => {
    if (this.#done.signal.aborted) return;
    this.#done.abort();
    if (end.kind === "over") setTimeout(this.#giveUp, graceMs).unref();
    else this.#giveUp();
    this.#resolve(end);
  };

  readonly connected = (): void => this.#enter("waiting");

  readonly responded = (head: ResponseHead): void => {
    this.#enter("reading");
    this.#head = head;
    this.response = responseOf(head.header, this.#options.clock.now());
    if (this.#mayBeWhole()) this.#excerpt = new Excerpt(wholeLimit);
    const encoding = head.header("content-encoding");
    const received = this.#isReadable() ? this.#take : this.#collect;
    const body = { received, ended: this.#close, failed: this.failed };
    const opened = openBody(encoding, head.decoded, body);
    if ("code" in opened) this.finish({ kind: "cut", cause: opened });
    else this.#body = opened;
  };

  readonly received = (bytes: Uint8Array): void => {
    this.vitals.byteAt = this.#options.clock.now();
    this.#options.onBytes?.();
    if (!this.#done.signal.aborted) this.#body?.write(bytes);
  };

  readonly ended = (): void => this.#body?.end();

  readonly failed = (cause: Cause): void => {
    // A cut error page is still an error page.
    if (this.#head !== undefined && !this.#isReadable() && !this.#mayBeWhole()) this.#close();
    else this.finish({ kind: "cut", cause });
  };

  readonly #giveUp = (): void => {
    this.#socket.abort();
    this.#body?.close();
  };

  /** Waits for what a vendor sends behind a complete reply. It may never come, and the body may stay open. */
  async #finishSoon(): Promise<void> {
    await this.#options.clock.sleep(settledMs, this.#done.signal);
    this.finish({ kind: "over" });
  }

  #enter(stage: Vitals["stage"]): void {
    const now = this.#options.clock.now();
    Object.assign(this.vitals, { stage, stageAt: now, byteAt: now, progressAt: now });
  }

  #isReadable(): boolean {
    const { status = 0, header } = this.#head ?? {};
    const type = header?.("content-type");
    return status >= 200 && status < 300 && isStream(type, this.#options.framing.mediaType);
  }

  /** True for JSON, which some servers answer with instead of a stream. */
  #mayBeWhole(): boolean {
    const { status = 0, header } = this.#head ?? {};
    const isJson = /^application\/json\b/i.test(header?.("content-type") ?? "");
    return isJson && status >= 200 && status < 300 && this.#options.reader.readsWhole;
  }

  readonly #collect = (bytes: Uint8Array): void => {
    if (!this.#excerpt.add(bytes)) this.#close();
  };

  readonly #take = (bytes: Uint8Array): void => {
    if (this.#events === 0) this.#excerpt.add(bytes);
    const before = this.#events;
    const framer = this.#framer;
    if (framer.feedTo === undefined) framer.feed(bytes).forEach(this.#read);
    else framer.feedTo(bytes, this.#read);
    this.vitals.inEvent = this.#events === before;
  };

  /** Ends the body, at its end or once enough of it was read. */
  readonly #close = (): void => {
    if (this.#done.signal.aborted) return;
    const events = this.#mayBeWhole()
      ? this.#options.reader.eventsOf(this.#excerpt.text())
      : undefined;
    if (events !== undefined) {
      for (const event of events) this.#read({ kind: "event", event });
      return this.finish({ kind: "over" });
    }
    const cause = this.#judge();
    if (cause !== undefined) return this.finish({ kind: "cut", cause });
    this.#framer.end().forEach(this.#read);
    this.finish({ kind: "eof" });
  };

  /** The failure of a body that is not a stream, or that has no event. */
  #judge(): Cause | undefined {
    const { status = 0, header = () => undefined } = this.#head ?? {};
    const text = this.#excerpt.text();
    if (status < 200 || status >= 300) {
      return statusFailure(status, text, { header, now: this.#options.clock.now() });
    }
    return this.#events > 0
      ? undefined
      : bodyFailure(text, header("content-type"), this.#isReadable());
  }

  readonly #read = (framed: Framed<Event>): void => {
    if (this.#done.signal.aborted) return;
    const { reader, notify, badEvents } = this.#options;
    this.#events += 1;
    switch (framed.kind) {
      case "event": {
        const progress = reader.take(framed.event);
        if (progress === "moved") this.vitals.progressAt = this.vitals.byteAt;
        else if (progress === "over") this.finish({ kind: "over" });
        else if (progress === "settled") void this.#finishSoon();
        else if (progress === "unknown") notify?.(unknownEvent(framed.event));
        return;
      }
      case "bad_event":
        if (badEvents === "fail") return this.finish({ kind: "failed", cause: framed.cause });
        return notify?.({ ...remark, code: "bad_event", message: framed.cause.message });
      case "fault":
        return this.finish({ kind: "failed", cause: framed.cause });
      case "lossy":
        return notify?.({
          ...remark,
          code: "lossy_text",
          message: "bytes that are no UTF-8 were replaced",
        });
      case "alive":
        return;
      default:
        framed satisfies never;
    }
  };
}

const remark = { type: "remark" } as const;

function unknownEvent(event: unknown): ModelNotice {
  const evidence = JSON.stringify(event).slice(0, 512).toWellFormed();
  return {
    ...remark,
    code: "unknown_event",
    message: "the vendor sent an event that is not known",
    evidence,
  };
}
