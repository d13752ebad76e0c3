// To compose a provider that has no entry of its own.
export { createModel } from "./provider.ts";
export type { ProviderOptions, ProviderParts } from "./provider.ts";
export type { Auth } from "./sign.ts";
export { mapRequest } from "./endpoint.ts";
export type { Endpoint } from "./endpoint.ts";
export { AuthFailure } from "./auth-failure.ts";
export { bearerAuth, keyAuth, vendorEndpoint } from "./auth.ts";
export type { Key, KeyPlace } from "./auth.ts";
export type { ModelPrice, Price, TierPrice } from "./price.ts";
export { defaultTimeouts } from "./transport/timeouts.ts";
export type { Timeouts } from "./transport/timeouts.ts";
export type { FailureCode } from "./failure.ts";
export { sseFraming } from "./framing/sse.ts";
export type { SseFramingOptions } from "./framing/sse.ts";

// To write a transport.
export type { Network, Pem } from "./transport/network.ts";
export { dispatchSend } from "./transport/dispatch.ts";
export { fetchSend } from "./transport/fetch.ts";
export type { Exchange, ExchangeEvents, ResponseHead, Send } from "./transport/exchange.ts";
