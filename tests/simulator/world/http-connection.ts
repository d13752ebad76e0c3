import type { HttpHost, HttpNetwork } from "./http-network.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { simulation } from "./simulation.ts";

/** After how long the kernel of a server gives a connection up whose peer is silent. */
const givenUpMs = 120_000;

interface SentRequest {
  readonly method: string;
  readonly headers: HeadersInit;
  readonly body: BodyInit | null;
}

interface Outcome {
  readonly id: number;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: unknown) => void;
}

/** One request, its response, and the connection that carries both. */
export class HttpConnection {
  readonly client: SimulatedProcess;
  path = "";
  /** Half-open: nothing arrives any more, and neither end is informed. */
  isStalled = false;
  readonly #network: HttpNetwork;
  readonly #outcome: Outcome;
  readonly #name: string;
  /** Aborted when the server learns that the client has gone. */
  readonly #left = new AbortController();
  #host: HttpHost | undefined;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isOver = false;
  /** Reset before the request arrived: it never does. */
  #isCut = false;
  /** When the last message to the client is due. */
  #lastDue = 0;
  #signal: AbortSignal | undefined;

  constructor(network: HttpNetwork, client: SimulatedProcess, outcome: Outcome) {
    this.#network = network;
    this.client = client;
    this.#outcome = outcome;
    this.#name = `http ${outcome.id}`;
    network.open.add(this);
    client.onKill.add(this.#clientDied);
  }

  send(url: URL, request: SentRequest, signal: AbortSignal | null | undefined): void {
    this.path = `${request.method} ${url.pathname}`;
    this.#signal = signal ?? undefined;
    if (signal?.aborted === true) {
      this.#abort();
      return;
    }
    signal?.addEventListener("abort", this.#abort, { once: true });
    const { faults, random } = this.#network;
    const isSwallowed = this.#network.swallows(this.client.host, request.method);
    const isLost = isSwallowed && random.chance(0.5);
    if (faults.blocked.has(this.client.host) || isLost) {
      this.isStalled = true;
      simulation().trace(`${this.#name} ${this.path} of ${this.client.host} vanishes`);
      return;
    }
    const { harness } = simulation();
    simulation().schedule(this.#network.latency(), harness, `${this.#name} ${this.path}`, () => {
      this.#arrive(url, request, isSwallowed);
    });
  }

  /** Both ends are informed. */
  readonly reset = (): void => {
    if (this.#isOver || this.isStalled) return;
    this.#isCut = this.#host === undefined;
    this.#toClient("reset", () => this.#fail(new TypeError("fetch failed")));
    this.#toHost("reset", () => this.#left.abort());
  };

  /** Neither end is informed. The server's kernel gives up in the end. */
  stall(): void {
    if (this.isStalled) return;
    this.isStalled = true;
    const host = this.#host?.process;
    if (host === undefined) return;
    const what = `${this.#name} is given up`;
    simulation().schedule(givenUpMs, host, what, () => this.#left.abort());
  }

  #arrive(url: URL, request: SentRequest, isAnswerSwallowed: boolean): void {
    if (this.#isOver || this.#isCut || this.isStalled) return;
    const hosts = this.#network.hosts();
    if (hosts.length === 0) {
      this.#toClient("refused", () => this.#fail(new TypeError("fetch failed")));
      return;
    }
    const host = this.#network.random.pick(hosts);
    this.#host = host;
    host.process.onKill.add(this.reset);
    if (isAnswerSwallowed) this.stall();
    const what = `> ${this.#name} ${this.path}`;
    simulation().schedule(0, host.process, what, () => {
      void this.#serve(host, new Request(url, { ...request, signal: this.#left.signal }));
    });
  }

  async #serve(host: HttpHost, request: Request): Promise<void> {
    const { status, headers, body } = await host.handle(request);
    this.#toClient(String(status), () => this.#respond(status, [...headers], body !== null));
    const reader = body?.getReader();
    if (reader === undefined) return;
    const cancel = (): void => void reader.cancel().catch(() => undefined);
    if (this.#left.signal.aborted) cancel(); // the client went while the answer was made
    this.#left.signal.addEventListener("abort", cancel, { once: true });
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        if (this.#network.faults.blocked.has(this.client.host)) this.stall();
        this.#network.bytes += value.length;
        this.#network.onBytes(this.client.host, value);
        this.#toClient(`${value.length} bytes`, () => this.#body?.enqueue(value));
      }
      this.#toClient("end", () => {
        this.#finish();
        this.#body?.close();
      });
    } catch {
      this.#toClient("breaks off", () => this.#fail(new TypeError("terminated")));
    }
  }

  #respond(status: number, headers: [string, string][], hasBody: boolean): void {
    const stream = hasBody
      ? new ReadableStream<Uint8Array>({
          start: (controller) => void (this.#body = controller),
          cancel: () => {
            if (this.#isOver) return;
            this.#finish();
            this.#toHost("is cancelled", () => this.#left.abort());
          },
        })
      : null;
    if (stream === null) this.#finish();
    this.#outcome.resolve(new Response(stream, { status, headers }));
  }

  /** In order: bytes of one connection do not overtake each other. */
  #toClient(what: string, call: () => void): void {
    const { now } = simulation();
    this.#lastDue = Math.max(this.#lastDue, now + this.#network.latency());
    const name = `< ${this.#name} ${what}`;
    const options = { channel: `< ${this.#name}` };
    const arrive = (): void => {
      if (!this.#isOver && !this.isStalled) call();
    };
    simulation().schedule(this.#lastDue - now, this.client, name, arrive, options);
  }

  #toHost(what: string, call: () => void): void {
    const host = this.#host?.process;
    if (host?.isAlive !== true || this.isStalled) return;
    const channel = `> ${this.#name}`;
    simulation().schedule(this.#network.latency(), host, `${channel} ${what}`, call, { channel });
  }

  readonly #abort = (): void => {
    if (this.#isOver) return;
    this.#fail(this.#signal?.reason ?? new DOMException("aborted", "AbortError"));
    this.#toHost("is hung up", () => this.#left.abort());
  };

  readonly #clientDied = (): void => {
    this.#finish();
    this.#toHost("is gone", () => this.#left.abort());
  };

  #fail(error: unknown): void {
    this.#finish();
    this.#outcome.reject(error);
    try {
      this.#body?.error(error);
    } catch {
      // It was closed before.
    }
  }

  #finish(): void {
    this.#isOver = true;
    this.#network.open.delete(this);
    this.client.onKill.delete(this.#clientDied);
    this.#host?.process.onKill.delete(this.reset);
    this.#signal?.removeEventListener("abort", this.#abort);
  }
}
