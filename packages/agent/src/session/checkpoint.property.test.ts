import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { memoryEventLog } from "@millrace/core/memory";
import { readItems } from "@millrace/core/reading";
import type { Fact, Item } from "@millrace/core";
import type { Checkpoint } from "@millrace/core/ports";
import type { Earlier } from "@millrace/core/reading";
import { runs } from "../../../../tests/kit/runs.ts";
import { assemble } from "../context/assemble.ts";
import { compactionsOf } from "../context/context.ts";
import {
  readOnlyStore,
  StoredHistory,
  storedSession,
  storedUid,
} from "../testing/stored-histories.ts";
import { SessionJournal } from "./journal.ts";

vi.setConfig({ testTimeout: process.env["CAMPAIGN"] === "1" ? 24 * 3_600_000 : 120_000 });

const times = runs(500, 50_000);
const log = memoryEventLog();

const open = (facts: readonly Fact[], checkpoint?: Checkpoint): Promise<SessionJournal> =>
  SessionJournal.open({
    store: readOnlyStore(facts, checkpoint).store,
    log,
    uid: storedUid,
    sessionId: storedSession,
    onFact: () => undefined,
    snapshotBytes: 600,
  });

/** What a journal knows, but for the items and their compactions, which it may leave out. */
const known = ({ state, standing, context, runs: records }: SessionJournal): unknown => {
  const { items: _, earlier: __, compactions: ___, ...rest } = state;
  const { transcript } = assemble(context.items.toArray(), { compactions: compactionsOf(context) });
  const { run } = state;
  return { rest, standing, transcript, run: run && records.get(run.runId), runs: records.toJson() };
};

async function allItems(
  { state }: SessionJournal,
  facts: readonly Fact[],
  kept?: Checkpoint,
): Promise<readonly Item[]> {
  const { store } = readOnlyStore(facts, kept);
  let items = state.items.toArray();
  for (let left: Earlier | undefined = state.earlier; left !== undefined;) {
    const page = await readItems({ store, uid: storedUid, earlier: left, limit: 3 });
    items = [...page.items, ...items];
    left = page.earlier;
  }
  return items;
}

const history = fc.array(fc.nat(16 * 400), { minLength: 10, maxLength: 70 });

it("a session that is opened from checkpoints and the facts after them equals one opened from all facts", async () => {
  const seen = { left: 0, compacted: 0, reset: 0, open: 0 };
  await fc.assert(
    fc.asyncProperty(history, fc.nat(1_000), fc.nat(1_000), async (numbers, one, other) => {
      const { facts } = new StoredHistory(numbers);
      const heads = [one % facts.length, other % facts.length].toSorted((a, b) => a - b);
      let checkpoint: Checkpoint | undefined;
      for (const head of heads)
        checkpoint = (await open(facts.slice(0, head), checkpoint)).checkpoint();
      const whole = await open(facts);
      const short = await open(facts, checkpoint);

      expect(known(short)).toEqual(known(whole));
      expect(await allItems(short, facts, checkpoint)).toEqual(whole.state.items.toArray());
      expect(await allItems(short, facts)).toEqual(whole.state.items.toArray());
      if (short.state.earlier !== undefined) seen.left += 1;
      if (whole.state.compactions.length > 1) seen.compacted += 1;
      if (facts.some((fact) => fact.type === "session_claimed" && fact.to !== undefined))
        seen.reset += 1;
      if (whole.state.run !== undefined) seen.open += 1;
    }),
    { numRuns: times },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(times / 20);
  console.log(
    `count: checkpoint and tail are the whole, ${times} sessions (${JSON.stringify(seen)}), 0 failures`,
  );
});

it("a checkpoint that is malformed, of another session or of another head is read as none", async () => {
  const { facts } = new StoredHistory(Array.from({ length: 40 }, (_, at) => at * 37));
  const whole = await open(facts);
  const { head, text } = (await open(facts.slice(0, 30))).checkpoint();
  const bad: readonly Checkpoint[] = [
    { head, text: "" },
    { head, text: text.slice(1) },
    { head, text: text.replace('"v":1', '"v":2') },
    { head, text: text.replaceAll("session_1", "session_2") },
    { head: head + 1, text },
    { head, text: text.replace("loop 6", "loop 0") },
  ];

  for (const checkpoint of bad) {
    const journal = await open(facts, checkpoint);
    expect(known(journal)).toEqual(known(whole));
    expect(journal.state.earlier).toBeUndefined();
  }
});
