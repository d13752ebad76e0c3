import type { Cursor } from "@millrace/core/reading";
import { encodeCursor } from "@millrace/core/wire";
import { laneText } from "./lane-text.ts";
import { StreamReader } from "./stream-reader.ts";

/** The session's state as one connection received it. Parses the raw HTTP response from its first byte. */
export class Screen {
  readonly #reader: StreamReader;
  #cursor: Cursor | undefined;
  readonly #text = new TextDecoder();
  #unread = Buffer.alloc(0);
  #inHead = true;

  /** With a screen: goes on from what that one shows, as a client that comes back. */
  constructor(from?: Screen) {
    this.#reader = new StreamReader(from === undefined ? undefined : from.#reader.state);
    this.#cursor = from === undefined ? undefined : from.#cursor;
  }

  /** The position after all that it shows, as the header of a request. */
  get lastEventId(): string | undefined {
    return this.#cursor && encodeCursor(this.#cursor);
  }

  laneText(): string {
    const { state } = this.#reader;
    return state === undefined ? "" : (laneText(state) ?? "");
  }

  /** Why the stream ended, once it has. */
  get reason(): string | undefined {
    return this.#reader.reason;
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
    for (const { cursor } of this.#reader.feed(this.#text.decode(events, { stream: true }))) {
      if (this.#reader.state === undefined)
        throw new TypeError("a message before the first snapshot");
      this.#cursor = cursor;
    }
  }
}
