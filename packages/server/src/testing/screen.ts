import { apply, restore } from "@millrace/core/reading";
import { createSseDecoder, decodeMessage } from "@millrace/core/wire";
import type { SessionState } from "@millrace/core";
import { laneText } from "./lane-text.ts";

/** The session's state as one connection received it. Parses the raw HTTP response from its first byte. */
export class Screen {
  readonly #decoder = createSseDecoder();
  readonly #text = new TextDecoder();
  #unread = Buffer.alloc(0);
  #inHead = true;
  #state: SessionState | undefined;

  laneText(): string {
    return this.#state === undefined ? "" : (laneText(this.#state) ?? "");
  }

  take(bytes: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    if (this.#inHead) {
      const end = this.#unread.indexOf("\r\n\r\n");
      if (end < 0) return;
      this.#inHead = false;
      this.#unread = this.#unread.subarray(end + 4);
    }
    for (;;) {
      const line = this.#unread.indexOf("\r\n");
      if (line < 0) return;
      const size = Number.parseInt(this.#unread.toString("latin1", 0, line), 16);
      if (this.#unread.length < line + 2 + size + 2) return;
      this.#show(this.#unread.subarray(line + 2, line + 2 + size));
      this.#unread = this.#unread.subarray(line + 2 + size + 2);
    }
  }

  #show(events: Uint8Array): void {
    for (const event of this.#decoder.feed(this.#text.decode(events, { stream: true }))) {
      if (event.kind !== "event") throw new TypeError(event.kind);
      const decoded = decodeMessage(event.data);
      if (!decoded.ok) throw new TypeError(decoded.fault.message);
      if ("closedLanes" in decoded.value) this.#state = restore(decoded.value);
      else {
        if (this.#state === undefined) throw new TypeError("a message before the first snapshot");
        const applied = apply(this.#state, decoded.value);
        if (applied.verdict === "gap") throw new TypeError(`a gap: ${applied.missing}`);
        this.#state = applied.state;
      }
    }
  }
}
