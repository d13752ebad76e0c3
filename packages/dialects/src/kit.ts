// For authors of dialects: what the dialects of this package share.
export type { DialectEncoder, DialectStream } from "./shared/encode/dialect-encoding.ts";
export { recordOf, RunFollower } from "./shared/encode/run-record.ts";
export type { Asked, FollowedRun, RunRecord } from "./shared/encode/run-record.ts";
export {
  beginSentPart,
  emptySentCall,
  isSent,
  newProgress,
  SentItems,
  visibleItems,
} from "./shared/encode/sent-items.ts";
export type {
  Growth,
  ItemEncoder,
  LaneBatch,
  SentCall,
  SentItem,
  SentPart,
} from "./shared/encode/sent-items.ts";
export type { HistoryTurn, UserItem } from "./shared/encode/turns.ts";
export { urlOf } from "./shared/encode/file-url.ts";
export type { BlobUrl } from "./shared/encode/file-url.ts";
export { readSessionRuns } from "./shared/session-runs.ts";
export type { SessionRun, SessionRuns } from "./shared/session-runs.ts";
export type { Wait } from "./shared/encode/waits.ts";
export { dialectResponse } from "./shared/dialect-response.ts";
export { openOrMake } from "./shared/open-or-make.ts";
export { keyOf } from "./shared/key-of.ts";
export { postAnswers } from "./shared/answers.ts";
export type { PageAnswer } from "./shared/page-answer.ts";
export { sentPart } from "./shared/sent-part.ts";
export { blobUrlOf } from "./shared/blob-url-of.ts";
export { newestMessages } from "./shared/newest-messages.ts";
export {
  dialectRoute,
  newestMessagesRow,
  sendProblems,
  textRefusals,
} from "./shared/dialect-rows.ts";
export type { DialectRow } from "./shared/dialect-rows.ts";
