import { createServer, Agent as HttpAgent, request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import {
  learnSecrets,
  pairHeaders,
  redactHeaders,
  redactPath,
  withoutHops,
} from "./recorded-head.ts";
import { saveRecording } from "./recording.ts";
import type { Recording } from "./recording.ts";
import { Redactor } from "./redact.ts";

/** The vendor that is recorded, and where its recordings go. */
export interface RecorderOptions {
  /**
   * The base URL of the vendor, such as `https://api.openai.com`. Its path is put before that of
   * each request.
   */
  readonly target: string;
  readonly folder: string;
  /** The id of the protocol, for the files. */
  readonly protocol: string;
  /** More secrets to remove. */
  readonly redact?: readonly (string | RegExp)[] | undefined;
  /**
   * The name of the files, by the number of the exchange from 1. Default: `recording-1` and so on.
   */
  readonly name?: ((number: number) => string) | undefined;
  readonly port?: number | undefined;
}

/** A proxy to a vendor that stores the exchanges. */
export interface Recorder extends AsyncDisposable {
  /** The base URL for a client, instead of the vendor's. */
  readonly url: string;
  /** The result of each finished exchange: its name, or why there is no file. */
  readonly recordings: readonly Recorded[];
  /** Resolves when all started exchanges are written. */
  readonly saved: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What became of one recording. */
export type Recorded =
  | { readonly kind: "saved"; readonly name: string }
  | { readonly kind: "failed"; readonly name: string; readonly problem: string };

/**
 * Starts a proxy that forwards a vendor's responses byte for byte and writes them to files with the
 * keys removed: `<name>.sse` for the body, `<name>.json` for all else and the times of the pieces.
 *
 * ```ts
 * await using recorder = await startRecorder({
 *   target: "https://api.openai.com",
 *   folder: "recordings",
 *   protocol: "openai-chat",
 * });
 * await callTheModel(recorder.url);
 * ```
 *
 * Keys are found by their header or query parameter, and by their form. A secret that a model
 * spells out over several events is not found: review a recording before you share it.
 */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  const desk = new RecorderDesk(options);
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (incoming, outgoing) => {
    desk.take(incoming, outgoing);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const close = async (): Promise<void> => {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    await desk.close();
  };
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    recordings: desk.recordings,
    saved: () => desk.saved(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const host = "127.0.0.1";

class RecorderDesk {
  readonly recordings: Recorded[] = [];
  readonly #options: RecorderOptions;
  readonly #target: URL;
  readonly #agent: HttpAgent;
  readonly #running = new Set<Promise<void>>();
  #count = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#target = new URL(options.target);
    const secure = this.#target.protocol === "https:";
    this.#agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  }

  take(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#count += 1;
    const name = (this.#options.name ?? ((number) => `recording-${number}`))(this.#count);
    const running = this.#record(name, incoming, outgoing)
      .then(
        (saved) => this.recordings.push({ kind: "saved", name: saved }),
        (error: unknown) => {
          this.recordings.push({ kind: "failed", name, problem: problemOf(error) });
          if (outgoing.headersSent) outgoing.destroy();
          else outgoing.writeHead(502, { "content-type": "text/plain" }).end(problemOf(error));
        },
      )
      .finally(() => this.#running.delete(running))
      .then(() => undefined);
    this.#running.add(running);
  }

  async saved(): Promise<void> {
    await Promise.all(this.#running);
  }

  async close(): Promise<void> {
    await this.saved();
    this.#agent.destroy();
  }

  async #record(
    name: string,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<string> {
    if (!/^[\w.-]+$/.test(name)) throw new RangeError(`"${name}" can't be the name of a file`);
    const question = Buffer.concat((await incoming.toArray()) as Buffer[]);
    const begun = performance.now();
    const request = this.#send(incoming, question);
    outgoing.once("close", () => request.destroy());
    const answer = await answerTo(request);
    const headersMs = Math.round(performance.now() - begun);
    outgoing.writeHead(
      answer.statusCode ?? 502,
      withoutHops(pairHeaders(answer.rawHeaders)).flat(),
    );
    outgoing.flushHeaders();
    const copied = await copyBody(answer, outgoing, begun);
    const encoding = answer.headers["content-encoding"] ?? "identity";
    if (encoding !== "identity") throw new Error(`the body is encoded as ${encoding}`);
    const files = this.#clean(incoming, question, { answer, headersMs, copied });
    return await saveRecording(this.#options.folder, name, files);
  }

  #send(incoming: IncomingMessage, body: Uint8Array): ClientRequest {
    const send = this.#target.protocol === "https:" ? httpsRequest : httpRequest;
    const kept = withoutHops(pairHeaders(incoming.rawHeaders)).filter(
      ([name]) => !/^(?:accept-encoding|content-length|expect)$/i.test(name),
    );
    // A compressed body can't be searched for keys.
    const own = ["host", this.#target.host, "accept-encoding", "identity"];
    if (body.length > 0) own.push("content-length", String(body.length));
    const request = send({
      protocol: this.#target.protocol,
      hostname: this.#target.hostname,
      port: this.#target.port,
      method: incoming.method,
      path: `${this.#target.pathname.replace(/\/$/, "")}${incoming.url ?? "/"}`,
      headers: [...kept.flat(), ...own],
      agent: this.#agent,
    });
    return request.end(body);
  }

  #clean(
    incoming: IncomingMessage,
    question: Uint8Array,
    { answer, headersMs, copied }: Taken,
  ): { readonly recording: Recording; readonly body: Uint8Array } {
    const redactor = new Redactor(this.#options.redact);
    const requestHeaders = pairHeaders(incoming.rawHeaders);
    const answered = pairHeaders(answer.rawHeaders);
    const path = incoming.url ?? "/";
    learnSecrets(redactor, requestHeaders, path);
    learnSecrets(redactor, answered, "");
    const body = redactor.bytes(copied.body);
    const recording: Recording = {
      format: 1,
      protocol: this.#options.protocol,
      request: {
        method: incoming.method ?? "",
        path: redactPath(redactor, path),
        headers: redactHeaders(redactor, requestHeaders),
        body: jsonOrText(redactor.text(Buffer.from(question).toString("utf8"))),
      },
      response: {
        status: answer.statusCode ?? 0,
        headers: redactHeaders(redactor, answered),
        headersMs,
        end: copied.end,
        redacted: !Buffer.from(body).equals(copied.body),
      },
      pieces: copied.pieces,
    };
    return { recording, body };
  }
}

interface Taken {
  readonly answer: IncomingMessage;
  readonly headersMs: number;
  readonly copied: Copied;
}

interface Copied {
  readonly body: Uint8Array;
  readonly pieces: Recording["pieces"];
  readonly end: Recording["response"]["end"];
}

function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", reject);
  });
}

/** Forwards and stores each piece. Resolves when the body ends, for any reason. */
function copyBody(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  begun: number,
): Promise<Copied> {
  const kept: Uint8Array[] = [];
  const pieces: [number, number][] = [];
  let length = 0;
  let left = false;
  answer.on("data", (piece: Uint8Array) => {
    pieces.push([length, Math.round(performance.now() - begun)]);
    kept.push(piece);
    length += piece.length;
    if (outgoing.write(piece)) return;
    answer.pause();
    outgoing.once("drain", () => answer.resume());
  });
  // `close` follows and has all the information.
  answer.on("error", () => undefined);
  outgoing.once("close", () => (left = true));
  return new Promise((resolve) => {
    answer.once("close", () => {
      const end = answer.complete ? "whole" : left ? "left" : "cut";
      if (end === "whole") outgoing.end();
      // Omits the last chunk, so that the client sees the cut.
      else outgoing.socket?.destroySoon();
      resolve({ body: Buffer.concat(kept), pieces, end });
    });
  });
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
