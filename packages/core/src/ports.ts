// What others bring, and what they build it with: models, event logs, session stores, clocks.
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
  ComputerAction,
  ComputerInput,
  ComputerSettings,
  InsertCommand,
  McpApprovalInput,
  MemoryInput,
  MouseButton,
  PatchInput,
  Point,
  ReplaceCommand,
  SafetyCheck,
  ShellInput,
  ShellOutput,
  TextEditorInput,
  TextEditorSettings,
  VendorTool,
  ViewCommand,
} from "./ports/vendor-tool.ts";
export type {
  CacheSettings,
  ModelSettings,
  PartOptions,
  RequestSettings,
} from "./ports/model-settings.ts";
export type { TraceContext } from "./event/event.ts";
export { abortedCause, createModelStream } from "./ports/model-stream.ts";
export type { EndedReply, ReplySource, ReplyWriter } from "./ports/model-stream.ts";
export { defaultRetryPolicy, endlessPause, retryDelay, retryHintOf } from "./ports/retry.ts";
export type { RetryHint, RetryPolicy } from "./ports/retry.ts";
export { checkBatch, isAfter } from "./event/batch.ts";
export type { Batch } from "./event/batch.ts";
export { packEpoch, unpackEpoch } from "./event/epoch.ts";
export type { Epoch } from "./event/epoch.ts";
export type {
  AppendOutcome,
  EpochSeq,
  EventLog,
  Nudge,
  SubscribeOptions,
  WindowBounds,
} from "./ports/event-log.ts";
export { lastOfRemoved } from "./ports/event-log.ts";
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
  Floor,
  LaneFact,
  LivingSign,
  OpenOutcome,
  OpenRequest,
  ReadOptions,
  RemoveOptions,
  SessionStore,
  Tombstone,
} from "./ports/session-store.ts";
export {
  childSessionId,
  parentOf,
  refuseOrphan,
  removeFamily,
  removeSession,
} from "./ports/tombstone.ts";
export type { FamilyStore, RemovalOptions } from "./ports/tombstone.ts";
export {
  acceptCall,
  appendCall,
  claimCall,
  commitCall,
  nothingFound,
  openCall,
  subjectOf,
} from "./ports/store-rules.ts";
export type { Found, Lookup, StoreCall } from "./ports/store-rules.ts";
export {
  advanceRow,
  chooseFacts,
  holdsItem,
  isReset,
  itemsOf,
  numberFacts,
  rangeOf,
  rowOf,
} from "./ports/store-row.ts";
export { hasWork, noWork, statusOf, workAfter } from "./ports/store-work.ts";
export type { StoreWork } from "./ports/store-work.ts";
export type { StoreRow } from "./ports/store-row.ts";
export {
  changeDetails,
  checkUpdate,
  forkDetails,
  makeRecord,
  newDetails,
  requireFirst,
} from "./ports/store-record.ts";
export type { StoreDetails } from "./ports/store-record.ts";
export {
  cutPage,
  decodePagePosition,
  defaultPageLimit,
  foldTitle,
  isChild,
  pageOf,
} from "./ports/store-page.ts";
export type { PageEntry } from "./ports/store-page.ts";
export type { ClosedLane } from "./event/state.ts";
export { createChannel } from "./iterate/channel.ts";
export type { Channel } from "./iterate/channel.ts";
export {
  blobPieces,
  checkBlobScope,
  checkBlobPut,
  checkBlobRange,
  defaultBlobLimit,
} from "./ports/blob-store.ts";
export type {
  BlobBytes,
  BlobFindOptions,
  BlobScope,
  BlobPutOptions,
  BlobPutOutcome,
  BlobRange,
  BlobStore,
  BlobSweepOptions,
  BlobSwept,
  StoredBlob,
} from "./ports/blob-store.ts";
export {
  blobsInFact,
  copyBlobs,
  maxInlineBytes,
  partsToBlobs,
  partsWithBytes,
  sweepBlobs,
} from "./ports/blob-parts.ts";
export type { SweepBlobsOptions, WithBytes } from "./ports/blob-parts.ts";
export type { SessionDriver } from "./ports/session-driver.ts";
export type { CounterRequest, Counters, CounterState, HoldRequest } from "./ports/counters.ts";
