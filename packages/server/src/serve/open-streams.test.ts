import { systemClock } from "@millrace/core/memory";
import type { Clock, SessionRecord } from "@millrace/core/ports";
import type { StreamEndReason } from "@millrace/core/wire";
import { expect, it } from "vitest";
import { OpenStreams } from "./open-streams.ts";

/** A clock of which each reading is a millisecond later, and whose timers fire a millisecond early. */
function earlyClock(): Clock {
  let now = 0;
  return {
    now: () => (now += 1),
    monotonic: () => now,
    sleep: async (ms) => {
      now += Math.max(0, ms - 2);
    },
    after: systemClock.after,
  };
}

it("credentials that expire while they are checked have expired, and were not revoked", async () => {
  const ended = Promise.withResolvers<StreamEndReason>();
  const streams = new OpenStreams(earlyClock(), () => 0.5);
  const who = { tenant: "acme", user: "ann", expiresAt: 1_000 };
  let checks = 0;
  streams.add({
    who,
    credentials: "token",
    sessions: [] as readonly SessionRecord[],
    identify: async () => {
      checks += 1;
      return undefined;
    },
    mayRead: async () => true,
    end: ended.resolve,
  });

  expect(await ended.promise).toBe("expired");
  expect(checks).toBe(1);
});

it("a stream that opens while the streams before it are checked in vain is disconnected, and checked no longer than it is open", async () => {
  const sleeping: AbortSignal[] = [];
  const wakes: (() => void)[] = [];
  const sleep = (_: number, signal?: AbortSignal): Promise<void> => {
    if (signal !== undefined) sleeping.push(signal);
    return new Promise((resolve) => void wakes.push(resolve));
  };
  const clock: Clock = { ...systemClock, sleep, idle: sleep };
  const streams = new OpenStreams(clock, () => 0.5);
  const answer = Promise.withResolvers<undefined>();
  const ended: string[] = [];
  const open = (name: string): (() => void) =>
    streams.add({
      who: { tenant: "acme", user: "ann" },
      credentials: "token",
      sessions: [] as readonly SessionRecord[],
      identify: () => answer.promise,
      mayRead: async () => true,
      end: (reason) => void ended.push(`${name} ${reason}`),
    });
  const closeFirst = open("first");
  wakes[0]?.();
  await Promise.resolve();
  closeFirst();

  const closeSecond = open("second");
  answer.resolve(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  streams.disconnect("acme", "ann");
  closeSecond();

  expect(ended).toEqual(["second revoked"]);
  expect(sleeping.map(({ aborted }) => aborted)).toEqual([true, true]);
});
