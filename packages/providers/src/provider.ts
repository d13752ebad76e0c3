import {
  abortedCause,
  createModelStream,
  defaultRetryPolicy,
  retryDelay,
} from "@millrace/core/ports";
import { addUsage } from "@millrace/core/writing";
import type { Cause, JsonObject, Model, Usage } from "@millrace/core";
import type {
  Clock,
  ModelNotice,
  ModelRequest,
  ReplyWriter,
  RetryPolicy,
} from "@millrace/core/ports";
import type { DraftLimits } from "@millrace/core/writing";
import { systemClock } from "@millrace/core/memory";
import type { Framing } from "./framing/framing.ts";
import { withCost } from "./price.ts";
import type { Price } from "./price.ts";
import { callIdsOf } from "./protocols/call-id.ts";
import { legalName } from "./protocols/prepare.ts";
import type { Protocol, ReplyContext } from "./protocol.ts";
import { ReplyReader } from "./reply.ts";
import type { ReplyEnd } from "./reply.ts";
import { converse } from "./transport/converse.ts";
import { dispatchSend } from "./transport/dispatch.ts";
import type { Exchange, Send } from "./transport/exchange.ts";
import { failure } from "./failure.ts";
import { fetchSend } from "./transport/fetch.ts";
import { defaultTimeouts } from "./transport/timeouts.ts";
import type { Timeouts } from "./transport/timeouts.ts";

/** A provider is four independent choices. */
export interface ProviderParts<Event, State> {
  /** What the vendor's events and requests mean. */
  readonly protocol: Protocol<Event, State>;
  /** How its bytes are cut into events. */
  readonly framing: Framing<Event>;
  readonly endpoint: Endpoint;
  readonly auth: Auth;
  /** How bytes travel. Left out: undici, or the caller's `fetch`. */
  readonly send?: Send | undefined;
}

/** Where a vendor is reached, and the headers that each request has. */
export interface Endpoint {
  /** Without a slash at its end; a protocol's path follows. */
  readonly baseUrl: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * The headers that prove who asks, or, in words for the user, what to do to have some. Asked for each
 * request anew, so that keys may change.
 */
export type Auth = (exchange: Exchange) => Proof | string | Promise<Proof | string>;
type Proof = Readonly<Record<string, string>>;

/** What every provider takes: headers, transport, retries, clocks, prices. */
export interface ProviderOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** `false`: one try for each request, as `retry: false` in the request itself. */
  readonly retry?: Partial<RetryPolicy> | false | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** What a million tokens cost. Left out: the cost is not known. */
  readonly price?: Price | undefined;
  readonly limits?: DraftLimits | undefined;
  /** What an event that is no JSON does to the reply. */
  readonly badEvents?: "fail" | "skip" | undefined;
  /** Settings for each request; those of the request itself win. */
  readonly settings?: JsonObject | undefined;
  readonly clock?: Clock | undefined;
  /** In [0, 1), for the jitter between tries. */
  readonly random?: (() => number) | undefined;
}

/** Composes a model from a provider's parts. `model` is the vendor's own name of it. */
export function createModel<Event, State>(
  parts: ProviderParts<Event, State>,
  model: string,
  options: ProviderOptions = {},
): Model {
  const id = `${parts.protocol.id}/${model}`;
  return {
    id,
    stream: (request) =>
      createModelStream({
        model: id,
        signal: request.signal,
        limits: options.limits,
        produce: (writer) => new Asking(parts, model, options, request, writer).run(),
      }),
  };
}

/** One request of a user: as many tries as it takes until something is seen of it. */
class Asking<Event, State> {
  readonly #parts: ProviderParts<Event, State>;
  readonly #model: string;
  readonly #options: ProviderOptions;
  readonly #request: ModelRequest;
  readonly #writer: ReplyWriter;
  readonly #clock: Clock;

  constructor(
    parts: ProviderParts<Event, State>,
    model: string,
    options: ProviderOptions,
    request: ModelRequest,
    writer: ReplyWriter,
  ) {
    this.#parts = parts;
    this.#model = model;
    this.#options = options;
    this.#request = request;
    this.#writer = writer;
    this.#clock = options.clock ?? systemClock;
  }

  async run(): Promise<ReplyEnd> {
    const refused = (this.#request.tools ?? []).find(({ name }) => !legalName.test(name));
    if (refused !== undefined) return { stop: "failed", cause: nameFailure("tool", refused.name) };
    const shape = this.#request.output?.name ?? "_";
    if (!legalName.test(shape)) return { stop: "failed", cause: nameFailure("output", shape) };
    const { retry, price, random = Math.random } = this.#options;
    const once = retry === false || this.#request.retry === false;
    const policy = { ...defaultRetryPolicy, ...(once ? { attempts: 1 } : retry) };
    const exchange = this.#exchange();
    let spent: Usage | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const { end, started } = await this.#attempt(exchange);
      if (end.usage !== undefined) {
        spent = spent === undefined ? end.usage : addUsage(spent, end.usage);
      }
      const usage = spent === undefined ? undefined : withCost(spent, price);
      // Once something was seen a second try must be seen too, and that is for the loop to do.
      const canRepeat = !started && end.cause !== undefined && !this.#writer.signal.aborted;
      const delay = canRepeat
        ? retryDelay(policy, { attempt, cause: end.cause }, random())
        : undefined;
      if (delay === undefined || end.cause === undefined) return { ...end, usage };
      this.#notify({ type: "retry_scheduled", cause: end.cause, delayMs: Math.round(delay) });
      await this.#clock.sleep(delay, this.#writer.signal);
      if (this.#writer.signal.aborted) return { stop: "aborted", cause: abortedCause, usage };
    }
  }

  async #attempt(exchange: Exchange): Promise<{ end: ReplyEnd; started: boolean }> {
    const { protocol, framing, send } = this.#parts;
    const { fetch, timeouts, badEvents = "fail" } = this.#options;
    const reader = new ReplyReader(protocol, this.#context(), this.#writer);
    const signed = await this.#sign(exchange);
    if ("code" in signed) return { end: { stop: "failed", cause: signed }, started: false };
    const end = await converse({
      exchange: signed,
      send: send ?? (fetch === undefined ? dispatch : fetchSend(fetch)),
      framing,
      reader,
      timeouts: { ...defaultTimeouts, ...timeouts },
      clock: this.#clock,
      signal: this.#writer.signal,
      badEvents,
      notify: this.#request.notify === undefined ? undefined : this.#notify,
    });
    return { end, started: reader.started };
  }

  #exchange(): Exchange {
    const { protocol, endpoint, framing } = this.#parts;
    const { settings, headers } = this.#options;
    const request = { ...this.#request, settings: { ...settings, ...this.#request.settings } };
    const wire = protocol.request(request, { model: this.#model });
    return {
      url: endpoint.baseUrl.replace(/\/+$/, "") + wire.path,
      headers: {
        "content-type": "application/json",
        accept: framing.mediaType,
        "accept-encoding": "identity",
        ...wire.headers,
        ...endpoint.headers,
        ...headers,
      },
      body: JSON.stringify(wire.body),
    };
  }

  async #sign(exchange: Exchange): Promise<Exchange | ReturnType<typeof failure>> {
    try {
      const proof = await this.#parts.auth(exchange);
      if (typeof proof === "string") return failure("missing_key", proof);
      return { ...exchange, headers: { ...exchange.headers, ...proof } };
    } catch (error) {
      return failure(
        "hook_failed",
        `auth threw: ${error instanceof Error ? error.message : "something"}`,
      );
    }
  }

  #context(): ReplyContext {
    const { tools = [], transcript } = this.#request;
    const names = tools.map(({ name }) => name);
    return { model: this.#model, tools: names, takenCallIds: callIdsOf(transcript) };
  }

  readonly #notify = (notice: ModelNotice): void => {
    try {
      this.#request.notify?.(notice);
    } catch {
      // The reply goes on, whatever its watcher does.
    }
  };
}

const dispatch = dispatchSend();

/** What all vendors take. A name that was changed on its way out could not be found again. */
function nameFailure(what: "tool" | "output", name: string): Cause {
  const message = `no vendor takes the ${what} name ${JSON.stringify(name.slice(0, 80))}: use up to 64 letters, digits, "_" and "-", and begin with a letter or "_"`;
  return failure("bad_request", message);
}
