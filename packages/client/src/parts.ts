// Parts of a chat over sessions, for any React page: unstyled, accessible, and safe with text of models and
// tools, which they show and never interpret.
export { ApprovalCard } from "./parts/approval-card.ts";
export type { ApprovalCardProps, ApprovalLabels } from "./parts/approval-card.ts";
export { ConnectionBanner } from "./parts/connection-banner.ts";
export type { ConnectionBannerProps, ConnectionLabels } from "./parts/connection-banner.ts";
export { describeCall, progressOf } from "./parts/describe-call.ts";
export type { ToolCardPart } from "./parts/describe-call.ts";
export { showElapsed, useElapsed } from "./parts/elapsed.ts";
export { InputQueue } from "./parts/input-queue.ts";
export type { InputQueueLabels, InputQueueProps } from "./parts/input-queue.ts";
export { ToolCard } from "./parts/tool-card.ts";
export type { ToolCardLabels, ToolCardProps } from "./parts/tool-card.ts";
export { visibleText } from "./parts/visible-text.ts";
