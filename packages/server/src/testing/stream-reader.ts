import {
  createSseDecoder,
  decodeCursor,
  decodeMessage,
  parseJsonText,
  receive,
} from "@millrace/core/wire";
import type { SessionState } from "@millrace/core";
import { apply, cursorOf, restore } from "@millrace/core/reading";
import type { Followed } from "@millrace/core/reading";
import type { Form } from "../encoding/steps.ts";
import type { WatchOptions } from "../hub/options.ts";

/** Where a reader comes back, and what it holds there. */
export interface Resumed extends WatchOptions {
  readonly state?: SessionState | undefined;
}

/** Steps need a reader that holds the state of its cursor, or that has none of either. */
export function formFor({ cursor, state }: Resumed): Form {
  return cursor !== undefined && state === undefined ? "whole" : "steps";
}

/** Reads the events of one stream as a client does: fails at anything but what a stream may hold. */
export class StreamReader {
  readonly #decoder = createSseDecoder();
  /** The times after which it may come back, as they came. */
  readonly retries: number[] = [];
  /** The ends that it was sent, as JSON. */
  readonly ends: { readonly reason: string; readonly sessionId?: string }[] = [];
  state: SessionState | undefined;

  constructor(state?: SessionState) {
    this.state = state;
  }

  get reason(): string | undefined {
    return this.ends.at(-1)?.reason;
  }

  /** The messages in a text, each with the cursor after it. The state is the one after all of them. */
  feed(text: string): readonly Followed[] {
    const followed: Followed[] = [];
    for (const event of this.#decoder.feed(text)) {
      if (event.kind === "retry") this.retries.push(event.ms);
      else if (event.kind === "overflow") throw new TypeError("overflow");
      else if (event.data.includes(`"type":"stream_ended"`)) this.#end(event.data);
      else followed.push(...this.#take(event.data, event.id));
    }
    return followed;
  }

  #end(data: string): void {
    // Our own server's, whose form tests compare.
    this.ends.push(parseJsonText(data) as (typeof this.ends)[number]);
  }

  #take(data: string, id: string): readonly Followed[] {
    if (this.state === undefined) return [this.#takeWhole(data, id)];
    const received = receive(this.state, data, id);
    const cursor = decodeCursor(id);
    if (!("messages" in received) || cursor === undefined)
      throw new TypeError(`${JSON.stringify(received)} at ${id}: ${data}`);
    const { outcome, messages, state } = received;
    const [first] = messages;
    if (outcome === "duplicate" && first !== undefined && "n" in first)
      throw new TypeError(`fact ${first.n} again`);
    let before = this.state;
    this.state = state;
    return messages.map((message, at): Followed => {
      if (at === messages.length - 1 || "closedLanes" in message) return { message, cursor };
      before = apply(before, message).state;
      return { message, cursor: cursorOf(before) };
    });
  }

  /** Without a state it can take whole messages only, and checks no order. */
  #takeWhole(data: string, id: string): Followed {
    const decoded = decodeMessage(data);
    const cursor = decodeCursor(id);
    if (!decoded.ok || cursor === undefined) throw new TypeError(`unexpected: ${id} ${data}`);
    if ("closedLanes" in decoded.value) this.state = restore(decoded.value);
    return { message: decoded.value, cursor };
  }
}
