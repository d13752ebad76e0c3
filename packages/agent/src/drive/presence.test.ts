import { sessionUid } from "@millrace/core/writing";
import type { EventLog } from "@millrace/core/ports";
import { memoryEventLog } from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import { expect, it, vi } from "vitest";
import { answerSeekers, seekDriver } from "./presence.ts";

const uid = sessionUid("uid_1");

function ports(log: EventLog = memoryEventLog()) {
  const [clock, end] = [manualClock(), new AbortController()];
  return { log, clock, uid, signal: end.signal, end };
}

it("a driver that answers is alive", async () => {
  const options = ports();
  void answerSeekers(options, () => 3);

  await expect(seekDriver(options, 3)).resolves.toBe("alive");
  options.end.abort();
});

it("without a subscriber the driver is silent, without any wait", async () => {
  const options = ports();
  const sleep = vi.spyOn(options.clock, "sleep");

  await expect(seekDriver(options, 3)).resolves.toBe("silent");
  expect(sleep).not.toHaveBeenCalled();
});

it.each<[string, number | undefined]>([
  ["holds nothing", undefined],
  ["holds an earlier incarnation only", 2],
])("a listener that %s is waited for, and not taken for the driver", async (_, held) => {
  const options = ports();
  void answerSeekers(options, () => held);

  const found = seekDriver(options, 3);
  await vi.waitFor(async () => {
    await options.clock.advance(1_000);
    await expect(Promise.race([found, Promise.resolve()])).resolves.toBe("silent");
  });
  options.end.abort();
});

it.each<[string, Partial<EventLog>]>([
  ["does not count", { nudge: async () => undefined }],
  ["is away", { nudge: () => Promise.reject(new Error("away")) }],
])("with a log that %s nothing is known", async (_, broken) => {
  const options = ports({ ...memoryEventLog(), ...broken });

  const found = seekDriver(options, 3);
  await vi.waitFor(async () => {
    await options.clock.advance(1_000);
    await expect(Promise.race([found, Promise.resolve()])).resolves.toBe("unknown");
  });
});

it("closing ends the wait for an answer", async () => {
  const options = ports();
  await options.log.nudges(uid);

  const found = seekDriver(options, 3);
  options.end.abort();

  await expect(found).resolves.toBe("silent");
});
