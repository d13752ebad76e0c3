import { get } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { cursorOf } from "@millrace/core/reading";
import { createSseDecoder, encodeCursor, receive } from "@millrace/core/wire";
import type { SessionState } from "@millrace/core";
import { ViewerChecks } from "./viewer-checks.ts";

export interface SessionViewerOptions {
  /** The address of the session's events, asked before each connection. A promise: it waits with that. */
  readonly address: () => string | Promise<string>;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A connection without a byte for this long is given up. */
  readonly silentMs: number;
  /** How long it is away after a connection, by the server's `retry`, and whether the server had answered. */
  readonly pause: (retryMs: number, wasServed: boolean) => number;
  /** It comes back with nothing, as a reloaded page, instead of where it was. */
  readonly reloads?: boolean | undefined;
  /** While this is so, it reads one byte a second. */
  readonly isSlow?: (() => boolean) | undefined;
  /** Whether an answer other than 200 is a fault, and not a server that is away. */
  readonly refusalIsFault?: boolean | undefined;
}

/**
 * A viewer of one session over HTTP, by steps. After every end and every break it comes back, until it is
 * closed. What it is sent twice, or does not fit, is a fault.
 */
export class SessionViewer implements Disposable {
  readonly checks: ViewerChecks = new ViewerChecks();
  connections = 0;
  snapshots = 0;
  /** When it tried to connect, by `performance.now`. */
  readonly attempts: number[] = [];
  /** The reasons of the ends that it was told. */
  readonly ends: string[] = [];
  /** How long it had no byte, for each time between two bytes, in milliseconds. */
  readonly silences: number[] = [];
  /** When the last bytes came, by `performance.now`. */
  byteAt = 0;
  /** When its state last changed, by the same clock. */
  changedAt = 0;
  /** True until the last message of a stream; false again while it is away. */
  connected = false;
  /** Called after each change of the state. */
  onChange: (() => void) | undefined;
  readonly #options: SessionViewerOptions;
  #request: ClientRequest | undefined;
  #cursor: string | undefined;
  #retryMs = 500;
  #closed = false;

  constructor(options: SessionViewerOptions) {
    this.#options = options;
    void this.#watch();
  }

  get state(): SessionState | undefined {
    return this.checks.state;
  }

  /** Forgets when it tried to connect and how long it had no byte: what follows is measured. */
  measure(): void {
    this.attempts.length = 0;
    this.silences.length = 0;
    this.byteAt = performance.now();
  }

  /** Breaks the connection. */
  cut(): void {
    this.#request?.destroy();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.cut();
  }

  async #watch(): Promise<void> {
    const { address, pause, reloads = false } = this.#options;
    while (!this.#closed) {
      if (reloads) {
        this.checks.reload();
        this.#cursor = undefined;
      }
      const to = await address();
      const before = this.connections;
      this.attempts.push(performance.now());
      await this.#connect(to);
      this.connected = false;
      if (!this.#closed) await sleep(pause(this.#retryMs, this.connections > before));
    }
  }

  /** One connection, to its end. */
  async #connect(address: string): Promise<void> {
    const { silentMs: timeout, refusalIsFault = false } = this.#options;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const headers = {
      ...this.#options.headers,
      accept: "text/event-stream",
      ...(this.#cursor !== undefined && { "last-event-id": this.#cursor }),
    };
    const request = get(address, { headers, agent: false, timeout }, (response) => {
      response.once("close", end);
      if (response.statusCode === 200) this.#read(response, request);
      else {
        if (refusalIsFault) this.checks.faults.push(`status ${response.statusCode}`);
        request.destroy();
      }
    });
    this.#request = request;
    request.once("timeout", () => request.destroy());
    request.on("error", () => undefined); // the close that follows is enough
    request.once("close", end);
    await ended;
  }

  #read(response: IncomingMessage, request: ClientRequest): void {
    const decoder = createSseDecoder();
    this.connections += 1;
    response.on("error", () => undefined);
    const feed = (chunk: string): void => {
      const now = performance.now();
      if (this.byteAt > 0) this.silences.push(now - this.byteAt);
      this.byteAt = now;
      for (const item of decoder.feed(chunk)) {
        if (item.kind === "retry") this.#retryMs = item.ms;
        if (item.kind !== "event" || request.destroyed) continue;
        if (this.#take(item)) continue;
        request.destroy();
        this.#cursor = undefined;
        return;
      }
      this.connected = !request.destroyed;
    };
    response.setEncoding("utf8");
    const slowly = readSlowly(response, this.#options.isSlow ?? (() => false), feed);
    void slowly.then(() => response.on("data", feed));
  }

  /** Takes one event of the stream. False: it does not fit. */
  #take({ data, id }: { readonly data: string; readonly id: string }): boolean {
    const { faults } = this.checks;
    const received = receive(this.state, data, id);
    if (received.outcome === "ended") {
      this.ends.push(received.ended.reason);
      return true; // the server closes
    }
    if (!("messages" in received)) {
      faults.push(`${JSON.stringify(received)} at ${id}: ${data.slice(0, 200)}`);
      return false;
    }
    const { outcome, messages } = received;
    const [first] = messages;
    if (outcome === "restored") this.snapshots += 1;
    if (outcome === "duplicate" && first !== undefined && "n" in first)
      faults.push(`fact ${first.n} again`);
    const fits = messages.every((message) => this.checks.take(message));
    // It may hold more of a lane than the id covers, if another server has shown it more.
    this.#cursor = this.state && encodeCursor(cursorOf(this.state));
    this.changedAt = performance.now();
    this.onChange?.();
    return fits;
  }
}

async function readSlowly(
  response: IncomingMessage,
  isSlow: () => boolean,
  feed: (character: string) => void,
): Promise<void> {
  while (isSlow() && !response.destroyed) {
    const character: unknown = response.read(1);
    if (typeof character === "string") feed(character);
    await sleep(1_000);
  }
}
