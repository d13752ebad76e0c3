// What an application passes in: models, event logs, session stores, blob stores, clocks, counters and drivers; and
// what those who call them name. Authors of models find more in `model`, authors of stores and logs in `store-kit`.
export type { Clock, MakeId } from "./ports/clock.ts";
export { systemClock } from "./reference/system.ts";
export type {
  ModelNotice,
  ModelRequest,
  ModelStream,
  OutputShape,
  Remark,
  Reply,
  ToolDescription,
} from "./ports/model.ts";
export type { ModelResponse, RateLimit } from "./ports/model-response.ts";
export type {
  CacheSettings,
  ModelSettings,
  PartOptions,
  RequestSettings,
} from "./ports/model-settings.ts";
export type { TraceContext } from "./event/event.ts";
export type { Batch } from "./event/batch.ts";
export { packEpoch, unpackEpoch } from "./event/epoch.ts";
export type { Epoch } from "./event/epoch.ts";
export type { EventLog } from "./ports/event-log.ts";
export type { SessionKey } from "./ids.ts";
export type {
  CreateOptions,
  FirstInput,
  ForkOptions,
  ListOptions,
  PageQuery,
  PeopleFact,
  SessionPage,
  SessionParent,
  SessionRecord,
  SessionStatus,
  UpdateOutcome,
  UpdateRequest,
} from "./ports/session-record.ts";
export type {
  AcceptOutcome,
  Checkpoint,
  ClaimOutcome,
  ClaimRequest,
  CommitOutcome,
  CommitRequest,
  DriverIndex,
  DriverOutcome,
  DriverRequest,
  DueOptions,
  DueSession,
  LivingSign,
  OpenOutcome,
  OpenRequest,
  ReadOptions,
  RemoveOptions,
  SessionStore,
  Tombstone,
} from "./ports/session-store.ts";
export type { BlobScope, BlobPutOutcome, BlobStore, StoredBlob } from "./ports/blob-store.ts";
export type { SessionDriver } from "./ports/session-driver.ts";
export type { Counters, CounterState } from "./ports/counters.ts";
