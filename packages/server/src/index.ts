export { createHub } from "./hub/hub.ts";
export type { Hub, HubOptions, WatchOptions } from "./hub/hub.ts";
export type { Frame } from "./sse/frame.ts";
export type { Sink, SinkEvents } from "./sse/sink.ts";
export { sseSink } from "./sse/sse-sink.ts";
