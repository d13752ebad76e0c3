// A pool of processes that drive sessions: what a program that is nothing but a worker needs.
export { createWorker } from "./create-worker.ts";
export type {
  ChooseAgent,
  PoisonedSession,
  SessionSlot,
  TenantStore,
  Worker,
  WorkerEvent,
  WorkerOptions,
} from "./worker.ts";
export type { Allowance } from "../definition/tool-host.ts";
