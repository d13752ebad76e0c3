// For processes that run the workflows of sessions and their steps.
export { createWorker } from "./create-worker.ts";
export type { TemporalWorker } from "./create-worker.ts";
export type { TemporalWorkerOptions } from "./options.ts";
export type { TemporalConnectOptions } from "../connect-options.ts";
