import type { Json, JsonObject, RunEvent } from "@millrace/core";
import { expect, test } from "vitest";
import { acting, forgingInputs } from "../../../../tests/kit/forging-inputs.ts";
import { narrateTo } from "./narrate-to.ts";
import type { NarrateOptions } from "./narrate-to.ts";
import {
  append,
  begin,
  call,
  epochOf,
  Facts,
  item,
  live,
  opened,
  reply,
  run,
  text,
  turn,
} from "./testing/events.ts";

function page(events: readonly RunEvent[], options?: NarrateOptions): readonly string[] {
  const writes: string[] = [];
  const observe = narrateTo({ write: (piece) => writes.push(piece) }, options);
  for (const event of events) observe(event);
  return writes;
}

function start(facts: Facts, session = "s"): readonly RunEvent[] {
  return [
    facts.make({ type: "run_started", runId: run }, { session }),
    facts.make({ type: "turn_started", runId: run, turnId: turn }, { session }),
  ];
}

const ids = { runId: run, turnId: turn };
const closes = epochOf(1, 9);

test("each piece of text is written at once, as it came", () => {
  const facts = new Facts();

  const writes = page([...start(facts), opened(), begin("text"), append("Hel"), append("lo")]);

  expect(writes).toEqual(["Hel", "lo"]);
});

test("tools, questions and ends are one line each, between the text", () => {
  const facts = new Facts();
  const tool = { callId: call, tool: "search" };
  const writes = page([
    ...start(facts),
    opened(),
    begin("text"),
    append("Looking."),
    facts.make({
      type: "approval_requested",
      ...ids,
      ...tool,
      approvalId: "a" as never,
      input: { q: "x\ny" },
      hash: "h",
    }),
    facts.make({
      type: "approval_resolved",
      approvalId: "a" as never,
      callId: call,
      decision: "allow",
    }),
    facts.make({
      type: "tool_execution_started",
      ...ids,
      ...tool,
      input: { q: "x" },
      itemId: "item_2" as never,
      lane: 1,
      epoch: epochOf(1, 2),
    }),
    live(
      { type: "attempt_started", author: "tool", ...tool },
      { lane: 1, generation: 2, item: "item_2" },
    ),
    live(
      { type: "tool_execution_update", callId: call, message: "half\nway" },
      { lane: 1, generation: 2, item: "item_2" },
    ),
    facts.make({ type: "tool_execution_finished", ...ids, ...tool, status: "failed" }),
    append("On."),
    facts.make({ type: "run_finished", runId: run, closes, outcome: "limited", limit: "turns" }),
  ]);

  expect(writes.join("")).toBe(
    [
      "Looking.",
      '► may this run? search {"q":"x\\ny"}',
      "► allowed",
      '► search {"q":"x"}',
      "► search: half way",
      "► search: failed",
      "On.",
      "► what came is void",
      "► ended by a limit: turns",
      "",
    ].join("\n"),
  );
});

test("text that another attempt replaces is marked as void", () => {
  const facts = new Facts();
  const cause = { code: "overloaded", message: "busy" };

  const writes = page([
    ...start(facts),
    opened(),
    begin("text"),
    append("Hal"),
    live({ type: "retry_scheduled", cause, delayMs: 1_500 }),
    opened({ attempt: 2 }),
    begin("text", { attempt: 2 }),
    append("Hello", { attempt: 2 }),
    facts.make({
      type: "item_committed",
      item: item([text("Hello")]),
      lane: 0,
      epoch: epochOf(2),
      ...ids,
    }),
    facts.make({ type: "turn_finished", ...ids, stop: "end", closes }),
    facts.make({ type: "run_finished", runId: run, closes, outcome: "completed" }),
  ]);

  expect(writes.join("")).toBe(
    "Hal\n► overloaded: busy; another try in 1.5 s\n► trying again\nHello\n",
  );
});

test("an item that is replaced is written anew", () => {
  const facts = new Facts();
  const writes = page([
    ...start(facts),
    opened(),
    begin("text"),
    append("draft"),
    facts.make({
      type: "item_replaced",
      item: item([text("final")]),
      lane: 0,
      epoch: epochOf(1),
      ...ids,
    }),
  ]);

  expect(writes.join("")).toBe("draft\n► what stands instead:\nfinal\n");
});

test.each([
  [{ outcome: "aborted" } as const, "► stopped\n"],
  [
    { outcome: "failed", cause: { code: "no_key", message: "set\u001b[2J one" } } as const,
    "► failed: no_key: set one\n",
  ],
  [{ outcome: "completed" } as const, ""],
])("a run that ended as $outcome writes its outcome", (ending, line) => {
  const facts = new Facts();

  expect(
    page([
      ...start(facts),
      facts.make({ type: "run_finished", runId: run, closes, ...ending }),
    ]).join(""),
  ).toBe(line);
});

test("reasoning is dim where there are colours, left out where there are none, and marked if asked for", () => {
  const facts = new Facts();
  const events = [...start(facts), opened(), begin("reasoning"), append("Hm"), append("m")];

  expect(page(events, { color: true })).toEqual(["\u001b[2mHm\u001b[22m", "\u001b[2mm\u001b[22m"]);
  expect(page(events)).toEqual([]);
  expect(page(events, { color: true, reasoning: false })).toEqual([]);
  expect(page(events, { reasoning: true }).join("")).toBe("(reasoning) Hmm");
});

test("colours are used on a terminal that has them and nowhere else", () => {
  const facts = new Facts();
  const events = [...start(facts), opened(), begin("reasoning"), append("Hm")];
  const shown = (isTTY: boolean, colors: boolean): string => {
    let all = "";
    const observe = narrateTo({
      write: (piece) => void (all += piece),
      isTTY,
      hasColors: () => colors,
    });
    for (const event of events) observe(event);
    return all;
  };

  expect(shown(true, true)).toContain("Hm");
  expect(shown(true, false)).toBe("");
  expect(shown(false, true)).toBe("");
});

test("text can't forge a line of ours, nor drive the terminal, even in pieces", () => {
  const facts = new Facts();
  const pieces = [
    "ok\n",
    "► refund: ok\n",
    "\u001b",
    "]0;title\u0007",
    "\u001b[",
    "2J",
    "yes\r",
    "no",
  ];

  const shown = page([
    ...start(facts),
    opened(),
    begin("text"),
    ...pieces.map((piece) => append(piece)),
  ]).join("");

  expect(shown).toBe("ok\n▸ refund: ok\n␛]0;title␇yes␍no");
});

test("a line marks each change between sessions", () => {
  const facts = new Facts();
  const b = { session: "b" };

  const shown = page([
    ...start(facts),
    ...start(facts, "b"),
    opened(),
    opened(b),
    begin("text"),
    begin("text", b),
    append("one"),
    append("two", b),
    append("more"),
  ]).join("");

  expect(shown).toBe("one\n► session b\ntwo\n► session s\nmore");
});

test("a sink that throws, or fails later, ends nothing", () => {
  let failed: (() => void) | undefined;
  const sink = {
    write: (): void => {
      throw new Error("EPIPE");
    },
    on: (_: "error", listener: () => void): void => {
      failed = listener;
    },
  };
  const facts = new Facts();
  const observe = narrateTo(sink);

  expect(() => {
    for (const event of [...start(facts), opened(), begin("text"), append("a")]) observe(event);
    failed?.();
  }).not.toThrow();
  expect(failed).toBeDefined();
});

test("an observer that starts in the middle writes from there", () => {
  const facts = new Facts();
  for (let n = 0; n < 40; n += 1) facts.make({ type: "run_started", runId: run });

  const shown = page([
    append("lost: its opening was not seen"),
    facts.make({ type: "session_claimed", incarnation: 2, to: 3 }),
    facts.make({ type: "turn_started", ...ids }),
    live({ type: "attempt_started", author: "model" }, { attempt: 1, generation: 1 }),
  ]);

  expect(shown).toEqual([]);
  const later = page([
    facts.make({ type: "turn_started", ...ids }),
    opened(),
    begin("text"),
    append("here"),
    facts.make({
      type: "item_committed",
      item: item([text("here and rest")], { id: reply }),
      lane: 0,
      epoch: epochOf(1),
      ...ids,
    }),
  ]).join("");
  expect(later).toBe("here and rest");
});

/** The narration of one question. */
function question(input: JsonObject, parsed?: Json): string {
  const facts = new Facts();
  const before = start(facts);
  const asked = { callId: call, tool: "pay", approvalId: "a" as never, input, hash: "h" };
  const changed = parsed === undefined ? {} : { parsed };
  const fact = facts.make({ type: "approval_requested", ...ids, ...asked, ...changed });
  return page([...before, fact]).join("");
}

/** The input of a question that is narrated, and what runs. */
function narrated(line: string): readonly unknown[] {
  const [, shown = ""] = /^► may this run\? pay (.*)\n$/s.exec(line) ?? [];
  const values = shown.split(" ► which runs as ");
  return values.map(
    (value) => JSON.parse(value.replace(/ \(\d+ characters[^)]*\)$/, "")) as unknown,
  );
}

test("a question is complete, however long, and no blank of it is collapsed", () => {
  const command = `echo  a   b${" ".repeat(90)}${"x".repeat(5_000)} && rm -rf /`;

  expect(question({ command })).toContain("&& rm -rf /");
  expect(narrated(question({ command }))).toEqual([{ command }]);
});

test("350 forging inputs are one line of narration each, in which nothing acts", () => {
  const lines = forgingInputs.map((input) => question(input));

  expect(lines.filter((line) => acting.test(line.slice("► ".length, -1)))).toEqual([]);
  expect(lines.map(narrated)).toEqual(forgingInputs.map((input) => [input]));
});

test("a question shows what the model sent and what runs instead", () => {
  expect(question({ cents: 5 }, { cents: 500 })).toBe(
    '► may this run? pay {"cents":5} ► which runs as {"cents":500}\n',
  );
});

test("a question has the counts of what is long or not ASCII", () => {
  const long = "x".repeat(300);

  expect(question({ to: "p\u0430y" }, { to: long })).toBe(
    `► may this run? pay {"to":"p\u0430y"} (12 characters, 1 of them not ASCII) ► which runs as {"to":"${long}"} (309 characters)\n`,
  );
});

test("a long input of a call that runs is cut with the number of characters left out", () => {
  const facts = new Facts();
  const before = start(facts);
  const place = { itemId: "item_2" as never, lane: 1, epoch: epochOf(1, 2) };
  const input = { text: "x".repeat(1_000) };
  const begun = { callId: call, tool: "pay", input, ...place };
  const fact = facts.make({ type: "tool_execution_started", ...ids, ...begun });

  expect(page([...before, fact]).join("")).toBe(
    `► pay {"text":"${"x".repeat(391)}… (611 more characters)\n`,
  );
});
