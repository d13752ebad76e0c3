import { plainTransportFault, transportOf } from "@millrace/core/checks";
import {
  abortedCause,
  addUsage,
  createModelStream,
  defaultRetryPolicy,
  retryDelay,
  systemClock,
} from "@millrace/core/model";
import type { ReplyWriter, RetryPolicy } from "@millrace/core/model";
import type { Clock, ModelNotice, ModelRequest, RequestSettings } from "@millrace/core/ports";
import type { Cause, Model, Usage } from "@millrace/core";
import { redactData } from "@millrace/core/secrets";
import type { DraftLimits } from "@millrace/core/writing";
import { urlOf } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Framing } from "./framing/framing.ts";
import { unitPrice, withCost } from "./price.ts";
import type { ModelPrice } from "./price.ts";
import { callIdsOf } from "./protocols/call-id.ts";
import { byCallName, nativeToolsOf } from "./protocols/native-tools.ts";
import { withPortableCalls } from "./protocols/portable-calls.ts";
import { legalName } from "./protocols/call-names.ts";
import { leftOutRemark, refusalCause, RequestRefusal } from "./protocols/refusal.ts";
import { withoutRefused } from "./protocols/refused-before.ts";
import { wireNamesOf, withOwnNames, withWireNames } from "./protocols/tool-names.ts";
import type { WireNames } from "./protocols/tool-names.ts";
import type { NativeTool, Protocol, ReplyContext, WireRequest } from "./protocol.ts";
import { addressFailure, cutRemark, headersOf, nameFailure, tierOf } from "./request-notes.ts";
import { sign } from "./sign.ts";
import type { Auth } from "./sign.ts";
import { ReplyReader } from "./reply.ts";
import type { Reading, ReplyEnd } from "./reply.ts";
import { isHttpAddress } from "./transport/address.ts";
import { converse } from "./transport/converse.ts";
import { dispatchSend } from "./transport/dispatch.ts";
import type { Exchange, Send } from "./transport/exchange.ts";
import { failure } from "./failure.ts";
import { Learned } from "./learned.ts";
import { fetchSend } from "./transport/fetch.ts";
import type { Network } from "./transport/network.ts";
import { timeoutsFor } from "./transport/timeouts.ts";
import type { Timeouts } from "./transport/timeouts.ts";

/** The four independent parts of a provider. */
export interface ProviderParts<Event, State> {
  /** Translates the vendor's events and requests. */
  readonly protocol: Protocol<Event, State>;
  /** Cuts its bytes into events. */
  readonly framing: Framing<Event>;
  readonly endpoint: Endpoint;
  readonly auth: Auth;
  /** Sends a request. Default: undici, or the caller's `fetch`. */
  readonly send?: Send | undefined;
}

/** What every provider takes: headers, transport, retries, clocks, prices. */
export interface ProviderOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sends requests instead of our own transport. It has its own proxies and certificates. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Proxy, certificates and HTTP/2. Default: the proxy of the environment, and HTTP/1.1. */
  readonly network?: Network | undefined;
  /**
   * Whether a `baseUrl` may be `http://` at an address that is not this machine's. Default: `false`, and
   * such a request fails before anything is sent.
   */
  readonly allowPlain?: boolean | undefined;
  /** `false` disables retries, as `retry: false` in the request does. */
  readonly retry?: Partial<RetryPolicy> | false | undefined;
  /**
   * Under a loop, which watches for silence by its own setting, `stallNotice` and `stall` are off, and
   * so are `firstByte` and `idle` unless they are given here.
   */
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** Price of a million tokens, as in `@millrace/providers/models`. Default: the cost is unknown. */
  readonly price?: ModelPrice | undefined;
  readonly limits?: DraftLimits | undefined;
  /** Whether an event that is not JSON fails the reply. */
  readonly badEvents?: "fail" | "skip" | undefined;
  /**
   * Sends the request's `trace` to the vendor, as the headers `traceparent` and `tracestate`. Default:
   * `false`, so that a third party gets no trace ids unasked. Meant for one's own gateway or server,
   * which continues the trace.
   */
  readonly traceHeaders?: boolean | undefined;
  /**
   * Settings for each request: those that all vendors share, and beside them the vendor's own fields.
   * Those of the request override them.
   */
  readonly settings?: RequestSettings | undefined;
  readonly clock?: Clock | undefined;
  /** Returns a number in [0, 1), for the jitter between tries. */
  readonly random?: (() => number) | undefined;
}

/** Composes a model from a provider's parts. `model` is the vendor's name of it. */
export function createModel<Event, State>(
  parts: ProviderParts<Event, State>,
  model: string,
  options: ProviderOptions = {},
): Model {
  const { protocol } = parts;
  const id = `${protocol.id}/${model}`;
  const appends = protocol.appends?.(model);
  const learned = new Learned(parts.endpoint.baseUrl);
  return {
    id,
    ...(appends === undefined ? {} : { appends }),
    ...(protocol.bindsReasoning?.(model) === true ? { bindsReasoning: true } : {}),
    ...(protocol.summarises?.(model) === true ? { summarises: true } : {}),
    ...(options.price === undefined ? {} : { price: unitPrice(options.price) }),
    stream: (request) =>
      createModelStream({
        model: id,
        signal: request.signal,
        limits: options.limits,
        produce: (writer) =>
          new RetriedRequest(parts, model, options, request, writer, learned).run(),
      }),
  };
}

/** One request of the caller, with retries until a try has emitted a delta. */
class RetriedRequest<Event, State> {
  readonly #parts: ProviderParts<Event, State>;
  readonly #model: string;
  readonly #options: ProviderOptions;
  readonly #request: ModelRequest;
  /** The vendor's own tools, by the names of the offered tools that they are. */
  readonly #native: ReadonlyMap<string, NativeTool>;
  readonly #names: WireNames;
  readonly #writer: ReplyWriter;
  readonly #clock: Clock;
  readonly #learned: Learned;

  constructor(
    parts: ProviderParts<Event, State>,
    model: string,
    options: ProviderOptions,
    request: ModelRequest,
    writer: ReplyWriter,
    learned: Learned,
  ) {
    this.#parts = parts;
    this.#model = model;
    this.#options = options;
    this.#native = nativeToolsOf(request.tools ?? [], parts.protocol, model);
    this.#names = wireNamesOf(request, this.#native);
    this.#request = request;
    this.#writer = writer;
    this.#learned = learned;
    this.#clock = options.clock ?? systemClock;
  }

  async run(): Promise<ReplyEnd> {
    const nameless = (this.#request.tools ?? []).some(({ name }) => name.trim() === "");
    if (nameless) return { stop: "failed", cause: failure("bad_request", "a tool has no name") };
    const shape = this.#request.output?.name ?? "_";
    if (!legalName.test(shape)) return { stop: "failed", cause: nameFailure(shape) };
    const { retry, price, random = Math.random, allowPlain } = this.#options;
    const { baseUrl } = this.#parts.endpoint;
    const plain = plainTransportFault(transportOf(baseUrl, { secure: "https:", allowPlain }));
    if (plain !== undefined) return { stop: "failed", cause: failure("bad_request", plain) };
    const once = retry === false || this.#request.retry === false;
    const policy = { ...defaultRetryPolicy, ...(once ? { attempts: 1 } : retry) };
    let exchange = this.#exchange();
    if ("code" in exchange) return { stop: "failed", cause: exchange };
    if (!isHttpAddress(exchange.url)) {
      return { stop: "failed", cause: addressFailure(exchange, this.#parts.endpoint) };
    }
    let spent: Usage | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const { end, started } = await this.#attempt(exchange);
      if (end.usage !== undefined) {
        // Each try by itself: what a token costs depends on the length of its request.
        const asked = [this.#request.settings, this.#options.settings];
        const used = withCost(end.usage, price, tierOf([end.evidence, ...asked]));
        spent = spent === undefined ? used : addUsage(spent, used);
      }
      const usage = spent;
      if (!started && this.#goesWithout(end.cause, exchange)) {
        const again = this.#exchange();
        if ("code" in again) return { stop: "failed", cause: again, usage };
        exchange = again;
        attempt -= 1; // the same request, by other means
        continue;
      }
      // After the first delta a second try would be visible, and only the loop may start one.
      const canRepeat = !started && end.cause !== undefined && !this.#writer.signal.aborted;
      const delay = canRepeat
        ? retryDelay(policy, { attempt, cause: end.cause }, random())
        : undefined;
      if (end.stop === "length") this.#notify(cutRemark(exchange));
      if (delay === undefined || end.cause === undefined) {
        const response =
          this.#parts.protocol.scopesReasoning === true
            ? this.#learned.scoped(end.response)
            : end.response;
        return { ...end, usage, response };
      }
      this.#notify({ type: "retry_scheduled", cause: end.cause, delayMs: Math.round(delay) });
      await this.#clock.sleep(delay, this.#writer.signal);
      if (this.#writer.signal.aborted) return { stop: "aborted", cause: abortedCause, usage };
    }
  }

  /** Whether the vendor refused a feature that the request can do without, and that was not refused before. */
  #goesWithout(cause: Cause | undefined, sent: Exchange): boolean {
    const { off } = this.#learned;
    const feature = cause && this.#parts.protocol.refusedFeature?.(cause, off, sent);
    if (cause === undefined || feature === undefined) return false;
    off.add(feature);
    const message = `the vendor refuses ${feature}, so requests do without it from now on: ${cause.message}`;
    this.#notify({ type: "remark", code: "beta_refused", message });
    return true;
  }

  async #attempt(exchange: Exchange): Promise<{ end: ReplyEnd; started: boolean }> {
    const { protocol } = this.#parts;
    const context = this.#context();
    const { native } = context;
    // Without such tools nothing stands between the protocol and its reader.
    return native === undefined
      ? await this.#converse(exchange, protocol, context)
      : await this.#converse(exchange, withPortableCalls(protocol, native), context);
  }

  async #converse<Any>(
    exchange: Exchange,
    reading: Reading<Event, Any>,
    context: ReplyContext,
  ): Promise<{ end: ReplyEnd; started: boolean }> {
    const { framing, send } = this.#parts;
    const { fetch, network, timeouts, badEvents = "fail" } = this.#options;
    const sink = withOwnNames(this.#writer, this.#names);
    const reader = new ReplyReader(reading, context, sink, this.#notify);
    const signed = await sign(exchange, this.#parts.auth);
    if ("code" in signed) return { end: { stop: "failed", cause: signed }, started: false };
    const end = await converse({
      exchange: signed,
      send: send ?? (fetch === undefined ? dispatchSend(undefined, network) : fetchSend(fetch)),
      framing,
      reader,
      timeouts: timeoutsFor(this.#request.stall, timeouts),
      clock: this.#clock,
      signal: this.#writer.signal,
      badEvents,
      onBytes: this.#request.onBytes,
      notify: this.#request.notify === undefined ? undefined : this.#notify,
    });
    return { end, started: reader.started };
  }

  /** The request, or why the vendor would not take it as it is. */
  #exchange(): Exchange | Cause {
    const { endpoint, framing } = this.#parts;
    const { settings, headers, traceHeaders = false } = this.#options;
    const given = { ...this.#request, settings: { ...settings, ...asked(this.#request) } };
    const { protocol } = this.#parts;
    const own =
      protocol.scopesReasoning === true
        ? this.#learned.withoutForeign(given.transcript, `${protocol.id}/${this.#model}`)
        : given.transcript;
    const { transcript, left } = withoutRefused(own, protocol.id);
    const request = withWireNames({ ...given, transcript }, this.#names);
    const wire = this.#wireRequest(request);
    if ("code" in wire) return wire;
    for (const each of left) this.#notify(leftOutRemark(each));
    return {
      url: urlOf(endpoint, wire),
      headers: {
        "content-type": "application/json",
        accept: framing.mediaType,
        "accept-encoding": "identity",
        ...(traceHeaders ? headersOf(this.#request.trace) : {}),
        ...wire.headers,
        ...endpoint.headers,
        ...headers,
      },
      body: JSON.stringify(wire.body),
    };
  }

  #wireRequest(request: ModelRequest): WireRequest | Cause {
    try {
      const { off } = this.#learned;
      return this.#parts.protocol.request(request, { model: this.#model, off });
    } catch (error) {
      if (error instanceof RequestRefusal)
        return refusalCause(error, request.transcript, this.#names);
      throw error;
    }
  }

  #context(): ReplyContext {
    const { tools = [], transcript } = this.#request;
    const names = tools.map(({ name }) => this.#names.toWire.get(name) ?? name);
    return {
      model: this.#model,
      tools: names,
      takenCallIds: callIdsOf(transcript),
      ...(this.#native.size === 0 ? {} : { native: byCallName(this.#native) }),
    };
  }

  readonly #notify = (notice: ModelNotice): void => {
    try {
      this.#request.notify?.(redactData(notice));
    } catch {
      // An error in the caller's callback must not break the reply.
    }
  };
}

/** The settings of a request without those that are undefined, which override nothing. */
function asked({ settings = {} }: ModelRequest): RequestSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
