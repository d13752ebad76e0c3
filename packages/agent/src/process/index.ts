export { runProcess } from "./run-process.ts";
export type { ProcessOptions } from "./run-process.ts";
export type { ProcessEnding, ProcessOutcome } from "./process-outcome.ts";
export type { OutputPiece } from "./process-output.ts";
export type { CapturedOutput } from "./output-buffer.ts";
export type { Environment } from "./environment.ts";
export { endExecution, executionPids } from "./end-execution.ts";
export { hasPidNamespaces } from "./confinement.ts";
