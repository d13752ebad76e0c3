import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** The time between two deltas of a reply. */
const everyMs = 20;
const head =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";

interface Reply {
  readonly socket: Socket;
  /** When each delta was written. */
  readonly writtenAt: number[];
}

/** This process's time, comparable with that of a page up to an offset. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

/**
 * A vendor that speaks the OpenAI dialect. A reply begins with its request and is written when `write` is
 * called: a delta every 20 ms, whose text names its number. Replies take turns, so that they meet the same
 * machine and never the same moment.
 */
export class Vendor {
  readonly #replies = new Map<string, Reply>();
  readonly #server: Server = createServer((socket) => this.#answer(socket));

  /** Resolves to its address. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Whether this many replies were asked for. */
  isAsked(count: number): boolean {
    return this.#replies.size === count;
  }

  /** When each delta of a reply was written, by the name of its model. */
  writtenAt(model: string): readonly number[] {
    return this.#replies.get(model)?.writtenAt ?? [];
  }

  /** Writes so many deltas of every reply, and ends them. */
  async write(count: number): Promise<void> {
    const replies = [...this.#replies.values()];
    const begun = performance.now();
    const turns = count * replies.length;
    for (let turn = 0; turn < turns; turn += 1) {
      const dueMs = begun + (turn * everyMs) / replies.length - performance.now();
      if (dueMs > 0) await new Promise((resolve) => void setTimeout(resolve, dueMs));
      const { socket, writtenAt } = replies[turn % replies.length] as Reply; // one of them
      const number = String(writtenAt.length).padStart(5, "0");
      writtenAt.push(nowMs());
      socket.write(eventOf({ role: "assistant", content: `w${number}; word ` }));
    }
    for (const { socket } of replies) {
      socket.write(`${eventOf({}, "stop")}${chunkOf("data: [DONE]\n\n")}0\r\n\r\n`);
    }
  }

  close(): void {
    for (const { socket } of this.#replies.values()) socket.destroy();
    this.#server.close();
  }

  #answer(socket: Socket): void {
    let held = "";
    socket.setNoDelay(true).on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      held += bytes.toString("latin1");
      const [, model] = /"model"\s*:\s*"([\w-]+)"/.exec(held) ?? [];
      if (model === undefined || this.#replies.has(model)) return;
      held = "";
      socket.write(head);
      this.#replies.set(model, { socket, writtenAt: [] });
    });
  }
}

function eventOf(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices };
  return chunkOf(`data: ${JSON.stringify(chunk)}\n\n`);
}

function chunkOf(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}
