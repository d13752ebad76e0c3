import { MillraceError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import { endlessPause } from "../ports/retry.ts";

/** A subscription that is renewed for as long as it is wanted. */
export interface KeptSubscription<Message> {
  /**
   * Subscribes, reads what may have been missed before that, and returns what comes from then on. Called
   * again each time the subscription breaks. The signal ends the subscription that it made.
   */
  readonly subscribe: (signal: AbortSignal) => Promise<AsyncIterable<Message>>;
  /** One message, in order. Rejects to break the subscription: it is then made anew. */
  readonly onMessage: (message: Message) => Promise<void> | void;
  /** The subscription was made, or it broke with this error. Called at each change only. Must not throw. */
  readonly onChange?: ((broken: { readonly error: unknown } | undefined) => void) | undefined;
  /** True for an error that no new try can mend: it rejects the whole. Left out: a broken contract is one. */
  readonly isFinal?: ((error: unknown) => boolean) | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** In [0, 1). Pauses are jittered by it. */
  readonly random?: (() => number) | undefined;
}

/**
 * Listens until the signal is aborted or the subscription ends by itself, which is the end of its
 * session. Whatever breaks it in between is a pause: it subscribes again, with pauses that grow to 5 s
 * and are jittered, so that many listeners do not come back at the same moment. Resolves at that end;
 * rejects with a final error.
 */
export async function keepSubscribed<Message>(kept: KeptSubscription<Message>): Promise<void> {
  const { clock, signal, random = Math.random } = kept;
  const isFinal = kept.isFinal ?? ((error: unknown) => MillraceError.is(error));
  let broken: boolean | undefined;
  for (let failures = 0; !signal.aborted;) {
    const leave = new AbortController();
    const ended = AbortSignal.any([signal, leave.signal]);
    try {
      const messages = await kept.subscribe(ended);
      failures = 0;
      if (broken !== false && !signal.aborted) kept.onChange?.(undefined);
      broken = false;
      for await (const message of messages) await kept.onMessage(message);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (isFinal(error)) throw error;
      if (broken !== true) kept.onChange?.({ error });
      broken = true;
      failures += 1;
      await clock.sleep(endlessPause(failures, random()), signal);
    } finally {
      leave.abort(); // a subscription that is not read would only fill up
    }
  }
}
