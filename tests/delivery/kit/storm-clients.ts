/**
 * Many viewers in a process of their own. Each reconnects when its connection is cut, after a part of
 * `spreadMs` that chance chooses: one half of them with its cursor, as EventSource does, and the other
 * without, as a page that is loaded again. Each checks that no fact is missing or repeated, and that no
 * snapshot is older than what it was shown before.
 */
import { get } from "node:http";
import type { IncomingMessage } from "node:http";
import { createSseDecoder, decodeMessage } from "@millrace/core/wire";

export type ClientsRequest =
  | {
      readonly ask: "connect";
      readonly port: number;
      readonly count: number;
      readonly sessions: number;
      readonly spreadMs: number;
    }
  | { readonly ask: "storm"; readonly spreadMs: number }
  | { readonly ask: "standing" };

/** How all viewers stand. */
export interface ClientsStanding {
  readonly attached: number;
  /** Connections that were attached and cut since the storm began, the cut by which it began included. */
  readonly cuts: number;
  /** Attempts to connect since the storm began, and the most of them in a second. */
  readonly attempts: number;
  readonly attemptsPerSecond: number;
  /** How long after the storm began so many had returned, in milliseconds. */
  readonly returnedMs: { readonly p50: number; readonly p99: number; readonly all: number };
  /** The lowest head that a viewer of each session has. */
  readonly heads: readonly number[];
  readonly faults: readonly string[];
}

const faults: string[] = [];
const viewers: Viewer[] = [];
let spreadMs = 1_000;
let port = 0;
let stormAt = 0;
let attemptTimes: number[] = [];
let cuts = 0;

class Viewer {
  readonly session: number;
  readonly #keepsCursor: boolean;
  head = 0;
  attached = false;
  returnedAt: number | undefined;
  #cursor: string | undefined;

  constructor(session: number, keepsCursor: boolean) {
    this.session = session;
    this.#keepsCursor = keepsCursor;
  }

  /** Connects after a part of the time that all viewers spread over. */
  connectSoon(): void {
    setTimeout(() => this.#connect(), Math.random() * spreadMs);
  }

  #connect(): void {
    attemptTimes.push(performance.now());
    const headers =
      this.#keepsCursor && this.#cursor !== undefined ? { "last-event-id": this.#cursor } : {};
    const path = `/${this.session}`;
    const request = get({ port, path, headers, agent: false, host: "127.0.0.1" });
    request.once("response", (response) => this.#read(response));
    request.once("error", () => undefined); // followed by `close`
    request.once("close", () => {
      if (this.attached) cuts += 1;
      this.attached = false;
      this.connectSoon();
    });
  }

  #read(response: IncomingMessage): void {
    const decoder = createSseDecoder();
    response.setEncoding("utf8");
    response.once("error", () => undefined); // the request closes
    this.attached = true; // the hub opens a response once it has the viewer's state
    this.returnedAt ??= performance.now();
    response.on("data", (text: string) => {
      for (const event of decoder.feed(text))
        if (event.kind === "event") this.#take(event.data, event.id);
    });
  }

  #take(data: string, id: string): void {
    const decoded = decodeMessage(data);
    if (!decoded.ok) return this.#fault(decoded.fault.message);
    const message = decoded.value;
    if ("closedLanes" in message) {
      if (message.head < this.head) this.#fault(`${message.head} is shown after ${this.head}`);
      this.head = message.head;
    } else if ("n" in message) {
      if (message.n !== this.head + 1) this.#fault(`fact ${message.n} comes after ${this.head}`);
      this.head = message.n;
    }
    this.#cursor = id;
  }

  #fault(what: string): void {
    if (faults.length < 10) faults.push(`session ${this.session}: ${what}`);
  }
}

function standing(sessions: number): ClientsStanding {
  const returned = viewers
    .map(({ returnedAt }) => (returnedAt ?? Infinity) - stormAt)
    .toSorted((left, right) => left - right);
  const part = (share: number): number => returned[Math.ceil(returned.length * share) - 1] ?? NaN;
  const lowest = Array.from({ length: sessions }, () => Infinity);
  for (const { session, head } of viewers) lowest[session] = Math.min(lowest[session] ?? 0, head);
  const seconds = new Map<number, number>();
  for (const at of attemptTimes) {
    const second = Math.floor((at - stormAt) / 1_000);
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  return {
    attached: viewers.filter(({ attached }) => attached).length,
    cuts,
    attempts: attemptTimes.length,
    attemptsPerSecond: Math.max(0, ...seconds.values()),
    returnedMs: { p50: part(0.5), p99: part(0.99), all: part(1) },
    heads: lowest,
    faults,
  };
}

let sessions = 1;

function answer(request: ClientsRequest): ClientsStanding | undefined {
  switch (request.ask) {
    case "connect":
      ({ port, spreadMs, sessions } = request);
      for (let at = 0; at < request.count; at += 1) {
        const viewer = new Viewer(at % sessions, Math.floor(at / sessions) % 2 === 0);
        viewers.push(viewer);
        viewer.connectSoon();
      }
      return undefined;
    case "storm":
      ({ spreadMs } = request);
      stormAt = performance.now();
      attemptTimes = [];
      cuts = 0;
      for (const viewer of viewers) viewer.returnedAt = undefined;
      return undefined;
    case "standing":
      return standing(sessions);
    default:
      return request satisfies never;
  }
}

process.on("message", (request: ClientsRequest) => {
  process.send?.({ given: answer(request) });
});
process.on("disconnect", () => process.exit(0));
