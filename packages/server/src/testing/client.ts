import { apply, emptyState, restore } from "@millrace/core/reading";
import type { SessionState } from "@millrace/core";
import type { Cursor, Followed } from "@millrace/core/reading";
import type { Hub } from "../hub/hub.ts";
import { name } from "./scene.ts";
import type { Scene } from "./scene.ts";

export interface ClientOptions {
  /** What it knows already, and the cursor that it got with it. */
  readonly state?: SessionState | undefined;
  readonly cursor?: Cursor | undefined;
  /** Awaited after each message. */
  readonly pace?: (() => Promise<void>) | undefined;
}

/** Somebody's screen: takes what it is told by `apply` alone, and fails at a gap. */
export interface Client {
  readonly state: () => SessionState;
  readonly cursor: () => Cursor | undefined;
  readonly messages: () => number;
  readonly snapshots: () => number;
  /** Why it failed, or that it came to its end. */
  readonly ended: () => unknown;
  readonly leave: () => Promise<void>;
}

/** Watches until it is told to leave. */
export function createClient(
  hub: Pick<Hub, "watch">,
  { uid }: Scene,
  options: ClientOptions = {},
): Client {
  const end = new AbortController();
  let state = options.state ?? emptyState(uid, name);
  let { cursor } = options;
  let messages = 0;
  let snapshots = 0;
  let ended: unknown;

  const take = ({ message, cursor: next }: Followed): void => {
    messages += 1;
    if ("items" in message) {
      snapshots += 1;
      state = restore(message);
    } else {
      const applied = apply(state, message);
      if (applied.verdict === "gap") throw new TypeError(`a gap: ${applied.missing}`);
      ({ state } = applied);
    }
    cursor = next;
  };
  const read = async (): Promise<void> => {
    const { signal } = end;
    for await (const followed of hub.watch({ uid, sessionId: name, cursor, signal })) {
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
