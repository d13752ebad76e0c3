import type { RunEvent } from "@millrace/core";

/**
 * Sees every event of its agent's sessions, or of the run that it was given to, in order and at the
 * moment it happens: facts once they are stored, each delta inside the call by which the model makes
 * it, before any queue.
 *
 * Called inline and synchronously, one observer after the other, so it must be fast: while it runs,
 * neither the model's bytes nor anything else in the process goes on. It may write to a terminal,
 * count, collect or hand on. Network calls, writes to a database and anything that waits go behind
 * `queuedObserver`. It changes nothing: what it returns is not looked at, and what it throws stops
 * neither the run nor the next observer.
 *
 * Only the process that drives a session has its live events: elsewhere an observer gets facts alone.
 */
export type Observer = (event: RunEvent) => void;
