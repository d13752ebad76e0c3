// For engines that run the loop: a session's seat in a worker, and the steps that it performs.
export { openSeat } from "./open-seat.ts";
export type { EngineSeat, SeatOptions } from "./open-seat.ts";
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
export { openWriter } from "./open-writer.ts";
export type { EngineWriter } from "./open-writer.ts";
export type { NotHeld, ProgramStep, WriteRequest, Written } from "./write.ts";
export type { ProgramEnding } from "./written-facts.ts";
