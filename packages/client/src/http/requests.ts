import { MillraceError } from "@millrace/core";
import type { ErrorCode } from "@millrace/core";
import type { Acceptance } from "@millrace/core/reading";
import { pauseRangeMs } from "../connection/machine.ts";
import { endOfStatus } from "../connection/transitions.ts";

/** Gives the bearer token. `rejected`: the server refused the last one, so a kept one is not worth giving. */
export type TokenSource = (asked: { readonly rejected: boolean }) => string | Promise<string>;

/** What requests of a client need from outside. */
export interface RequestOptions {
  readonly url: string;
  readonly token: string | TokenSource | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly random: () => number;
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

/** Makes requests with credentials, and repeats those that may be repeated. */
export class Requests {
  /** `Millrace-Who` of the last answer: one user of one tenant. */
  who: string | undefined;
  /** Called when an answer is the first for a user. */
  onWho: (who: string) => void = () => undefined;
  readonly #options: RequestOptions;
  readonly #base: string;
  /** Pauses that end early when there is a sign of life. */
  readonly #pauses = new Set<() => void>();

  constructor(options: RequestOptions) {
    this.#options = options;
    this.#base = options.url.replace(/\/+$/, "");
  }

  /** One request, whatever its status. Rejects without an answer. */
  async send(path: string, request: RouteRequest = {}): Promise<Response> {
    const { token } = this.#options;
    const { method, body, signal } = request;
    const headers: Record<string, string> = { ...request.headers };
    if (token !== undefined) headers["authorization"] = `Bearer ${await this.#token(false)}`;
    const isBytes = body instanceof Uint8Array;
    if (body !== undefined && !isBytes) headers["content-type"] = "application/json";
    const response = await this.#options.fetch(`${this.#base}${path}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers,
      body: body === undefined ? null : isBytes ? (body as BodyInit) : JSON.stringify(body),
      signal: signal ?? null,
      cache: "no-store",
    });
    const who = response.headers.get("millrace-who") ?? this.who;
    if (who !== undefined && who !== this.who) {
      this.who = who;
      this.onWho(who);
    }
    return response;
  }

  /** Asks for another token, after the server refused the last. */
  async renew(): Promise<void> {
    await this.#token(true);
  }

  /** Repeats a request until it is answered. Rejects only when its signal is aborted. */
  async untilAnswered(path: string, request: RouteRequest): Promise<Answered> {
    let renewed = false;
    for (let attempt = 1; ; attempt += 1) {
      let retryAfterMs: number | undefined;
      try {
        const response = await this.send(path, request);
        if (response.ok) {
          const { status } = response;
          const json = request.isFile ? { file: await response.blob() } : await jsonOf(response);
          return { ok: true, status, json };
        }
        const problem = await problemOf(response);
        if (problem.status === 401 && !renewed) {
          renewed = true;
          await this.renew();
          continue;
        }
        if (!problem.retryable) return { ok: false, problem };
        ({ retryAfterMs } = problem);
      } catch {
        // No answer, or half of one: the same again. It may have been stored.
      }
      request.signal?.throwIfAborted();
      await this.pause(attempt, retryAfterMs, request.signal);
    }
  }

  /** There is a network, and a server: what waits is tried now. */
  wake(): void {
    for (const end of this.#pauses) end();
  }

  async #token(rejected: boolean): Promise<string> {
    const { token } = this.#options;
    return typeof token === "function" ? await token({ rejected }) : (token ?? "");
  }

  /** Waits before another try: as long as was asked, else longer each time. Rejects when the signal is aborted. */
  async pause(attempt: number, asked: number | undefined, signal?: AbortSignal): Promise<void> {
    const range = pauseRangeMs({ attempt, retryMs: 0 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, asked ?? range * this.#options.random());
    // A server that named a time is not asked before it.
    if (asked === undefined) this.#pauses.add(resolve);
    signal?.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    this.#pauses.delete(resolve);
    clearTimeout(timer);
    signal?.throwIfAborted();
  }
}

/** Why a request was refused. Never throws. */
async function problemOf(response: Response): Promise<ProblemAnswer> {
  const { status } = response;
  const json = await jsonOf(response).catch((): Readonly<Record<string, unknown>> => ({}));
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

async function jsonOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const text = await response.text();
  const value: unknown = text === "" ? {} : JSON.parse(text);
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** A key, or the id of a new session: 32 hexadecimal digits. Also in pages without a secure context. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
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
