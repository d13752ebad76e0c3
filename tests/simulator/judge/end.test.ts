/** Each rule of the end is seen to fail: one thing of a whole history is changed. */
import type { Fact } from "@millrace/core";
import type { ClientView } from "@millrace/client";
import { emptyState, replay } from "@millrace/core/reading";
import { beforeAll, expect, test } from "vitest";
import { recordHistory } from "../../chaos/recorded-history.ts";
import type { SessionHistory } from "../../chaos/oracle.ts";
import { accessJudge } from "./access.ts";
import { areFound, isOver, judgeEnd, judgeFound } from "./end.ts";
import type { EndOptions } from "./end.ts";
import { judgeIdle } from "./idle.ts";
import { GivenPromises } from "../../kit/given-promises.ts";

interface End {
  readonly facts: readonly Fact[];
  readonly view: Pick<ClientView, "head" | "items" | "connection">;
  readonly refused: readonly string[];
  readonly held: readonly string[];
  readonly streams: number;
}

let history: SessionHistory;
let whole: End;

beforeAll(async () => {
  ({ history } = await recordHistory());
  const { facts } = history;
  whole = { facts, view: viewOf(facts), refused: [], held: [], streams: 1 };
});

function viewOf(facts: readonly Fact[]): End["view"] {
  const { items } = replay(emptyState(history.uid, history.sessionId), facts);
  const shown = items.toArray() as unknown as ClientView["items"]; // the fields that the oracle reads
  return { head: facts.length, items: shown, connection: "live" };
}

/** A deployment at its end, as far as it is judged, and what is reported of it. */
function endWith({ facts, view, refused, held, streams }: End): {
  readonly end: EndOptions;
  readonly found: string[];
} {
  const { sessionId, uid, sent, effects } = history;
  const found: string[] = [];
  const carried = Array.from({ length: streams }, () => ({ path: "POST /v1/events" }));
  const end = {
    engines: { sessions: async () => [{ record: { sessionId, uid }, facts }] },
    ledger: { effects },
    pages: {
      sent,
      shown: () => [{ host: "page0", id: sessionId, view }],
      promises: new GivenPromises(() => 0),
    },
    readers: { held: held.map((text) => ({ host: "reader0", session: sessionId, text })) },
    vendor: { strict: { refused } },
    network: { carrying: () => carried },
    report: { add: (rule: string) => void found.push(rule) },
  };
  return { end: end as unknown as EndOptions, found }; // what the oracle reads of each
}

async function reportsOf(changed: Partial<End>): Promise<readonly string[]> {
  const { end, found } = endWith({ ...whole, ...changed });
  await judgeEnd(end);
  return [...new Set(found)];
}

test("a whole history is over, and nothing is reported of it", async () => {
  const { end } = endWith(whole);

  expect(await reportsOf({})).toEqual([]);
  expect([await isOver(end), await areFound(end)]).toEqual([true, true]);
});

test("a session with a run that is on is reported", async () => {
  const facts = history.facts.slice(0, history.facts.findLastIndex(isEnd));
  const changed = { facts, view: viewOf(facts) };

  expect(await reportsOf(changed)).toContain("rests");
  expect(await isOver(endWith({ ...whole, ...changed }).end)).toBe(false);
});

test("facts that contradict each other are reported", async () => {
  const facts = history.facts.filter(({ type }) => type !== "tool_execution_started");

  expect(await reportsOf({ facts, view: viewOf(facts) })).toEqual(
    expect.arrayContaining([expect.stringMatching(/^facts: /)]),
  );
});

test("a run that failed is reported", async () => {
  const facts = history.facts.map((fact) =>
    isEnd(fact) ? ({ ...fact, outcome: "failed" } as Fact) : fact,
  );

  expect(await reportsOf({ facts })).toContain("runs-end");
});

test.each<[string, (end: End) => Partial<End>, string]>([
  [
    "a view that lacks a fact",
    ({ view }) => ({ view: { ...view, head: view.head - 1 } }),
    "views-current",
  ],
  [
    "a view that lacks an item",
    ({ view }) => ({ view: { ...view, items: view.items.slice(1) } }),
    "views-equal",
  ],
  ["a request that the vendor refuses", () => ({ refused: ["a part has gone"] }), "vendor-takes"],
  ["a reader's text that is not stored", () => ({ held: ["Whale"] }), "dialects"],
  ["a page with two streams", () => ({ streams: 2 }), "one-stream"],
])("%s is reported", async (_, change, rule) => {
  expect(await reportsOf(change(whole))).toEqual([rule]);
});

test("a page that shows nothing of a session is reported once it had time to find it", async () => {
  const changed = { view: { ...whole.view, head: 0, items: [] } };
  const { end, found } = endWith({ ...whole, ...changed });

  expect(await reportsOf(changed)).toEqual([]);
  expect(await areFound(end)).toBe(false);
  await judgeFound(end);
  expect(found).toEqual(["views-current"]);
});

test("what a user is sent of another one is reported", () => {
  const found: string[] = [];
  const [mine, other] = ["key-0000000000000001", "key-0000000000000002"];
  const actions = [
    { key: mine, host: "page1" },
    { key: other, host: "page2" },
  ];
  const judge = accessJudge(actions, { add: (_, what) => void found.push(what) });

  judge("page3", Buffer.from(`answer to ${mine}`));
  judge("page3", Buffer.from(`answer to ${other}`));

  expect(found).toEqual([`page3 gets ${other} of user0`]);
});

test("timers, subscriptions and connections that are left are reported", () => {
  const found: string[] = [];
  const idle = {
    engines: { links: (host: string) => ({ subscriptions: new Set(host === "web1" ? [1] : []) }) },
    nodes: { process: (host: string) => ({ timers: host === "web0" ? 2 : 0 }) },
    networks: [{ open: new Set(["a connection"]) }],
  };

  const options = idle as unknown as Parameters<typeof judgeIdle>[0]; // what the oracle reads of each
  judgeIdle(options, { add: (_, what) => void found.push(what) });

  const left = ["web0 has 2 timers", "web1 has 1 subscriptions", "1 connections are open"];
  expect(found).toEqual(left);
});

function isEnd({ type }: Fact): boolean {
  return type === "run_finished";
}
