// What a reader of sessions needs: following one, its state and how messages change it, cursors and
// snapshots, the types of events and views that know an agent's tools, and of what a program sends.
export { encodeCheckpoint, readSession } from "./reading/checkpoint.ts";
export { applyPaged, replayPaged } from "./reading/paged-state.ts";
export type { PagedState } from "./reading/paged-state.ts";
export { follow } from "./reading/follow.ts";
export type { Connection, FollowOptions } from "./reading/follow.ts";
export { followChildren } from "./reading/follow-children.ts";
export type { FollowChildrenOptions, FollowedSession } from "./reading/follow-children.ts";
export { pollHead } from "./reading/head-poll.ts";
export type { PolledSession } from "./reading/head-poll.ts";
export { keepSubscribed } from "./reading/keep-subscribed.ts";
export type { RenewedSubscription } from "./reading/keep-subscribed.ts";
export { readItems, readNumberedItems } from "./reading/read-items.ts";
export type { ItemPage, NumberedItem } from "./reading/read-items.ts";
export { forkPointOf } from "./reading/fork-point.ts";
export { SessionReader } from "./reading/session-reader.ts";
export type { SessionSource } from "./reading/session-reader.ts";
export { isAhead, catchUpFrom } from "./reading/catch-up.ts";
export type { Followed, CatchUp } from "./reading/catch-up.ts";
export { previewOf } from "./event/preview.ts";
export { outputOf, returnedBy } from "./event/tool-output.ts";
export { showJson, showJsonStart, showQuestion } from "./event/show-question.ts";
export type { AskedCall, RenderedJson, RenderedQuestion } from "./event/show-question.ts";
export { apply } from "./event/apply.ts";
export type { Applied } from "./event/apply.ts";
export { emptyState } from "./event/state.ts";
export type { Compaction, Earlier, OpenLane } from "./event/state.ts";
export { replay } from "./event/reduce.ts";
export { withoutUndone } from "./event/undone.ts";
export { cursorOf } from "./event/cursor.ts";
export type { Cursor } from "./event/cursor.ts";
export { restore, snapshot } from "./event/snapshot.ts";
export type { Snapshot } from "./event/snapshot.ts";
export { restateLane } from "./event/lane.ts";
export type {
  AnyTools,
  ApprovalOf,
  EventOf,
  ItemOf,
  LiveEnvelope,
  NarrationOf,
  ItemPartOf,
  ToolShape,
  ViewOf,
  SecretNoticed,
} from "./event/typed.ts";
export type { Acceptance, BlobLike, Content, RunResult, Sent, SentInput } from "./inbox/sent.ts";
