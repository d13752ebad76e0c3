/**
 * Sessions that were stored before requests were made of facts go on: their first request begins anew, and
 * without what the model had thought, since it was bound to another beginning. `fixtures` has a session of
 * three runs as commit 61c9d279 stored it, in a file and in PostgreSQL.
 */
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool } from "@millrace/agent";
import { strictAnthropic } from "@millrace/conformance/vendors";
import type { Fact } from "@millrace/core";
import { memoryEventLog } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import { sessionId } from "@millrace/core/writing";
import { anthropic } from "@millrace/providers/anthropic";
import { startVendorServer } from "@millrace/providers/testing";
import { fileStore } from "@millrace/stores/file";
import { postgresStore } from "@millrace/stores/postgres";
import { expect, test } from "vitest";
import { z } from "zod";
import { openDatabase } from "../../packages/stores/src/testing/postgres.ts";

const fixtures = join(import.meta.dirname, "fixtures");
const bound = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } } as const;

test("a session of an older version in a file goes on", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-upgrade-"));
  await copyFile(join(fixtures, "talk.jsonl"), join(folder, "talk.jsonl"));
  await using store = fileStore(folder, { fsync: "never" });

  await expectToGoOn(store);
  expect(await store.verify("talk")).toMatchObject({ ok: true });
  await rm(folder, { recursive: true });
});

test("a session of an older version in PostgreSQL goes on", async () => {
  await using database = await openDatabase();
  const text = await readFile(join(fixtures, "postgres.json"), "utf8");
  for (const [table, rows] of Object.entries(JSON.parse(text) as Record<string, object[]>)) {
    const source = `json_populate_recordset(null::millrace.${table}, $1)`;
    await database.admin(`insert into millrace.${table} select * from ${source}`, [
      JSON.stringify(rows),
    ]);
  }
  await using store = postgresStore({ url: database.url });

  await expectToGoOn(store);
});

async function expectToGoOn(store: SessionStore): Promise<void> {
  const vendor = strictAnthropic({ now: () => 0 });
  await using server = await startVendorServer({
    replies: (request) => vendor.answer(request, () => ({ think: "Hm.", text: "Yes." })),
  });
  const options = { baseUrl: server.url, apiKey: "k", retry: false } as const;
  const agent = defineAgent({
    model: anthropic("claude-opus-5-5", { ...options, settings: { thinking: bound } }),
    instructions: "Help.",
    tools: [
      defineTool({
        name: "look",
        description: "look",
        input: z.object({}),
        effect: "pure",
        run: () => "seen",
      }),
    ],
  });
  const outcomes: string[] = [];
  for (const text of ["four", "five", "six"]) {
    await using session = await agent.open({ id: "talk", store, log: memoryEventLog() });
    outcomes.push((await session.send(text).result).outcome);
  }

  expect(vendor.refused).toEqual([]);
  expect(outcomes).toEqual(["completed", "completed", "completed"]);
  expect(vendor.dropped).toEqual([]);
  const { uid } = (await store.find(sessionId("talk"))) ?? {};
  const facts: readonly Fact[] = uid === undefined ? [] : await store.read(uid);
  const stored = facts.filter(({ type }) =>
    ["guidance_set", "prefix_broken", "reasoning_dropped"].includes(type),
  );
  expect(stored).toMatchObject([
    { type: "guidance_set", guidance: { instructions: "Help.", anew: true } },
    { type: "prefix_broken", reason: "upgrade" },
    { type: "reasoning_dropped", reason: "prefix_changed" },
  ]);
}
