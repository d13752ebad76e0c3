import { MillraceError } from "../errors.ts";
import { systemRandom } from "../ports/clock.ts";
import type { Clock } from "../ports/clock.ts";
import { endlessPause } from "../ports/retry.ts";
import { pause } from "./pause.ts";

/** A subscription that is renewed for as long as it is wanted. */
export interface RenewedSubscription<Message> {
  /**
   * Subscribes, reads what may have been missed before that, and returns what comes from then on. Called
   * again each time the subscription breaks. The signal ends the subscription that it made.
   */
  readonly subscribe: (signal: AbortSignal) => Promise<AsyncIterable<Message>>;
  /** One message, in order. Rejects to break the subscription: it is then made anew. */
  readonly onMessage: (message: Message) => Promise<void> | undefined;
  /** The subscription was made, or it broke with this error. Called at each change only. Must not throw. */
  readonly onChange?: ((broken: { readonly error: unknown } | undefined) => void) | undefined;
  /** True for an error that no new try can mend: it rejects the whole. Left out: a broken contract is one. */
  readonly isFinal?: ((error: unknown) => boolean) | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** In [0, 1). Pauses are jittered by it. */
  readonly random?: (() => number) | undefined;
}

/** A subscription that lasted so long without a message counts as one that worked. */
const workedMs = 5_000;

/**
 * Listens until the signal is aborted or the subscription ends by itself, which is the end of its
 * session. Whatever breaks it in between is a pause: it subscribes again, with pauses that grow to 5 s
 * and are jittered, so that many listeners do not come back at the same moment. The pauses start anew
 * once a subscription has worked; one that breaks at each first message has not. Resolves at that end;
 * rejects with a final error.
 */
export async function keepSubscribed<Message>(kept: RenewedSubscription<Message>): Promise<void> {
  const { clock, signal, random = systemRandom } = kept;
  const isFinal = kept.isFinal ?? ((error: unknown) => MillraceError.is(error));
  let broken: boolean | undefined;
  for (let failures = 0; !signal.aborted;) {
    const leave = new AbortController();
    const abort = (): void => leave.abort();
    signal.addEventListener("abort", abort, { once: true });
    let madeAt = Infinity;
    try {
      const messages = await kept.subscribe(leave.signal);
      madeAt = clock.monotonic();
      if (broken !== false && !leave.signal.aborted) kept.onChange?.(undefined);
      broken = false;
      for await (const message of messages) {
        const done = kept.onMessage(message);
        if (done !== undefined) await done; // mostly nothing, and a promise would cost more than the message
        failures = 0;
      }
      return;
    } catch (error) {
      if (leave.signal.aborted) return;
      if (isFinal(error)) throw error;
      if (broken !== true) kept.onChange?.({ error });
      broken = true;
      failures = clock.monotonic() - madeAt >= workedMs ? 1 : failures + 1;
    } finally {
      signal.removeEventListener("abort", abort);
      leave.abort(); // a subscription that is not read would only fill up
    }
    await pause(clock, endlessPause(failures, random()), signal);
  }
}
