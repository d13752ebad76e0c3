import type { RunEvent } from "@millrace/core";

/**
 * Sees every event of its agent's sessions, in order, at the moment it happens: facts once they are
 * stored, live events as they are written. Called inline, one observer after the other, so it must be
 * fast: it may write, count, collect or hand on. It changes nothing: what it returns is not looked at,
 * and what it throws is reported and stops nobody. Slow work goes behind `queuedObserver`.
 */
export type Observer = (event: RunEvent) => void;
