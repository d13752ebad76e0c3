import { MillraceError } from "@millrace/core";
import type { Cause, ErrorCode } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import type { Acceptance } from "@millrace/core/reading";
import { pauseRangeMs } from "../connection/machine.ts";
import { retryAfterMostMs } from "../connection/states.ts";
import { endOfStatus } from "../connection/transitions.ts";
import { silenceMs, slowestBytesPerMs } from "./limits.ts";

/** Gives the bearer token. `rejected`: the server refused the last one, so a kept one is not worth giving. */
export type TokenSource = (asked: { readonly rejected: boolean }) => string | Promise<string>;

/** What requests of a client need from outside. */
export interface RequestOptions {
  readonly url: string;
  readonly token: string | TokenSource | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly random: () => number;
  readonly clock: Clock;
}

/** A request to a route below the mount. */
export interface RouteRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON, unless it is bytes. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Its answer is a file, not JSON: `file` of the answer is its blob. */
  readonly isFile?: boolean | undefined;
  /** Called when it is sent, with the size of its body. */
  readonly onSend?: ((size: number) => void) | undefined;
}

/** A refusal as the server gave it; of a proxy or a page in between only the status is known. */
export interface ProblemAnswer {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** An answer to a request that was repeated until there was one. */
export type Answered =
  | { readonly ok: true; readonly status: number; readonly json: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: ProblemAnswer };

/** Why an attempt was ended whose request is repeated at once. */
const again = "again";

/**
 * Makes requests with credentials, each attempt under its limit, and repeats them: each is the same request
 * however often it arrives, by its idempotency key or by what it names.
 */
export class Requests {
  /** `Millrace-Who` of the last answer: one user of one tenant. */
  who: string | undefined;
  /** Why there is no token, since it was asked for last. */
  fault: Cause | undefined;
  /** Called when an answer is the first for a user, with the token of its request. */
  onWho: (who: string, token: string | undefined) => void = () => undefined;
  /** Called when a request was answered: there is a network, and a server. */
  onAnswer: () => void = () => undefined;
  /** Called when `fault` has changed. */
  onFault: () => void = () => undefined;
  readonly base: string;
  readonly #options: RequestOptions;
  /** Pauses that end early when there is a sign of life. */
  readonly #pauses = new Set<() => void>();
  /** Ends each short attempt that is under way, to begin it again. */
  readonly #open = new Set<() => void>();
  /** Those of them that were sent before the connection was lost. */
  #doubted: readonly (() => void)[] = [];

  constructor(options: RequestOptions) {
    this.#options = options;
    this.base = options.url.replace(/\/+$/, "");
  }

  /** One request, whatever its status. Rejects without an answer. Its owner limits it. */
  async send(path: string, request: RouteRequest = {}): Promise<Response> {
    const { method, body, signal } = request;
    const headers: Record<string, string> = { ...request.headers };
    const token = await this.token();
    signal?.throwIfAborted(); // it may have taken long
    if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
    const isBytes = body instanceof Uint8Array;
    if (body !== undefined && !isBytes) headers["content-type"] = "application/json";
    const sent = isBytes ? (body as BodyInit & Uint8Array) : JSON.stringify(body);
    request.onSend?.(sent?.length ?? 0);
    const response = await this.#options.fetch(this.base + path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers,
      body: sent ?? null,
      signal: signal ?? null,
      cache: "no-store",
    });
    const who = response.headers.get("millrace-who") ?? this.who;
    if (who !== undefined && who !== this.who) {
      this.who = who;
      this.onWho(who, token);
    }
    return response;
  }

  /** The token, or another one if the server refused the last. Rejects when there is none in time. */
  async token(rejected: boolean = false): Promise<string | undefined> {
    const { token, clock } = this.#options;
    if (typeof token !== "function") return token;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const ms = silenceMs.token;
    const end = clock.after(ms, () => reject(new Error(`no token within ${ms} ms`)));
    try {
      const given = await Promise.race([token({ rejected }), late]);
      this.#note(undefined);
      return given;
    } catch (error) {
      this.#note({ code: "no_token", message: String(error) });
      throw error;
    } finally {
      end();
    }
  }

  /** One request to the end of its answer, under the limit of its kind. Rejects without a whole answer. */
  async attempt(path: string, request: RouteRequest): Promise<Answered> {
    const { signal, isFile } = request;
    const { clock } = this.#options;
    const own = new AbortController();
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const end = (reason: unknown): void => {
      reject(reason);
      own.abort(reason);
    };
    const restart = (): void => end(again);
    const close = (): void => end(signal?.reason);
    const silence = silenceMs[isFile ? "file" : "short"];
    let unlimit = (): void => undefined;
    const limit = (size: number): void => {
      unlimit();
      unlimit = clock.after(silence + size / slowestBytesPerMs, () => end("silent"));
    };
    const exchange = async (): Promise<Answered> => {
      const response = await this.send(path, { ...request, signal: own.signal, onSend: limit });
      limit(0);
      const body = response.body?.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform: (piece, out) => {
            limit(0);
            out.enqueue(piece);
          },
        }),
      );
      // Without its status: browsers give an answer of 204 a body, and take none for such a status.
      const content = new Response(body ?? null, { headers: response.headers });
      return await answerOf(response, content, isFile);
    };
    signal?.throwIfAborted();
    signal?.addEventListener("abort", close);
    // What moves many bytes may be slow, and half of them are not sent twice for a break elsewhere.
    if (!isFile && !(request.body instanceof Uint8Array)) this.#open.add(restart);
    limit(0);
    try {
      const answered = await Promise.race([exchange(), ended]);
      if (answered.ok || !answered.problem.retryable) this.onAnswer();
      return answered;
    } finally {
      unlimit();
      this.#open.delete(restart);
      signal?.removeEventListener("abort", close);
    }
  }

  /** Repeats a request until it is answered. Rejects only when its signal is aborted. */
  async untilAnswered(path: string, request: RouteRequest): Promise<Answered> {
    let renewed = false;
    for (let attempt = 1; ; attempt += 1) {
      let retryAfterMs: number | undefined;
      try {
        const answered = await this.attempt(path, request);
        if (answered.ok) return answered;
        const { problem } = answered;
        if (problem.status === 401 && !renewed) {
          renewed = true;
          await this.token(true);
          continue;
        }
        if (!problem.retryable) return answered;
        ({ retryAfterMs } = problem);
      } catch (error) {
        // No answer, or half of one: the same again. It may have been stored.
        if (error === again) continue;
      }
      await this.pause(attempt, retryAfterMs, request.signal);
    }
  }

  /** The connection is lost: what was sent on it may never be answered. */
  doubt(): void {
    this.#doubted = [...this.#open];
  }

  /** There is a network, and a server: what waits, and what was doubted, is tried now. */
  wake(): void {
    const due = [...this.#doubted, ...this.#pauses];
    this.#doubted = [];
    for (const end of due) end();
  }

  /** Waits before another try: as long as was asked, else longer each time. Rejects when the signal is aborted. */
  async pause(attempt: number, asked: number | undefined, signal?: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    signal?.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => resolve();
    const range = pauseRangeMs({ attempt, retryMs: 0 });
    const ms = asked === undefined ? range * random() : Math.min(asked, retryAfterMostMs);
    const unlimit = clock.after(ms, end);
    // A server that named a time is not asked before it.
    if (asked === undefined) this.#pauses.add(end);
    signal?.addEventListener("abort", end);
    await promise;
    unlimit();
    this.#pauses.delete(end);
    signal?.removeEventListener("abort", end);
    signal?.throwIfAborted();
  }

  #note(fault: Cause | undefined): void {
    if (this.fault === fault) return;
    this.fault = fault;
    this.onFault();
  }
}

async function answerOf(
  response: Response,
  content: Response,
  isFile: boolean | undefined,
): Promise<Answered> {
  const { ok, status } = response;
  if (!ok) return { ok, problem: await problemOf(response, content) };
  return { ok, status, json: isFile ? { file: await content.blob() } : await jsonOf(content) };
}

/** Why a request was refused. Never throws. */
async function problemOf(response: Response, content: Response): Promise<ProblemAnswer> {
  const { status } = response;
  const json = await jsonOf(content).catch((): Readonly<Record<string, unknown>> => ({}));
  const { code, detail, retryable } = json;
  return {
    status,
    code: typeof code === "string" ? code : `http_${status}`,
    detail: typeof detail === "string" ? detail : `the server answered ${status}`,
    retryable: typeof retryable === "boolean" ? retryable : endOfStatus(status) === "lost",
    retryAfterMs: retryAfterOf(response),
  };
}

/** `Retry-After` in milliseconds, if it is in seconds, as our server sends it. */
export function retryAfterOf(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}

/** The object that an answer holds, or an empty one. Rejects without a whole answer, or if it is not JSON. */
export async function jsonOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const text = await response.text();
  const value: unknown = text === "" ? {} : JSON.parse(text);
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** A key, or the id of a new session: 32 hexadecimal digits. Also in pages without a secure context. */
export function newKey(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(16)));
}

/** Bytes in hexadecimal digits. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Codes of problems that are codes of errors. All others are `refused`, and the problem is the cause. */
const own: readonly ErrorCode[] = ["aborted", "closed", "session_exists", "unknown_blob"];

export function errorOf(problem: ProblemAnswer): MillraceError {
  const code = own.find((known) => known === problem.code) ?? "refused";
  return new MillraceError(code, `${problem.code}: ${problem.detail}`, { cause: problem });
}

/** Whether what was sent is stored. */
export function acceptanceOf(answered: Answered): Acceptance {
  return answered.ok ? { accepted: true } : { accepted: false, error: errorOf(answered.problem) };
}
