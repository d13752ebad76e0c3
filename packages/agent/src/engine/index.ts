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
