// For processes that run the workflows of sessions and their steps.
export { createWorker } from "./create-worker.ts";
export type { TemporalWorker, TemporalWorkerOptions } from "./create-worker.ts";
