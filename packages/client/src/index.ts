export { createClient } from "./client.ts";
export type {
  Client,
  ClientOptions,
  PartOf,
  Served,
  SessionList,
  SessionQuery,
  ToolsOf,
} from "./client.ts";
export type { TokenSource } from "./http/requests.ts";
export { previewOf } from "@millrace/core/reading";
export { memoryOutbox, storageOutbox } from "./outbox/outbox.ts";
export type { OutboxPost, Outbox, TextStorage } from "./outbox/outbox.ts";
export { seenMarks } from "./seen.ts";
export type { SeenMarks } from "./seen.ts";
export type {
  ClientRun,
  ClientRunOptions,
  ClientSession,
  ClientView,
  SessionDetails,
} from "./session/types.ts";
export type { ClientConnection } from "./stream/connector.ts";
export type { SessionChange } from "./stream/watched.ts";
export type {
  Acceptance,
  BlobLike,
  Content,
  RunResult,
  Sent,
  SentInput,
} from "@millrace/core/reading";
