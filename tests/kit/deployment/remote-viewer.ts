import { get } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createSseDecoder, decodeMessage } from "@millrace/core/wire";
import type { SessionState } from "@millrace/core";
import { ViewerChecks } from "./viewer-checks.ts";

export interface RemoteViewerOptions {
  readonly session: string;
  /** The addresses of the web nodes. */
  readonly addresses: readonly string[];
  /** `cursor`: it comes back to where it was. `reload`: it comes back with nothing, as a reloaded page. */
  readonly returns: "cursor" | "reload";
}

/** A connection without a byte for this long is given up: a hub sends a heartbeat every five seconds. */
const silentMs = 8_000;

/** A viewer over HTTP. It comes back after every break, at one web node after the other, until it is closed. */
export class RemoteViewer implements Disposable {
  readonly checks: ViewerChecks = new ViewerChecks();
  connections = 0;
  /** When its state last changed, by `performance.now`. */
  changedAt = 0;
  /** Called after each change of the state. */
  onChange: (() => void) | undefined;
  readonly #options: RemoteViewerOptions;
  #request: ClientRequest | undefined;
  #cursor: string | undefined;
  #closed = false;

  constructor(options: RemoteViewerOptions) {
    this.#options = options;
    void this.#watch();
  }

  get state(): SessionState | undefined {
    return this.checks.state;
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
    const { addresses, returns } = this.#options;
    for (let at = Math.floor(Math.random() * addresses.length); !this.#closed; at += 1) {
      if (returns === "reload") {
        this.checks.reload();
        this.#cursor = undefined;
      }
      await this.#connect(`${addresses[at % addresses.length]}`);
      if (!this.#closed) await sleep(50 + Math.random() * 150);
    }
  }

  /** One connection, to its end. */
  async #connect(address: string): Promise<void> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const headers = {
      accept: "text/event-stream",
      ...(this.#cursor !== undefined && { "last-event-id": this.#cursor }),
    };
    const options = { headers, agent: false, timeout: silentMs };
    const request = get(`${address}/${this.#options.session}`, options, (response) => {
      response.once("close", end);
      if (response.statusCode === 200) this.#read(response, request);
      else request.destroy();
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
    response.setEncoding("utf8").on("data", (chunk: string) => {
      for (const item of decoder.feed(chunk)) {
        if (item.kind !== "event" || request.destroyed) continue;
        if (!this.#take(item.data)) {
          request.destroy();
          this.#cursor = undefined;
          return;
        }
        this.#cursor = item.id;
      }
    });
  }

  #take(data: string): boolean {
    const message = decodeMessage(data);
    if (!message.ok) {
      this.checks.faults.push(`a message that can't be decoded: ${data.slice(0, 200)}`);
      return false;
    }
    const fits = this.checks.take(message.value);
    this.changedAt = performance.now();
    this.onChange?.();
    return fits;
  }
}
