/** A stop that is sent right after its prompt is never lost, however little time lies between them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent } from "@millrace/agent";
import { createInbox } from "@millrace/core";
import { sessionId } from "@millrace/core/writing";
import type { SessionStore } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { say, scriptedModel, stall } from "@millrace/core/testing";
import { fileStore } from "@millrace/stores/file";
import { afterAll, expect, it } from "vitest";
import { runs } from "../kit/runs.ts";
import { Random } from "../kit/random.ts";

const times = runs(500, 20_000, 150);
/** A model that begins each reply and never ends it. */
const agentOf = () => defineAgent({ model: scriptedModel([[say("Hel"), stall()]]) });
const folder = await mkdtemp(join(tmpdir(), "millrace-quick-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Nothing, a microtask, a turn of the event loop, or up to two milliseconds. */
async function pause(random: Random): Promise<void> {
  const way = random.below(4);
  if (way === 1) await Promise.resolve();
  if (way === 2) await new Promise((resolve) => setImmediate(resolve));
  if (way === 3) await new Promise((resolve) => setTimeout(resolve, random.below(3)));
}

const stores: Readonly<Record<string, () => SessionStore>> = {
  memory: () => memorySessionStore(),
  "a file": () => fileStore(join(folder, "sessions"), { fsync: "never" }),
};

it.each(Object.entries(stores))("in %s", { timeout: 120_000 }, async (_, makeStore) => {
  const store = makeStore();
  const random = new Random(7);
  let begun = 0;
  for (let at = 0; at < times; at += 1) {
    const session = await agentOf().open({ id: `s${at}`, store });
    const run = session.send("hi");
    await pause(random);
    const stopped = random.chance(0.5) ? run.abort() : session.abort();
    expect(await stopped.accepted).toMatchObject({ accepted: true });
    expect(await run.result).toMatchObject({ outcome: "aborted" });
    if (session.transcript.length > 0) begun += 1;
    await session.close();
  }
  console.log(`count: quick stops, ${times} runs, ${begun} had begun, 0 were lost`);
});

it("on the inbox, without a driver", { timeout: 120_000 }, async () => {
  const store = memorySessionStore();
  const log = memoryEventLog();
  const random = new Random(11);
  for (let at = 0; at < times; at += 1) {
    const { uid } = await store.create({ sessionId: sessionId(`s${at}`) });
    const inbox = createInbox({ store, log, uid });
    const sent = inbox.send("hi", { key: "one" });
    await pause(random);
    const stopped = await inbox.abort();
    await sent;
    await inbox.announced();
    expect(stopped).toMatchObject({ accepted: true });
    const session = await agentOf().open({ id: `s${at}`, store, log });
    await pause(random);
    expect(session.queue).toEqual([]);
    expect(session.transcript).toEqual([]);
    await session.close();
  }
  console.log(`count: quick stops without a driver, ${times} prompts, 0 began a run`);
});
