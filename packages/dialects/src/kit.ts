// For authors of dialects: what the dialects of this package share.
export { dialectEncoding } from "./shared/encode/dialect-encoding.ts";
export type { DialectStream, DialectEncoder } from "./shared/encode/dialect-encoding.ts";
export { recordOf, RunFollower } from "./shared/encode/run-record.ts";
export type { Asked, FollowedRun, RunRecord, StoredBy } from "./shared/encode/run-record.ts";
export { turnsOf } from "./shared/encode/turns.ts";
export type { SaidItem, Turn } from "./shared/encode/turns.ts";
export {
  beginSentPart,
  emptySentCall,
  emptySentItem,
  isSent,
  progressOf,
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
export { urlOf } from "./shared/encode/file-url.ts";
export type { BlobUrl } from "./shared/encode/file-url.ts";
export { CallNames } from "./shared/encode/call-names.ts";
export { openOrMake } from "./shared/open-or-make.ts";
export { keyOf } from "./shared/key-of.ts";
export { sentPart } from "./shared/sent-part.ts";
export { blobUrlOf } from "./shared/blob-url-of.ts";
export { newestMessages } from "./shared/newest-messages.ts";
export { newestMessagesRow, sendProblems, textRefusals } from "./shared/dialect-rows.ts";
