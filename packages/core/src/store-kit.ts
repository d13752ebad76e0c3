// For authors of session stores, event logs and counters: the rules by which every store decides its calls, the rows and
// pages that it keeps, removal, and what their arguments and answers are made of.
export {
  acceptCall,
  appendCall,
  claimCall,
  commitCall,
  nothingFound,
  openCall,
  subjectOf,
} from "./store-kit/store-rules.ts";
export type { Found, Lookup, StoreCall } from "./store-kit/store-rules.ts";
export {
  advanceRow,
  chooseFacts,
  holdsItem,
  isReset,
  itemsOf,
  numberFacts,
  rangeOf,
  rowOf,
} from "./store-kit/store-row.ts";
export type { StoreRow } from "./store-kit/store-row.ts";
export { hasWork, noWork, statusOf, workAfter } from "./store-kit/store-work.ts";
export type { StoreWork } from "./store-kit/store-work.ts";
export {
  changeDetails,
  childDetails,
  checkUpdate,
  forkDetails,
  makeRecord,
  newDetails,
  requireFirst,
} from "./store-kit/store-record.ts";
export type { StoreDetails } from "./store-kit/store-record.ts";
export {
  cutPage,
  decodePagePosition,
  defaultPageLimit,
  foldTitle,
  pageOf,
} from "./store-kit/store-page.ts";
export type { PageEntry } from "./store-kit/store-page.ts";
export { removeFamily, removeSession } from "./store-kit/tombstone.ts";
export { childSessionId, isChildOf, parentOf } from "./store-kit/child.ts";
export type { FamilyStore, RemovalOptions } from "./store-kit/tombstone.ts";
export type { Floor, LaneFact } from "./ports/session-store.ts";
export type { ClosedLane } from "./event/state.ts";
export type { CounterRequest, HoldRequest } from "./ports/counters.ts";

// For logs.
export { checkBatch, isAfter } from "./event/batch.ts";
export { lastOfRemoved } from "./ports/event-log.ts";
export type {
  AppendOutcome,
  EpochSeq,
  Nudge,
  SubscribeOptions,
  WindowBounds,
} from "./ports/event-log.ts";
export { createChannel } from "./iterate/channel.ts";
export type { Channel } from "./iterate/channel.ts";
