// For those who mount streams themselves: the hub, its deliveries, and sinks for HTTP.
export { createHub } from "./hub/hub.ts";
export type { Hub } from "./hub/hub.ts";
export type {
  CollectOptions,
  DeliverManyOptions,
  DeliverOptions,
  HubOptions,
  ManySession,
  DeliveredEnd,
  Sink,
  SinkEvents,
  WatchOptions,
} from "./hub/options.ts";
export type { Collected } from "./hub/collect.ts";
export type { Until } from "./hub/delivery.ts";
export type { Encoder, Encoding, SharedEncoder } from "./encoding/encoding.ts";
export type { Form } from "./encoding/steps.ts";
export type { StreamEndReason } from "@millrace/core/wire";
export { eventStreamHeaders } from "./sse/headers.ts";
export { sseSink } from "./sse/sse-sink.ts";
export type { EventResponse, SseSinkOptions } from "./sse/sse-sink.ts";
export { webSink } from "./sse/web-sink.ts";
export type { WebSink, WebSinkOptions } from "./sse/web-sink.ts";
