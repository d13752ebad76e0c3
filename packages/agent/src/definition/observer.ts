import type { RunEvent } from "@millrace/core";

/**
 * Called with every event of its agent's sessions, or of its run, in order and without delay: with a
 * fact right after it is stored, and with a delta inside the call in which the model's parser makes it,
 * before any queue.
 *
 * Observers are called synchronously, one after the other, so an observer must be fast: it blocks the
 * model's stream and everything else in the process. It may write to a terminal, count or collect. Use
 * `queuedObserver` for network calls, databases and anything that waits. An observer can't change the
 * run: its return value is ignored, and an error in it stops neither the run nor the next observer.
 *
 * Only the process that drives a session has its live events. In other processes an observer gets facts
 * alone.
 */
export type Observer = (event: RunEvent) => void;
