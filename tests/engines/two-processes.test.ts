import { withKeys } from "@millrace/conformance";
import { defineAgent } from "@millrace/agent";
import type { Session } from "@millrace/agent";
import type { Model } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import { systemClock } from "@millrace/core/memory";
import { say, scriptedModel, stall } from "@millrace/core/testing";
import { postgresStore } from "@millrace/stores/postgres";
import type { PostgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { RedisLog } from "@millrace/stores/redis";
import { expect, it, vi } from "vitest";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";

/** A quarter of a minute passes in a second. */
const begun = systemClock.now();
const hurried: Clock = {
  now: () => begun + (systemClock.now() - begun) * 15,
  monotonic: () => systemClock.monotonic() * 15,
  sleep: (ms, signal) => systemClock.sleep(ms / 15, signal),
  after: (ms, call) => systemClock.after(ms / 15, call),
};

/** A model that writes one half, and the other half once it is released. It counts its calls. */
function halting(first: string, second: string) {
  const { promise: opened, resolve: goOn } = Promise.withResolvers<void>();
  const count = { calls: 0 };
  const signals: (AbortSignal | undefined)[] = [];
  const clock = {
    ...systemClock,
    sleep: async (_: number, signal?: AbortSignal): Promise<void> => {
      const stopped = new Promise<void>((resolve) => {
        signal?.addEventListener("abort", () => resolve(), { once: true });
      });
      await Promise.race([opened, stopped]);
    },
  };
  const scripted = scriptedModel([[say(first), stall(1), say(second)]], { clock });
  const stream: Model["stream"] = (request) => {
    count.calls += 1;
    signals.push(request.signal);
    return scripted.stream(request);
  };
  return { model: { ...scripted, stream }, goOn, count, signals };
}

interface Place extends AsyncDisposable {
  readonly store: PostgresStore;
  readonly log: RedisLog;
}

/** Two places with connections of their own, as two processes have them. */
async function withTwo(run: (here: Place, there: Place) => Promise<void>): Promise<void> {
  await using database = await sharedPostgres();
  const { url, prefix } = await sharedRedis();
  const open = (): Place => {
    const store = postgresStore({ url: database.url });
    const log = withKeys(redisLog({ url, prefix }), store.key);
    const dispose = async (): Promise<void> => {
      await log.close();
      await store[Symbol.asyncDispose]();
    };
    return { store, log, [Symbol.asyncDispose]: dispose };
  };
  await using here = open();
  await using there = open();
  await here.store.migrate();
  await run(here, there);
}

/** How often the session was claimed. */
async function claims({ store }: Place, session: Session): Promise<number> {
  return (await store.find(session.id))?.incarnation ?? 0;
}

it("a process that opens a session which is driven elsewhere watches its run, and leaves it alone", async () => {
  await withTwo(async (here, there) => {
    const { model, goOn, count } = halting("One ", "run.");
    await using first = await defineAgent({ model }).open({ id: "one", ...here });
    const run = first.send("go");
    await run.until("turn_started");
    const other = scriptedModel([]); // any call of it would fail the run
    await using second = await defineAgent({ model: other }).open({ id: "one", ...there });

    await new Promise((resolve) => setTimeout(resolve, 1_500)); // longer than an answer is waited for
    const seen = second.run?.result;
    goOn();

    expect(await run.text()).toBe("One run.");
    expect(await seen).toMatchObject({ outcome: "completed", text: "One run." });
    expect(count.calls).toBe(1);
    expect(await claims(there, second)).toBe(1);
  });
});

it("an input sent in one process is answered by the driver in another", async () => {
  await withTwo(async (here, there) => {
    const { model, goOn } = halting("First.", "");
    await using first = await defineAgent({ model }).open({ id: "said", ...here });
    const run = first.send("go");
    await run.until("turn_started");
    await using second = await defineAgent({ model: scriptedModel([]) }).open({
      id: "said",
      ...there,
    });

    const stop = second.abort("enough");

    expect(await stop.accepted).toEqual({ accepted: true });
    expect(await run.result).toMatchObject({ outcome: "aborted" });
    goOn();
    expect(await claims(there, second)).toBe(1);
  });
});

it("a run whose driver does not answer is taken over by a process that has the session open", async () => {
  await withTwo(async (here, there) => {
    const { model, goOn, count } = halting("Of the first.", "");
    await using first = await defineAgent({ model }).open({ id: "left", ...here });
    const run = first.send("go");
    await run.until("turn_started");
    const model2 = scriptedModel([[say("Of the second.")]]);
    const clock = hurried;
    await using second = await defineAgent({ model: model2 }).open({ id: "left", ...there, clock });
    const seen = second.run?.result;
    expect(await claims(there, second)).toBe(1);

    await here.log.close(); // as if its network were gone

    expect(await seen).toMatchObject({ outcome: "completed", text: "Of the second." });
    goOn();
    await vi.waitFor(() => expect(count.calls).toBe(1));
    expect(await claims(there, second)).toBe(2);
    const replies = second.transcript.filter(({ author }) => author === "model");
    expect(replies).toHaveLength(1);
    expect(await there.store.verify(second.id)).toMatchObject({ ok: true });
  });
});

it("a superseded driver stops its model as soon as it reads the claim", async () => {
  await withTwo(async (here, there) => {
    const { model, goOn, signals } = halting("Of the first.", "");
    await using first = await defineAgent({ model }).open({ id: "paid", ...here });
    await first.send("go").until("turn_started");
    const { uid, incarnation: from = 0 } = (await there.store.find(first.id)) ?? {};
    if (uid === undefined) throw new Error("the session is not stored");

    const claim = await there.store.claim(uid, { from });
    for (const fact of claim.outcome === "claimed" ? claim.facts : [])
      await there.log.announce(uid, fact);

    await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true), { timeout: 10_000 });
    goOn();
  });
});
