// What a program that uses sessions names: content, deltas and their fold, events, views, the inbox.
// The other entries are `/ports`, `/writing`, `/reading`, `/wire`, `/memory` and `/testing`.
export { MillraceError } from "./errors.ts";
export type { ErrorCode } from "./errors.ts";
export type {
  ApprovalId,
  CallId,
  InputId,
  ItemId,
  PartId,
  RunId,
  SessionId,
  SessionUid,
  TurnId,
} from "./ids.ts";
export type { Json, JsonObject } from "./json.ts";
export type {
  CustomPart,
  FilePart,
  MediaPart,
  OpaquePart,
  Part,
  ReasoningPart,
  ResultStatus,
  StructuredPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "./content/part.ts";
export type { Author, Cause, Item, StopReason } from "./content/item.ts";
export type { Transcript } from "./content/transcript.ts";
export type { Usage } from "./content/usage.ts";
export type { Delta } from "./delta/delta.ts";
export { fold } from "./delta/fold.ts";
export { textOf } from "./delta/draft.ts";
export { emptyDraft } from "./delta/empty-draft.ts";
export type { Draft } from "./delta/draft.ts";
export type { Actor, Fact, LiveEvent, RunOutcome } from "./event/event.ts";
export type { ConnectionChanged, RunEvent, SessionConnection } from "./event/typed.ts";
export type { SessionState } from "./event/state.ts";
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
export { narrate } from "./event/narrate.ts";
export type { Narration } from "./event/narration.ts";
export type { Model } from "./ports/model.ts";
export { createInbox } from "./inbox/create-inbox.ts";
export type { Inbox } from "./inbox/inbox.ts";
export type { Decided, Posted, Refused, Stopped } from "./inbox/posted.ts";
