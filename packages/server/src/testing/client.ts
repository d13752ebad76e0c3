import { apply, emptyState, restore } from "@millrace/core/reading";
import type { SessionState } from "@millrace/core";
import type { Cursor, Followed } from "@millrace/core/reading";
import type { WatchOptions } from "../hub/options.ts";
import { name } from "./session-fixture.ts";
import type { SessionFixture } from "./session-fixture.ts";

/** A hub, or what reads it by way of bytes: that needs the state that belongs to the cursor. */
export interface Watched {
  readonly watch: (
    options: WatchOptions & { readonly state?: SessionState | undefined },
  ) => AsyncGenerator<Followed, void, undefined>;
}

export interface ClientOptions {
  /** The state that it starts from, and the cursor that belongs to it. */
  readonly state?: SessionState | undefined;
  readonly cursor?: Cursor | undefined;
  /** Awaited after each message. */
  readonly pace?: (() => Promise<void>) | undefined;
}

/** A viewer's screen: changes its state by `apply` alone, and fails at a gap. */
export interface Client {
  readonly state: () => SessionState;
  readonly cursor: () => Cursor | undefined;
  readonly messages: () => number;
  readonly snapshots: () => number;
  /** Messages that changed nothing: duplicates, and batches of a superseded writer. */
  readonly repeated: () => number;
  /** The error that it failed with, or "ended"; undefined while it watches. */
  readonly ended: () => unknown;
  readonly leave: () => Promise<void>;
}

/** Watches until `leave` is called. */
export function createClient(
  hub: Watched,
  { uid }: SessionFixture,
  options: ClientOptions = {},
): Client {
  const end = new AbortController();
  let state = options.state ?? emptyState(uid, name);
  let { cursor } = options;
  let messages = 0;
  let snapshots = 0;
  let repeated = 0;
  let ended: unknown;

  const take = ({ message, cursor: next }: Followed): void => {
    messages += 1;
    if ("items" in message) {
      snapshots += 1;
      state = restore(message);
    } else {
      const applied = apply(state, message);
      if (applied.verdict === "gap") throw new TypeError(`a gap: ${applied.missing}`);
      if (applied.verdict !== "applied") repeated += 1;
      ({ state } = applied);
    }
    cursor = next;
  };
  const read = async (): Promise<void> => {
    const { signal } = end;
    for await (const followed of hub.watch({
      uid,
      sessionId: name,
      cursor,
      signal,
      state: options.state,
    })) {
      take(followed);
      await options.pace?.();
    }
  };
  const watch = async (): Promise<void> => {
    try {
      await read();
      ended = "ended";
    } catch (error) {
      ended = error;
    }
  };
  const reading = watch();
  return {
    state: () => state,
    cursor: () => cursor,
    messages: () => messages,
    snapshots: () => snapshots,
    repeated: () => repeated,
    ended: () => ended,
    leave: async () => {
      end.abort();
      await reading;
    },
  };
}

/** The texts of the items, in their order. */
export function itemTexts(state: SessionState): readonly string[] {
  return state.items
    .toArray()
    .flatMap(({ parts }) => parts)
    .map((part) => (part.kind === "text" ? part.text : part.kind));
}
