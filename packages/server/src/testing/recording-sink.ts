import { apply, restore } from "@millrace/core/reading";
import { createSseDecoder, decodeCursor, decodeMessage } from "@millrace/core/wire";
import type { SessionState } from "@millrace/core";
import type { Cursor } from "@millrace/core/reading";
import type { Frame } from "../sse/frame.ts";
import type { Sink, SinkEvents } from "../sse/sink.ts";

/** A sink that records its calls and applies its messages. Tests make it full, throw or go. */
export class RecordingSink implements Sink {
  readonly calls: string[] = [];
  readonly frames: Frame[] = [];
  readonly comments: string[] = [];
  full = false;
  fault: Error | undefined;
  cursor: Cursor | undefined;
  state: SessionState | undefined;
  messages = 0;
  snapshots = 0;
  #events: SinkEvents | undefined;
  readonly #decoder = createSseDecoder();

  bind(events: SinkEvents): void {
    this.calls.push("bind");
    this.#events = events;
  }

  open(): void {
    this.calls.push("open");
  }

  write(frame: Frame): boolean {
    if (this.fault !== undefined) throw this.fault;
    if (this.calls.at(-1) !== "write") this.calls.push("write");
    this.frames.push(frame);
    this.#show(Buffer.from(frame.plain).toString());
    return !this.full;
  }

  end(): void {
    this.calls.push("end");
  }

  drain(): void {
    this.full = false;
    this.#events?.drained();
  }

  leave(): void {
    this.#events?.gone();
  }

  #show(text: string): void {
    if (text.startsWith(":")) this.comments.push(text);
    for (const event of this.#decoder.feed(text)) {
      if (event.kind !== "event") throw new TypeError(event.kind);
      const decoded = decodeMessage(event.data);
      if (!decoded.ok) throw new TypeError(decoded.fault.message);
      this.messages += 1;
      this.cursor = decodeCursor(event.id);
      if ("closedLanes" in decoded.value) {
        this.snapshots += 1;
        this.state = restore(decoded.value);
        continue;
      }
      if (this.state === undefined) throw new TypeError("a message before the first snapshot");
      const applied = apply(this.state, decoded.value);
      if (applied.verdict === "gap") throw new TypeError(`a gap: ${applied.missing}`);
      if ("n" in decoded.value && applied.verdict === "duplicate")
        throw new TypeError(`fact ${decoded.value.n} again`);
      this.state = applied.state;
    }
  }
}
