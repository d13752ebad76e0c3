/**
 * Both ends of the way that is measured, in one process, so that one clock times a delta: a vendor that
 * writes a delta of each stream every 20 ms, and viewers that read what the server under test sends.
 * A delta's text names its number (`w00017;`), which is found in any encoding.
 */
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** The time between two deltas of a stream. */
const everyMs = 20;
const reply =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";

/** What a stream's vendor connection and its viewers have done. */
interface Stream {
  socket: Socket | undefined;
  /** When each delta was written. */
  readonly sentAt: number[];
  startAt: number;
}

/** The vendor and the viewers of one measurement. */
export class Traffic {
  readonly #streams: Stream[];
  readonly #viewers: Socket[] = [];
  readonly #server: Server;
  #timer: NodeJS.Timeout | undefined;
  /** While it is set, the delay of every delta at every viewer is added to it. */
  #delays: number[] | undefined;
  #sent = 0;

  constructor(streams: number) {
    this.#streams = Array.from({ length: streams }, () => ({
      socket: undefined,
      sentAt: [],
      startAt: 0,
    }));
    this.#server = createServer((socket) => this.#serve(socket));
  }

  /** Starts the vendor. Resolves to its address. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Deltas written since the measurement began. */
  get sent(): number {
    return this.#sent;
  }

  /** Whether every stream has a request of the server under test. */
  get isComplete(): boolean {
    return this.#streams.every(({ socket }) => socket !== undefined);
  }

  watch(port: number, stream: number): void {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true).setEncoding("latin1").on("error", fail);
    socket.write(`GET /${stream} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    let held = "";
    let seen = -1;
    socket.on("data", (text: string) => {
      const now = performance.now();
      held += text;
      for (const [, digits] of held.matchAll(/w(\d{5});/g)) {
        const number = Number(digits);
        if (number <= seen) continue; // a lane that is restated, or the item
        if (number !== seen + 1 && seen >= 0) fail(new Error(`delta ${seen + 1} did not come`));
        seen = number;
        this.#delays?.push(now - (this.#streams[stream]?.sentAt[number] ?? NaN));
      }
      held = held.slice(-6);
    });
    this.#viewers.push(socket);
  }

  begin(): void {
    const now = performance.now();
    for (const [index, stream] of this.#streams.entries()) {
      stream.startAt = now + 5 + ((index * 7) % everyMs);
    }
    this.#timer = setInterval(() => this.#writeDue(), 1);
  }

  startMeasuring(): void {
    this.#delays = [];
    this.#sent = 0;
  }

  /** The delays so far, in ascending order. */
  delays(): readonly number[] {
    return (this.#delays ?? []).toSorted((left, right) => left - right);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const { socket } of this.#streams) socket?.destroy();
    for (const viewer of this.#viewers) viewer.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    let held = "";
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      held += bytes.toString("latin1");
      const stream = this.#streams[Number(/"model"\s*:\s*"stream-(\d+)"/.exec(held)?.[1])];
      if (stream === undefined || stream.socket !== undefined) return;
      held = "";
      socket.write(reply);
      stream.socket = socket;
    });
  }

  #writeDue(): void {
    for (const { socket, sentAt, startAt } of this.#streams) {
      const now = performance.now();
      // At most one delta: a vendor that was late sends the next one later.
      if (startAt + sentAt.length * everyMs > now) continue;
      const content = `w${String(sentAt.length).padStart(5, "0")}; word`;
      const event = `data: ${JSON.stringify(chunkOf(content))}\n\n`;
      sentAt.push(now);
      socket?.write(`${event.length.toString(16)}\r\n${event}\r\n`);
      this.#sent += 1;
    }
  }
}

function chunkOf(content: string): object {
  const choices = [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }];
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "m",
    choices,
  };
}

function fail(error: Error): void {
  throw error;
}
