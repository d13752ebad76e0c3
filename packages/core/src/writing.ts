// What a writer of content needs: ids from strings, deltas and drafts in detail, lanes, the law of
// transcripts, usage that is added up.
export {
  approvalId,
  callId,
  engineRun,
  idTail,
  inputId,
  itemId,
  laneItemIdOf,
  partId,
  runId,
  sessionId,
  sessionKey,
  sessionUid,
  turnId,
} from "./ids.ts";
export { answerInputIdOf, inputItemIdOf, runIdOf } from "./inbox/ids.ts";
export type { CallAnswer, InboxOptions } from "./inbox/inbox.ts";
export type { InboxStart } from "./inbox/inbox-state.ts";
export { parseArguments } from "./content/arguments.ts";
export type { ArgumentFault } from "./content/arguments.ts";
export type { Ending, WholeStop } from "./content/item.ts";
export { findBlobs, isBlobHash } from "./content/blob.ts";
export type { BlobRef } from "./content/blob.ts";
export type { PartKind } from "./content/part.ts";
export { checkTranscript, repairTranscript } from "./content/transcript.ts";
export type { TranscriptFault } from "./content/transcript.ts";
export { addUsage, noUsage } from "./content/usage.ts";
export { commitDraft, commitOf } from "./delta/commit.ts";
export { coalesce } from "./delta/coalesce.ts";
export { fillOf, wholeText } from "./delta/delta.ts";
export type { AppendText, BeginPart, CommitPart, PartOpening } from "./delta/delta.ts";
export { defaultDraftLimits, joinBytes } from "./delta/draft.ts";
export type { DraftLimits, DraftPart, Fault, FaultCode, OpenPart } from "./delta/draft.ts";
export { foldAll } from "./delta/fold.ts";
export { restate } from "./delta/restate.ts";
export type { ReplaceItem, Update } from "./delta/update.ts";
export type { AttemptStarted, BodyOf, FactBody, FactOf, Input } from "./event/event.ts";
export { createLaneWriter } from "./lane/lane-writer.ts";
export type { LaneWriter } from "./lane/writer-types.ts";
export type { Metadata } from "./json.ts";
export { List } from "./list.ts";
