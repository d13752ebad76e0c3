import { uniqueName } from "@millrace/core/memory";
import { warn } from "@millrace/core/checks";
import { redactedMessage } from "@millrace/core/secrets";
import type { Address, Addresses } from "../auth/addresses.ts";
import type { Answer } from "../http/answer.ts";
import type { Identity } from "../http/identity.ts";
import type { Incoming } from "../http/request.ts";
import { problemBody } from "../http/problem.ts";
import type { Problem, ProblemCode } from "../http/problem.ts";
import type { Route } from "../http/route.ts";
import { rateHeaders } from "../limits/rate-limits.ts";
import type { RateState } from "../limits/rate-limits.ts";
import { commonHeaders, etagOf, matchesTag, retryAfter } from "./reply.ts";
import type { Reply } from "./reply.ts";

/** One request in a log: what was asked and how it went. No content, no address, no token. */
export interface RequestLine {
  readonly requestId: string;
  readonly method: string;
  /** The name of the route. Left out: there is none at that address. */
  readonly route?: Route["name"] | undefined;
  readonly status: number;
  readonly code?: ProblemCode | undefined;
  /** Until the answer began. */
  readonly ms: number;
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
}

/** What answers have in common on one server. */
export interface ExchangeSettings {
  readonly addresses: Addresses;
  readonly cookies: boolean;
  /** `Millrace-Who` of an identity. */
  readonly whoTag: (who: Identity) => string;
  readonly monotonic: () => number;
  readonly random: () => number;
  /** `Millrace-Heartbeat` of streams: how often each has a byte at least. */
  readonly heartbeatMs: number;
  /** True while the server drains: connections are then closed after their answer. */
  readonly draining: () => boolean;
  readonly onRequest: ((line: RequestLine) => unknown) | undefined;
}

const exposed = [
  "ETag",
  "Location",
  "Retry-After",
  "RateLimit",
  "RateLimit-Policy",
  "Request-Id",
  "Idempotency-Replayed",
  "Preference-Applied",
  "Millrace-Heartbeat",
  "Millrace-Run",
  "Millrace-Session",
  "Millrace-Who",
].join(", ");

/** One request on its way through the checks, and the making of its answer. */
export class Exchange {
  readonly incoming: Incoming;
  readonly requestId: string;
  readonly #settings: ExchangeSettings;
  readonly #arrival: number;
  /** Set as the checks go on, in their order. */
  address: Address | undefined;
  route: Route | undefined;
  who: Identity | undefined;
  rate: RateState | undefined;

  constructor(incoming: Incoming, settings: ExchangeSettings) {
    this.incoming = incoming;
    this.#settings = settings;
    this.requestId = `req_${uniqueName(settings.random)}`;
    this.#arrival = settings.monotonic();
  }

  /** Milliseconds since the request came. */
  get age(): number {
    return this.#settings.monotonic() - this.#arrival;
  }

  /** The answer of a route, with the headers that all have. */
  reply(answer: Answer): Reply {
    const { json, bytes, stream } = answer;
    const headers = this.#headers(answer.headers);
    headers["cache-control"] ??= this.route?.cacheControl ?? "no-store";
    if (stream !== undefined) {
      headers["millrace-heartbeat"] = String(this.#settings.heartbeatMs);
      return this.#sent({ status: answer.status, headers, body: undefined });
    }
    if (json === undefined) {
      if (bytes instanceof Uint8Array) headers["content-length"] ??= String(bytes.length);
      return this.#revalidated(answer.status, headers, bytes);
    }
    const body = Buffer.from(JSON.stringify(json));
    headers["content-type"] ??= "application/json; charset=utf-8";
    headers["content-length"] = String(body.length);
    const tagged = this.route?.answers[200]?.headers?.includes("ETag") === true;
    if (answer.status === 200 && tagged) headers["etag"] ??= etagOf(body);
    return this.#revalidated(answer.status, headers, body);
  }

  /** The answer of a refusal. */
  refusal(problem: Problem): Reply {
    const { code, status, extra } = problem;
    const headers = this.#headers(extra.headers);
    const { type, text } = this.#shown(problem);
    const body = Buffer.from(text);
    headers["content-type"] = `${type}; charset=utf-8`;
    headers["content-length"] = String(body.length);
    headers["cache-control"] = "no-store";
    if (extra.retryAfter !== undefined) {
      headers["retry-after"] = retryAfter(extra.retryAfter, this.#settings.random());
    }
    Object.assign(headers, this.route?.refusals?.headers?.(problem));
    // What was not read of the body is not waited for.
    if (this.incoming.body !== undefined) headers["connection"] = "close";
    return this.#sent({ status, headers, body: this.#hasBody(status) ? body : undefined }, code);
  }

  /** A refusal in the form of its route. */
  #shown(problem: Problem): { readonly type: string; readonly text: string } {
    const { refusals } = this.route ?? {};
    if (refusals !== undefined) return { type: refusals.mediaType, text: refusals.encode(problem) };
    const text = JSON.stringify(problemBody(problem, this.requestId));
    return { type: "application/problem+json", text };
  }

  /** 304 for a reader that has it, else the answer. */
  #revalidated(status: number, headers: Record<string, string>, body: Reply["body"]): Reply {
    const { etag } = headers;
    const known = etag !== undefined && matchesTag(this.incoming.header("if-none-match"), etag);
    if (status === 200 && known && this.#isSafe()) {
      delete headers["content-length"];
      delete headers["content-type"];
      return this.#sent({ status: 304, headers, body: undefined });
    }
    return this.#sent({ status, headers, body: this.#hasBody(status) ? body : undefined });
  }

  #isSafe(): boolean {
    return this.incoming.method === "GET" || this.incoming.method === "HEAD";
  }

  #hasBody(status: number): boolean {
    return this.incoming.method !== "HEAD" && status !== 204 && status !== 304;
  }

  #headers(own: Readonly<Record<string, string>> | undefined): Record<string, string> {
    const headers: Record<string, string> = {
      ...commonHeaders,
      "request-id": this.requestId,
      ...this.#corsHeaders(),
    };
    if (this.who !== undefined) headers["millrace-who"] = this.#settings.whoTag(this.who);
    if (this.rate !== undefined) Object.assign(headers, rateHeaders(this.rate));
    if (this.#settings.draining()) headers["connection"] = "close";
    return Object.assign(headers, own);
  }

  /** Exactly the listed origin, never `*`. */
  #corsHeaders(): Readonly<Record<string, string>> {
    const origin = this.incoming.header("origin");
    const { addresses, cookies } = this.#settings;
    if (origin === undefined || this.address === undefined) return {};
    if (!addresses.lists(origin, this.address)) return {};
    return {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": exposed,
      ...(cookies ? { "access-control-allow-credentials": "true" } : {}),
    };
  }

  #sent(reply: Reply, code?: ProblemCode): Reply {
    const { requestId, route, who } = this;
    void this.#report({
      requestId,
      method: this.incoming.method,
      route: route?.name,
      status: reply.status,
      code,
      ms: this.age,
      tenant: who?.tenant,
      user: who?.user,
    });
    return reply;
  }

  /** A listener that fails changes no answer, and does not end the process. */
  async #report(line: RequestLine): Promise<void> {
    try {
      await this.#settings.onRequest?.(line);
    } catch (error) {
      const { requestId } = this;
      warn("MILLRACE_REQUEST_FAILED", `${requestId}: onRequest failed: ${redactedMessage(error)}`);
    }
  }
}
