import type { DueSession } from "./session-store.ts";

/**
 * An engine that drives sessions outside of the servers that take their inputs, such as Temporal. What was
 * sent is in the store; a server only reports which session has new facts.
 */
export interface SessionDriver {
  /**
   * Called after a person's input, answer, take-back or stop was stored. `head` is at least the number of its fact.
   * Nothing waits for it, and a failure is a warning: an implementation repeats by itself until its engine has the
   * head. The same head may come again, and heads of several requests may come in any order.
   */
  readonly wake: (
    session: Pick<DueSession, "uid" | "sessionId" | "tenant" | "head">,
  ) => Promise<void> | void;
  /** Awaited once, after the last request of a server that closes. Must end by itself. */
  readonly close?: (() => Promise<void>) | undefined;
}
