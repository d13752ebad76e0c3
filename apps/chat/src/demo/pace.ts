import { setTimeout as sleep } from "node:timers/promises";

/** Pauses of the demo are multiplied by this: 1 for people, less for tests. */
export const pace: number = Number(process.env["DEMO_PACE"] ?? 1);

/** Waits as long as a step of a tool would take. Rejects when the signal is aborted. */
export type Pause = (tool: string, ms: number, signal: AbortSignal) => Promise<void>;

export const pauseForPeople: Pause = (_, ms, signal) => sleep(ms * pace, undefined, { signal });
