import { memorySessionStore } from "@millrace/core/memory";
import { call, countingIds, fail, say, scriptedModel } from "@millrace/core/testing";
import type { SessionStore } from "@millrace/core/ports";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: z.object({ at: z.string().optional() }),
  effect: "pure",
  run: () => "seen",
});
type Script = Parameters<typeof scriptedModel>[0][number];
const busy = fail("overloaded", "too busy", { retryable: true });

/** Runs prompts, and returns the stored facts without times and the number of calls that wrote. */
async function drive(
  scripts: readonly Script[],
  prompts: readonly string[],
  adapt: (store: SessionStore) => SessionStore,
) {
  const memory = memorySessionStore({ makeId: countingIds() }); // hashes have the session's uid
  let writes = 0;
  const counted = (store: SessionStore): SessionStore => ({
    ...store,
    claim: (...given) => ((writes += 1), store.claim(...given)),
    accept: (...given) => ((writes += 1), store.accept(...given)),
    open: (...given) => ((writes += 1), store.open(...given)),
    commit: (...given) => ((writes += 1), store.commit(...given)),
    append: (...given) => ((writes += 1), store.append(...given)),
  });
  const retry = { attempts: 3, baseMs: 1, capMs: 1 };
  const agent = defineAgent({ model: scriptedModel(scripts), tools: [look], retry });
  await using session = await agent.open({ id: "s", store: counted(adapt(memory)) });
  for (const [at, text] of prompts.entries()) await session.send(text, { key: `k${at}` }).result;
  const record = await memory.find("s");
  const facts = record === undefined ? [] : await memory.read(record.uid);
  return { writes, facts: facts.map((fact) => ({ ...fact, time: 0 })) };
}

/** A store at which other facts always come between a decision and its commit. */
const neverAhead = (store: SessionStore): SessionStore => ({
  ...store,
  commit: async (uid, request) =>
    request.ahead === undefined
      ? await store.commit(uid, request)
      : { outcome: "moved", head: request.ahead.head + 1 },
});
const asItIs = (store: SessionStore): SessionStore => store;

it("a text run is four calls that write, and three once its driver holds the session", async () => {
  const first = await drive([[say("Hi.")]], ["hello"], asItIs);
  const both = await drive([[say("Hi.")], [say("Again.")]], ["hello", "again"], asItIs);

  expect(first.writes).toBe(4);
  expect(both.writes).toBe(4 + 3);
});

it("a step with a tool is four more calls that write", async () => {
  const { writes } = await drive([[call("look", {})], [say("Seen.")]], ["look"], asItIs);

  expect(writes).toBe(4 + 4);
});

it.each<[string, readonly Script[]]>([
  ["a text", [[say("Hi.")], [say("Ho.")]]],
  ["a call", [[call("look", {})], [say("Seen.")], [say("Ho.")]]],
  [
    "two calls",
    [[call("look", { at: "a" }), call("look", { at: "b" })], [say("Seen.")], [say("Ho.")]],
  ],
  ["a retry", [[busy], [say("Hi.")], [say("Ho.")]]],
  ["a failure", [[fail("invalid_request", "no")], [say("Ho.")]]],
  ["an unknown tool", [[call("fly", {})], [say("Seen.")], [say("Ho.")]]],
])("what is stored with an item is what the driver would store next: %s", async (_, scripts) => {
  const ahead = await drive(scripts, ["one", "two"], asItIs);
  const after = await drive(scripts, ["one", "two"], neverAhead);

  expect(ahead.facts).toStrictEqual(after.facts);
  expect(ahead.facts.length).toBeGreaterThan(8);
});
