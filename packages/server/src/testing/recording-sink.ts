import type { SessionState } from "@millrace/core";
import type { Cursor } from "@millrace/core/reading";
import type { Sink, SinkEvents } from "../hub/options.ts";
import { StreamReader } from "./stream-reader.ts";

/** A sink that records its calls and applies its messages. Tests make it full, throw or go. */
export class RecordingSink implements Sink {
  readonly calls: string[] = [];
  readonly frames: Uint8Array[] = [];
  readonly comments: string[] = [];
  readonly reader = new StreamReader();
  full = false;
  fault: Error | undefined;
  cursor: Cursor | undefined;
  messages = 0;
  snapshots = 0;
  #events: SinkEvents | undefined;

  get state(): SessionState | undefined {
    return this.reader.state;
  }

  set state(state: SessionState | undefined) {
    this.reader.state = state;
  }

  bind(events: SinkEvents): void {
    this.calls.push("bind");
    this.#events = events;
  }

  open(): void {
    this.calls.push("open");
  }

  write(frame: Uint8Array): boolean {
    if (this.fault !== undefined) throw this.fault;
    if (this.calls.at(-1) !== "write") this.calls.push("write");
    this.#show(frame);
    return !this.full;
  }

  end(last?: Uint8Array): void {
    this.calls.push("end");
    if (last !== undefined) this.#show(last);
  }

  drain(): void {
    this.full = false;
    this.#events?.drained();
  }

  leave(): void {
    this.#events?.gone();
  }

  #show(frame: Uint8Array): void {
    this.frames.push(frame);
    const text = Buffer.from(frame).toString();
    if (text.startsWith(":")) this.comments.push(text);
    for (const { message, cursor } of this.reader.feed(text)) {
      if (this.state === undefined) throw new TypeError("a message before the first snapshot");
      this.messages += 1;
      this.cursor = cursor;
      if ("closedLanes" in message) this.snapshots += 1;
    }
  }
}
