// What most programs need.
export { MillraceError } from "./errors.ts";
export type { ErrorCode } from "./errors.ts";
export {
  approvalId,
  callId,
  inputId,
  itemId,
  partId,
  runId,
  sessionId,
  sessionKey,
  sessionUid,
  turnId,
} from "./ids.ts";
export type {
  ApprovalId,
  CallId,
  Id,
  InputId,
  ItemId,
  PartId,
  RunId,
  SessionId,
  SessionKey,
  SessionUid,
  TurnId,
} from "./ids.ts";
export type { Json, JsonFault, JsonFaultCode, JsonLimits, JsonObject, Metadata } from "./json.ts";
export type {
  CustomPart,
  FilePart,
  MediaPart,
  OpaquePart,
  Part,
  PartKind,
  ReasoningPart,
  ResultStatus,
  StructuredPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "./content/part.ts";
export type {
  Author,
  Cause,
  CutStop,
  Ending,
  Item,
  StopReason,
  WholeStop,
} from "./content/item.ts";
export { checkTranscript, repairTranscript } from "./content/transcript.ts";
export type { Transcript, TranscriptFault, TranscriptFaultCode } from "./content/transcript.ts";
export { addUsage, noUsage } from "./content/usage.ts";
export type { Usage } from "./content/usage.ts";
export type {
  AppendBytes,
  AppendText,
  BeginPart,
  CommitPart,
  Delta,
  PartOpening,
  ReplaceStructured,
  SetMetadata,
} from "./delta/delta.ts";
export type { CommitItem, ReplaceItem, Update } from "./delta/update.ts";
export { fold, foldAll } from "./delta/fold.ts";
export { emptyDraft, textOf } from "./delta/draft.ts";
export type {
  ByteRope,
  CommittedPart,
  Draft,
  DraftLimits,
  DraftPart,
  Fault,
  FaultCode,
  OpenPart,
} from "./delta/draft.ts";
export { schemaVersion } from "./event/event.ts";
export type {
  Actor,
  ApprovalRequested,
  ApprovalResolved,
  AttemptStarted,
  BodyOf,
  CompactionFinished,
  CompactionStarted,
  ContentDelta,
  Fact,
  FactBody,
  FactEnvelope,
  FactOf,
  Input,
  InputAccepted,
  ItemCommitted,
  ItemReplaced,
  LaneIdled,
  LiveEvent,
  OpaqueEvent,
  QueueUpdated,
  RetryScheduled,
  RunFinished,
  RunOutcome,
  RunStarted,
  SessionClaimed,
  Stalled,
  ToolExecutionFinished,
  ToolExecutionStarted,
  ToolExecutionUpdate,
  TurnFinished,
  TurnStarted,
  UsageReported,
} from "./event/event.ts";
export { checkBatch, isAfter } from "./event/batch.ts";
export type { Batch, LanePosition } from "./event/batch.ts";
export { apply } from "./event/apply.ts";
export type { Applied, Missing, Verdict } from "./event/apply.ts";
export { closedEpoch, emptyState, findLane } from "./event/state.ts";
export type {
  ActiveRun,
  ActiveTurn,
  Approval,
  ClosedLane,
  Compaction,
  OpenLane,
  QueuedInput,
  SessionState,
} from "./event/state.ts";
export { project } from "./event/project.ts";
export type {
  ToolState,
  View,
  ViewApproval,
  ViewInput,
  ViewItem,
  ViewPart,
  ViewToolCall,
} from "./event/view.ts";
export type {
  AnyTools,
  ApprovalOf,
  EventOf,
  ItemOf,
  LiveEnvelope,
  NarrationOf,
  PartOf,
  RunEvent,
  ToolShape,
  ViewItemOf,
  ViewOf,
  ViewPartOf,
} from "./event/typed.ts";
export { narrate } from "./event/narrate.ts";
export type { Narration } from "./event/narration.ts";
export { createInbox } from "./inbox/create-inbox.ts";
export type {
  AbortOptions,
  AnsweredCall,
  CallAnswer,
  DecideOptions,
  Inbox,
  InboxOptions,
  InputContent,
  PostOptions,
  SendOptions,
} from "./inbox/inbox.ts";
export type { Decided, Posted, Refusal, Refused, Stopped } from "./inbox/posted.ts";

// For authors of a provider, a store, a server or a client.
export { checkJson, equalJson, isJsonObject } from "./json.ts";
export { parseJsonText } from "./parse-json.ts";
export { parseJson } from "./scan-json.ts";
export type { ParsedJson } from "./scan-json.ts";
export { isWellFormed } from "./text.ts";
export { List } from "./list.ts";
export { parseArguments } from "./content/arguments.ts";
export type { ArgumentFault, ParsedArguments } from "./content/arguments.ts";
export { fillOf, wholeText } from "./delta/delta.ts";
export { defaultDraftLimits, joinBytes } from "./delta/draft.ts";
export { verify } from "./delta/verify.ts";
export { assemblePart, commitOf } from "./delta/fold.ts";
export { commitDraft } from "./delta/commit.ts";
export type { ItemHead } from "./delta/commit.ts";
export { coalesce } from "./delta/coalesce.ts";
export type { CoalesceOptions } from "./delta/coalesce.ts";
export { restate } from "./delta/restate.ts";
export { packEpoch, unpackEpoch } from "./event/epoch.ts";
export type { Epoch, EpochFields } from "./event/epoch.ts";
export { replay, withoutUndone } from "./event/reduce.ts";
export { cursorOf } from "./event/cursor.ts";
export type { Cursor } from "./event/cursor.ts";
export { restore, snapshot } from "./event/snapshot.ts";
export type { Snapshot } from "./event/snapshot.ts";
export { restateLane } from "./event/lane.ts";
export { answerInputIdOf, idTail, inputItemIdOf, laneItemIdOf, runIdOf } from "./inbox/ids.ts";
export { createLaneWriter } from "./lane/lane-writer.ts";
export type { LaneWriter, LaneWriterOptions } from "./lane/lane-writer.ts";
export { follow } from "./reading/follow.ts";
export type { FollowOptions } from "./reading/follow.ts";
export { followChildren } from "./reading/follow-children.ts";
export type { FollowChildrenOptions, FollowedSession } from "./reading/follow-children.ts";
export { SessionReader } from "./reading/session-reader.ts";
export type { SessionReaderOptions, SessionSource } from "./reading/session-reader.ts";
export { isAhead, welcome } from "./reading/welcome.ts";
export type { Followed, Welcome, WelcomeSource } from "./reading/welcome.ts";
export type { Clock, MakeId } from "./ports/clock.ts";
export type {
  Model,
  ModelNotice,
  ModelRequest,
  ModelStream,
  OutputShape,
  Remark,
  Reply,
  ToolDescription,
  TraceContext,
} from "./ports/model.ts";
export { abortedCause, createModelStream } from "./ports/model-stream.ts";
export type { ReplySource, ReplyWriter } from "./ports/model-stream.ts";
export { defaultRetryPolicy, retryDelay, retryHintOf } from "./ports/retry.ts";
export type { RetryHint, RetryPolicy } from "./ports/retry.ts";
export type {
  AppendOutcome,
  EpochSeq,
  EventLog,
  Nudge,
  SubscribeOptions,
} from "./ports/event-log.ts";
export type {
  AcceptOutcome,
  ClaimOutcome,
  ClaimRequest,
  CommitOutcome,
  CommitRequest,
  CreateOptions,
  DriverOutcome,
  DriverRequest,
  Floor,
  LaneFact,
  ListOptions,
  OpenOutcome,
  OpenRequest,
  PeopleFact,
  ReadOptions,
  SessionRecord,
  SessionStore,
} from "./ports/session-store.ts";
export {
  acceptCall,
  appendCall,
  claimCall,
  commitCall,
  nothingFound,
  openCall,
  subjectOf,
} from "./ports/store-rules.ts";
export type { Found, Lookup, StoreCall, Subject } from "./ports/store-rules.ts";
export { advanceRow, isReset, itemsOf, numberFacts, rowOf } from "./ports/store-row.ts";
export type { ItemFact, StoreRow } from "./ports/store-row.ts";
export { decodeBase64, encodeBase64 } from "./wire/base64.ts";
export { decodeDelta, encodeDelta } from "./wire/delta-codec.ts";
export { createBatchEncoder } from "./wire/batch-encoder.ts";
export type { BatchEncoder } from "./wire/batch-encoder.ts";
export { decodeMessage, encodeMessage } from "./wire/message-codec.ts";
export type { Message } from "./wire/message-codec.ts";
export type { Decoded, WireFault, WireFaultCode } from "./wire/shape.ts";
export { decodeCursor, encodeCursor } from "./wire/cursor-codec.ts";
export { createSseDecoder, encodeSse, encodeSseComment } from "./wire/sse.ts";
export type { SseDecoder, SseDecoderOptions, SseEvent, SseItem } from "./wire/sse.ts";
export { createChannel } from "./iterate/channel.ts";
export type { Channel } from "./iterate/channel.ts";
