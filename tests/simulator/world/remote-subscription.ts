/** A subscription of another process: at most once, late, and broken when its connection is. */
import { createChannel } from "../../../packages/core/src/iterate/channel.ts";
import { callTimeoutMs } from "./link.ts";
import { callLatency } from "./remote.ts";
import type { RemoteOptions } from "./remote.ts";
import { simulation } from "./simulation.ts";

export interface SubscriptionOptions extends Omit<RemoteOptions, "local"> {
  /** The connections of the caller, to be broken by faults. */
  readonly connections: Set<() => void>;
  readonly signal: AbortSignal | undefined;
}

type Open<T> = (signal: AbortSignal) => Promise<AsyncIterable<T>>;

/** As `tail`, `heads` and `nudges` of a log: resolves once the subscription is open. */
export function remoteSubscription<T>(
  open: Open<T>,
  options: SubscriptionOptions,
): Promise<AsyncIterable<T>> {
  const { name, caller, server, link, random, connections, signal } = options;
  const { promise, resolve, reject } = Promise.withResolvers<AsyncIterable<T>>();
  if (link.isAway || link.isCut) {
    const refuse = (): void => reject(new Error("Socket closed unexpectedly"));
    simulation().schedule(link.isCut ? callTimeoutMs : 1, caller, `< ${name} is refused`, refuse);
    return promise;
  }
  const stop = new AbortController();
  const close = (): void => {
    connections.delete(breakOff);
    caller.onKill.delete(peerGone);
    simulation().schedule(0, server, `> ${name} is closed`, () => stop.abort());
  };
  const messages = createChannel<T>(Number.POSITIVE_INFINITY, close);
  const breakOff = (): void => {
    const fail = (): void => messages.fail(new Error("Socket closed unexpectedly"));
    simulation().schedule(1, caller, `< ${name} breaks off`, fail, { channel: `< ${name}` });
  };
  const peerGone = (): void => messages.end();
  connections.add(breakOff);
  caller.onKill.add(peerGone);
  if (signal?.aborted === true) messages.end();
  signal?.addEventListener("abort", () => messages.end(), { once: true });

  const carry = async (): Promise<void> => {
    const source = await open(stop.signal);
    simulation().schedule(0.5, caller, `< ${name} is open`, () => resolve(messages));
    let lastDue = 0;
    for await (const message of source) {
      if (link.isCut || random.chance(link.loss)) continue;
      const { now } = simulation();
      lastDue = Math.max(lastDue, now + callLatency(link, random));
      const arrive = (): void => messages.push(message);
      const channel = `< ${name}`;
      simulation().schedule(lastDue - now, caller, `< ${name} message`, arrive, { channel });
    }
  };
  simulation().schedule(0.5 + random.next(), server, `> ${name} of ${caller.name}`, () => {
    void carry();
  });
  return promise;
}
