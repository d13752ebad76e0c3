import { expect, test } from "vitest";
import { nameOf, responsePrefix } from "../../packages/dialects/src/openai/encode/response-id.ts";
import { isChange } from "../kit/runs.ts";
import { Served } from "./kit/served.ts";
import type { SentRequest } from "./kit/served.ts";
import { LongSession } from "./kit/long-session.ts";

const all = [10, 100, 400, 4_000];

/** The requests of each dialect, to a session of so many turns. Those that send come last: they add to it. */
function requestsOf(turns: number): readonly (readonly [string, string, SentRequest?])[] {
  const newest = nameOf(responsePrefix, { sessionId: "s", runId: `run_key${turns}`, from: 0 });
  const responses = "/openai/v1/responses";
  const next = { input: "hello", previous_response_id: newest };
  const streamed = { input: "hello", conversation: "s", stream: true };
  const messages = [{ id: "m-1", role: "user", parts: [{ type: "text", text: "hello" }] }];
  const said = { id: "m-2", role: "user", content: "hello" };
  const headers = { "millrace-session": "s" };
  return [
    ["ai-sdk messages", "/ai-sdk/s?limit=5"],
    ["ai-sdk resume", "/ai-sdk/s/stream"],
    ["ag-ui messages", "/ag-ui/s?limit=5"],
    ["openai response", `${responses}/${newest}`],
    ["openai input items", `${responses}/${newest}/input_items`],
    ["openai next response", responses, { body: next }],
    ["openai streamed response", responses, { body: streamed }],
    ["openai completion", "/openai/v1/chat/completions", { body: { messages: [said] }, headers }],
    ["ai-sdk send", "/ai-sdk", { body: { id: "s", messages } }],
    [
      "ai-sdk regenerate",
      "/ai-sdk",
      { body: { id: "s", messages, trigger: "regenerate-message" } },
    ],
    ["ag-ui run", "/ag-ui", { body: { threadId: "s", runId: "r", messages: [said] } }],
  ];
}

/** The facts that a server reads which was just started, until the request and its run are over. */
function factsReadBy(session: LongSession, path: string, sent?: SentRequest): Promise<number> {
  return session.factsReadBy(async () => {
    await using served = new Served(undefined, { store: () => session.store });
    const answer = await served.request(path, sent);
    const text = await answer.text();
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${text}`);
  });
}

function printTable(
  title: string,
  lengths: readonly number[],
  rows: ReadonlyMap<string, readonly number[]>,
): void {
  const line = (name: string, cells: readonly unknown[]): string =>
    [name.padEnd(28), ...cells.map((cell) => String(cell).padStart(8))].join("");
  const lines = [...rows].map(([name, facts]) => line(name, facts));
  console.log([title, line("turns", lengths), ...lines].join("\n"));
}

test.each([
  ["at its end", 0, all],
  ["three turns ago", 3, isChange ? [10, 100] : all],
])(
  "a request reads as many facts of a long session as of a short one, with its checkpoint %s",
  async (place, afterCheckpoint, lengths) => {
    const rows = new Map<string, number[]>();
    for (const turns of lengths) {
      const session = await LongSession.of(turns, { afterCheckpoint });
      for (const [name, path, sent] of requestsOf(turns)) {
        if (afterCheckpoint === 0) await session.keepCheckpoint();
        rows.set(name, [...(rows.get(name) ?? []), await factsReadBy(session, path, sent)]);
      }
    }
    printTable(`facts read, the checkpoint ${place}`, lengths, rows);
    for (const [name, [short = 0, ...longer]] of rows)
      for (const facts of longer) {
        expect(facts, name).toBeLessThanOrEqual(short * 1.1);
        expect(facts, name).toBeGreaterThanOrEqual(short * 0.9);
      }
  },
  60_000,
);

test("coming back to AG-UI reads as many facts as the messages have which fit into its snapshot", async () => {
  const facts: number[] = [];
  for (const turns of [10, 150, 300, 600]) {
    const session = await LongSession.of(turns, { afterCheckpoint: 3, answerLength: 100_000 });
    const body = { threadId: "s", runId: "r", messages: [] };
    facts.push(await factsReadBy(session, "/ag-ui", { body }));
  }
  console.log(`facts read, coming back to 10, 150, 300 and 600 long turns: ${facts.join(", ")}`);
  const [short = 0, ...longer] = facts;
  expect(short).toBeLessThan(longer[0] ?? 0);
  expect(new Set(longer).size).toBe(1);
}, 60_000);

test.each(["jsonl", "markdown", "html"])(
  "an export as %s reads as many facts for each turn of a long session as of a short one",
  async (format) => {
    const rows: number[] = [];
    for (const turns of isChange ? [10, 400] : [10, 1_000, 10_000]) {
      const session = await LongSession.of(turns, { afterCheckpoint: 3 });
      const path = `/v1/sessions/s/export?format=${format}`;
      rows.push((await factsReadBy(session, path)) / turns);
      expect(session.checkpointsRead).toBeLessThanOrEqual(1);
    }
    console.log(
      `facts read for each turn that is exported as ${format}: ${rows.map((each) => each.toFixed(1)).join(", ")}`,
    );
    const [short = 0, ...longer] = rows;
    for (const each of longer) expect(each / short).toBeLessThan(1.1);
  },
  60_000,
);
