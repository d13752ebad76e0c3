/** Readers by the libraries of other vendors: each sends prompts to a session of its own, and is cut as it reads. */
import {
  readAgUi,
  readAiSdk,
  readCompletion,
  readResponse,
} from "../../dialects/kit/read-replies.ts";
import type { ReadReply } from "../../dialects/kit/read-replies.ts";
import type { GivenPromises } from "../../kit/given-promises.ts";
import type { Report } from "../judge/report.ts";
import { judgeText, noncesIn } from "../judge/views.ts";
import { textOfDirective } from "../../kit/deployment/directive.ts";
import type { HttpNetwork } from "../world/http-network.ts";
import { SimulatedProcess } from "../world/simulated-process.ts";
import { simulation } from "../world/simulation.ts";
import type { WorldLedger } from "./ledger.ts";
import { readerHosts } from "./plan.ts";
import type { Action } from "./plan.ts";

export interface ReadersOptions {
  readonly network: HttpNetwork;
  readonly ledger: WorldLedger;
  readonly report: Report;
  /** Those of the pages too: all have to settle. */
  readonly promises: GivenPromises;
}

/** A text that a reader ended with. */
export interface HeldText {
  readonly host: string;
  readonly session: string;
  readonly text: string;
}

interface Reader {
  readonly process: SimulatedProcess;
  readonly read: ReadReply;
  /** Settles when all that it was given to send has a reply. */
  last: Promise<unknown>;
}

/** After so long without a byte a reader comes back. */
const silenceMs = 12_000;

const formats: Readonly<Record<string, ReadReply>> = {
  reader0: readResponse,
  reader1: readAiSdk,
  reader2: readAgUi,
  reader3: readCompletion,
};

export class Readers {
  readonly held: HeldText[] = [];
  readonly #options: ReadersOptions;
  readonly #readers = new Map<string, Reader>();

  constructor(options: ReadersOptions) {
    this.#options = options;
    for (const host of readerHosts) {
      const process = new SimulatedProcess(host, 1, simulation().seed);
      const read = formats[host] ?? readResponse;
      this.#readers.set(host, { process, read, last: Promise.resolve() });
    }
  }

  has(host: string): boolean {
    return this.#readers.has(host);
  }

  schedule(action: Action): void {
    const reader = this.#readers.get(action.host);
    if (reader === undefined) throw new Error(`there is no reader ${action.host}`);
    const what = `${action.kind} ${action.session}`;
    simulation().schedule(action.at, reader.process, what, () => {
      const next = reader.last.then(() => this.#read(reader, action));
      reader.last = this.#options.promises.watch(`reply to ${action.key} by ${action.host}`, next);
    });
  }

  killAll(): void {
    for (const { process } of this.#readers.values()) simulation().kill(process);
  }

  async #read(reader: Reader, { host, session, kind, key, length }: Action): Promise<void> {
    const { network, ledger, report } = this.#options;
    // A completion joins all texts of its run.
    const mode = reader.read === readCompletion || kind !== "effect" ? "plain" : "effect";
    const texts = await reader.read({
      fetch: cutting(network.fetch, reader.process),
      session,
      prompt: textOfDirective({ key, mode, length }),
      onShown: (shown) => {
        for (const text of shown) judgeText(host, text, ledger.written, report);
      },
    });
    for (const text of texts)
      if (noncesIn(text).length > 0) this.held.push({ host, session, text });
  }
}

/**
 * The network as a library sees it. Every other connection is closed in the middle, and each one that is silent.
 * A closed connection ends its body.
 */
function cutting(fetch: typeof globalThis.fetch, process: SimulatedProcess): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { url, method, headers, signal } = request;
    headers.set("authorization", `Bearer ${process.host}`);
    const stop = new AbortController();
    const close = (): void => stop.abort();
    signal.addEventListener("abort", close, { once: true });
    const text = await request.text();
    let timer = setTimeout(close, silenceMs);
    const sent = { method, headers, body: text === "" ? null : text, signal: stop.signal };
    const answer = await fetch(url, sent).finally(() => clearTimeout(timer));
    const reader = answer.body?.getReader();
    let left = process.random.chance(0.5) ? process.random.below(40) : Infinity;
    const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
      timer = setTimeout(close, silenceMs);
      const { value } = (await reader?.read().catch(() => undefined)) ?? {};
      clearTimeout(timer);
      if (value !== undefined && left > 0) {
        left -= 1;
        controller.enqueue(value);
        return;
      }
      if (left === 0) simulation().trace(`${process.name} is cut in the middle`);
      close();
      controller.close();
    };
    const body = reader === undefined ? null : new ReadableStream({ pull, cancel: close });
    return new Response(body, { status: answer.status, headers: answer.headers });
  };
}
