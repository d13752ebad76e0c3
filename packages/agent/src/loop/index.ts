export type { Action, ActionOf, Answer, AnswerReason, RunEnding } from "./action.ts";
export type { Question, ReadyCall, RecordAction, WorkAction } from "./action.ts";
export { advance, standingOfOutlines } from "./advance.ts";
export { settingsOfBrief, standingOfBrief } from "./brief.ts";
export type { BriefSettings, BriefStanding, BriefTools } from "./brief.ts";
export { decide } from "./decide.ts";
export { factsFor } from "./facts.ts";
export type { CheckedAnswer, FailedFacts, FactContext } from "./fact-context.ts";
export { callsToRemember } from "./limits.ts";
export { outline } from "./outline.ts";
export type { CallOutline, InputOutline, ItemOutline, Outline, ReplyOutline } from "./outline.ts";
export { perform } from "./perform.ts";
export type { LoopHost } from "./perform.ts";
export { standingOf } from "./standing-of.ts";
export { doingNothing, emptyStanding } from "./state.ts";
export type {
  ApprovalStanding,
  CallPrint,
  CallStanding,
  Doing,
  FailedAttempt,
  LoopState,
  Queued,
  ReplyStanding,
  RunStanding,
  Spent,
  Standing,
  TurnStanding,
  CallVerdict,
} from "./state.ts";
export type { Limits } from "../definition/limits.ts";
export type { LoopSettings, ToolSettings } from "../definition/loop-settings.ts";
