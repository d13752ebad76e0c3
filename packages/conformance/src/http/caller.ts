import { randomUUID } from "node:crypto";
import { assert, assertEqual } from "../case.ts";
import type { HttpBody } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import { readEvents } from "./reader.ts";
import type { EventReader } from "./reader.ts";
import type { HttpServed, HttpWho } from "./target.ts";

export interface CallOptions {
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly bytes?: string | Uint8Array | undefined;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sends the bytes in chunks, without their length. */
  readonly unmeasured?: boolean | undefined;
  /** Hangs up after so many milliseconds. */
  readonly hangUpMs?: number | undefined;
  /** Whose headers; left out: the caller's. */
  readonly as?: Readonly<Record<string, string>> | undefined;
}

/** An answer that is read to its end has this long; a stream where a refusal is due would have none. */
const answerMs = 45_000;

/** An answer that was read to its end. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Its JSON; empty if there is none. */
  readonly body: HttpBody;
}

/** An answer with its request, for the check against the OpenAPI document. */
export interface SeenAnswer {
  readonly method: string;
  /** Below the mount, without a query. */
  readonly path: string;
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

export interface CallerOptions {
  readonly served: HttpServed;
  readonly exchange: Exchange;
  readonly seen: SeenAnswer[];
  readonly who?: HttpWho | undefined;
}

/** One person at one server: what they send, and what every answer to it must have. */
export class Caller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  get user(): string {
    return this.#options.who?.user ?? "";
  }

  get who(): HttpWho {
    return this.#options.who ?? { tenant: "", user: "" };
  }

  /** The same person at another server. */
  at(served: HttpServed, exchange: Exchange): Caller {
    return new Caller({ ...this.#options, served, exchange });
  }

  /** Sends a request below the mount, and reads its answer. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<HttpAnswer> {
    const limited = { ...options, hangUpMs: options.hangUpMs ?? answerMs };
    const { status, headers, body: stream } = await this.#send(method, path, limited);
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) chunks.push(chunk as Uint8Array);
    const bytes = new Uint8Array(Buffer.concat(chunks));
    const text = new TextDecoder().decode(bytes);
    const type = headers["content-type"] ?? "";
    this.#options.seen.push({ method, path: path.replace(/\?.*$/s, ""), status, type, text });
    const isJson = /\bjson\b/.test(type) && text !== "" && !type.includes("jsonl");
    const answer = { status, headers, bytes, text, body: isJson ? parsed(text) : {} };
    checkAnswer(answer, `${method} ${path.slice(0, 100)}`);
    return answer;
  }

  /** Sends a request and asserts its status. */
  async expect(
    status: number,
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<HttpAnswer> {
    const answer = await this.call(method, path, options);
    const asked = `${method} ${path.slice(0, 100)} answers ${answer.text.slice(0, 300)}`;
    assertEqual(answer.status, status, asked);
    return answer;
  }

  /** Asserts a refusal by its status and code. */
  async refused(
    status: number,
    code: string,
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<HttpAnswer> {
    const answer = await this.expect(status, method, path, options);
    assertEqual(answer.body.code, code, `${method} ${path.slice(0, 100)}: ${answer.body.detail}`);
    return answer;
  }

  /** Makes a session with a name of its own; resolves to the name. */
  async session(fields: object = {}): Promise<string> {
    const id = `s-${randomUUID()}`;
    const body = { id, ...fields };
    await this.expect(201, "POST", "/v1/sessions", { key: freshKey(), body });
    return id;
  }

  /** Posts an input; resolves to its ids. */
  async post(
    id: string,
    text: string,
    { kind = "prompt", key = freshKey() }: { readonly kind?: string; readonly key?: string } = {},
  ): Promise<{ readonly inputId: string; readonly runId: string; readonly key: string }> {
    const path = `/v1/sessions/${id}/inputs`;
    const { body } = await this.expect(202, "POST", path, { key, body: { kind, text } });
    return { inputId: body.inputId ?? "", runId: body.runId ?? "", key };
  }

  /** The run, once it has ended. */
  async finished(id: string, runId: string): Promise<HttpBody> {
    const path = `/v1/sessions/${id}/runs/${runId}`;
    const { body } = await this.expect(200, "GET", path, { headers: { prefer: "wait=20" } });
    assertEqual(body.status, "finished", `the run ${runId} ends`);
    return body;
  }

  /** Posts a prompt and waits for the end of its run. */
  async ran(id: string, text: string): Promise<HttpBody> {
    const { runId } = await this.post(id, text);
    return await this.finished(id, runId);
  }

  /** Opens a stream; by default the whole messages of a session's events. */
  async open(
    path: string,
    options: CallOptions & { readonly method?: string; readonly from?: EventReader } = {},
  ): Promise<EventReader> {
    const headers = { accept: "text/event-stream", ...options.headers };
    const { method = "GET" } = options;
    const incoming = await this.#send(method, path, { ...options, headers });
    if (incoming.status === 200) {
      const type = incoming.headers["content-type"];
      assertEqual(type, "text/event-stream; charset=utf-8", `${method} ${path} is a stream`);
    }
    return readEvents(incoming, options.from);
  }

  /** Watches a session by whole messages. */
  watch(
    id: string,
    query = "",
    headers: Readonly<Record<string, string>> = {},
  ): Promise<EventReader> {
    return this.open(`/v1/sessions/${id}/events?form=whole${query}`, { headers });
  }

  /** Watches a session by steps; with `from`, from where that reader was. */
  follow(id: string, from?: EventReader): Promise<EventReader> {
    const headers = from === undefined ? {} : { "last-event-id": from.cursor() };
    const seed = from === undefined ? {} : { from };
    return this.open(`/v1/sessions/${id}/events`, { headers, ...seed });
  }

  async #send(method: string, path: string, options: CallOptions): ReturnType<Exchange["send"]> {
    const { served, exchange, who } = this.#options;
    const { body, key, headers = {}, as = who === undefined ? {} : served.as(who) } = options;
    const bytes = options.bytes ?? (body === undefined ? undefined : JSON.stringify(body));
    return await exchange.send({
      method,
      path: new URL(served.url).pathname.replace(/\/$/, "") + path,
      headers: {
        ...as,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { "idempotency-key": key }),
        ...(bytes === undefined ? {} : lengthOf(bytes, served.protocol, options.unmeasured)),
        ...headers,
      },
      body: bytes,
      ...(options.hangUpMs === undefined ? {} : { signal: AbortSignal.timeout(options.hangUpMs) }),
    });
  }
}

/** How the end of the bytes is found. HTTP/2 needs no header for bytes without a length. */
function lengthOf(
  bytes: string | Uint8Array,
  protocol: HttpServed["protocol"],
  unmeasured = false,
): Readonly<Record<string, string>> {
  if (!unmeasured) return { "content-length": String(Buffer.byteLength(bytes)) };
  return protocol === "h2" ? {} : { "transfer-encoding": "chunked" };
}

/** A key that nobody has used. */
export function freshKey(): string {
  return `key-${randomUUID()}`;
}

/** What every answer must have, whatever was asked. */
function checkAnswer({ status, headers, text, body }: HttpAnswer, asked: string): void {
  const request = headers["request-id"] ?? "";
  assert(request !== "", `${asked}: the answer has a Request-Id`);
  assertEqual(headers["x-content-type-options"], "nosniff", `${asked}: nothing is sniffed`);
  const policy = headers["content-security-policy"] ?? "";
  assert(policy.includes("default-src 'none'"), `${asked}: the content policy is ${policy}`);
  for (const name of ["Origin", "Authorization", "Cookie"])
    assert((headers["vary"] ?? "").includes(name), `${asked}: the answer varies by ${name}`);
  if (status < 400) return;
  const type = headers["content-type"] ?? "";
  assert(type.startsWith("application/problem+json"), `${asked} is refused as ${type}: ${text}`);
  assertEqual(body.type, `urn:millrace:problem:${body.code}`, `${asked}: the problem has a type`);
  assertEqual(body.status, status, `${asked}: the problem has its status`);
  assertEqual(body.instance, request, `${asked}: the problem names its request`);
  assertEqual(typeof body.retryable, "boolean", `${asked}: the problem says if to repeat`);
  assert(
    !/\n\s+at |node_modules|\.ts:\d/.test(text),
    `${asked}: the problem has no stack: ${text}`,
  );
}

function parsed(text: string): HttpBody {
  return JSON.parse(text) as HttpBody;
}
