// For engines that run the loop: a session that is open in a worker, and the steps that it performs.
export { openEngineSession } from "./open.ts";
export type { EngineSession, EngineSessionOptions } from "./open.ts";
export type {
  Elsewhere,
  LongWork,
  StepAnswer,
  StepContext,
  StepMemory,
  StepRequest,
  Stepped,
} from "./step.ts";
// For programs of one's own that an engine runs: what they ask of models becomes a session.
export { openWriter } from "./open.ts";
export type { EngineWriter } from "./open.ts";
export type { NotClaimed, ProgramStep, WriteRequest, Written } from "./step.ts";
export type { ProgramEnding } from "./written-facts.ts";
