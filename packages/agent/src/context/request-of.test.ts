import type { Fact, Item, Json } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import { emptyState, replay } from "@millrace/core/reading";
import { numberFacts } from "@millrace/core/store-kit";
import {
  inputId,
  itemId,
  partId,
  runIdOf,
  sessionId,
  sessionUid,
  turnId,
} from "@millrace/core/writing";
import type { FactBody } from "@millrace/core/writing";
import { describe, expect, test } from "vitest";
import { contextOf } from "./context.ts";
import { requestOf } from "./request-of.ts";
import type { RequestContent, RequestTarget } from "./request-of.ts";

const weather: ToolDescription = { name: "weather", input: { type: "object" } };
const search: ToolDescription = { name: "search", input: { type: "object" } };
const shape: Json = { type: "object" };

const run = (number: number) => runIdOf(inputId(`i${number}`));
const turn = turnId("t");

function guidance(change: {
  instructions?: string | null;
  tools?: readonly ToolDescription[];
  anew?: true;
  notes?: string;
}): FactBody {
  return { type: "guidance_set", runId: run(1), turnId: turn, guidance: change as never };
}

function asks(number: number, output?: Json, strict = false): FactBody[] {
  const id = inputId(`i${number}`);
  const parts = [{ kind: "text", id: partId("p1"), text: `Question ${number}` }] as const;
  const options =
    output === undefined ? {} : { options: { output, ...(strict ? { strict } : {}) } };
  const item: Item = { id: itemId(`u${number}`), author: "user", parts, stop: "end" };
  return [
    { type: "input_accepted", inputId: id, input: { kind: "prompt", parts, ...options } },
    { type: "run_started", runId: run(number) },
    { type: "item_committed", item, runId: run(number), inputId: id },
    { type: "turn_started", runId: run(number), turnId: turn },
  ];
}

function answers(number: number): FactBody[] {
  const item: Item = {
    id: itemId(`m${number}`),
    author: "model",
    model: "claude",
    parts: [
      { kind: "reasoning", id: partId("r1"), text: "hm", opaque: { signature: "s" } },
      { kind: "text", id: partId("p1"), text: `Answer ${number}` },
    ],
    stop: "end",
  };
  return [
    { type: "item_committed", item, runId: run(number) },
    { type: "run_finished", runId: run(number), closes: 1, outcome: "completed" },
  ];
}

function requestAfter(
  bodies: readonly FactBody[],
  target: RequestTarget = { appends: "tools", outputInWords: true },
): RequestContent {
  const empty = emptyState(sessionUid("u"), sessionId("s"));
  const facts: readonly Fact[] = numberFacts(bodies, empty, 0);
  const context = contextOf(replay(empty, facts), facts);
  const session = context.items.toArray();
  return requestOf({ context, session, outputBytes: () => 1_000 }, target);
}

/** What is sent of each reasoning that only its vendor can read. */
function opaqueOf({ transcript }: RequestContent): readonly unknown[] {
  return transcript.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === "reasoning" ? [part.opaque] : [])),
  );
}

const first = [...asks(1), guidance({ instructions: "Help.", tools: [weather] }), ...answers(1)];

describe("what has changed since the first request", () => {
  test("stands behind the items before it, and the beginning stays", () => {
    const later = [
      ...first,
      ...asks(2),
      guidance({ instructions: "Help gladly.", tools: [search] }),
    ];

    const request = requestAfter(later);

    expect(request.instructions).toBe("Help.");
    expect(request.tools).toEqual([weather]);
    expect(request.updates).toEqual([
      {
        after: "u2",
        text: "The instructions have changed. From here on these apply:\n\nHelp gladly.",
        added: [search],
        removed: ["weather"],
      },
    ]);
  });

  test("stands there in every later request, also when it is taken back", () => {
    const changed = [...first, ...asks(2), guidance({ instructions: "B" }), ...answers(2)];
    const back = [...changed, ...asks(3), guidance({ instructions: "Help." })];

    expect(requestAfter(back).updates?.map(({ after }) => after)).toEqual(["u2", "u3"]);
    expect(requestAfter(back).updates?.[0]).toEqual(requestAfter(changed).updates?.[0]);
  });

  test("replaces what no reply came after", () => {
    const twice = [
      ...first,
      ...asks(2),
      guidance({ instructions: "B" }),
      guidance({ instructions: "C" }),
    ];

    expect(requestAfter(twice).updates).toHaveLength(1);
    expect(requestAfter(twice).updates?.[0]?.text).toContain("C");
  });

  test("is the beginning itself for a model that takes no updates, or none of tools", () => {
    const later = [...first, ...asks(2), guidance({ instructions: "B", tools: [search] })];

    expect(requestAfter(later, { appends: undefined })).toMatchObject({
      instructions: "B",
      tools: [search],
    });
    expect(requestAfter(later, { appends: undefined }).updates).toBeUndefined();
    const words = requestAfter(later, { appends: "instructions" });
    expect(words).toMatchObject({ instructions: "Help.", tools: [search] });
    expect(words.updates).toEqual([{ after: "u2", text: expect.stringContaining("B") as string }]);
  });

  test("is the beginning if it is to begin anew", () => {
    const later = [...first, ...asks(2), guidance({ instructions: "B", anew: true })];

    expect(requestAfter(later).instructions).toBe("B");
    expect(requestAfter(later).updates).toBeUndefined();
  });
});

describe("notes", () => {
  const day = (number: number): FactBody => guidance({ notes: `Day ${number}.` });
  const notesOf = (facts: readonly FactBody[]): readonly unknown[] =>
    (requestAfter(facts).updates ?? []).map(({ after, notes }) => [after, notes]);

  test("stand behind the prompt of their run, then and in later requests", () => {
    const one = [guidance({ instructions: "Help.", tools: [], notes: "Day 1." })];
    const two = [...asks(1), ...one, ...answers(1), ...asks(2), day(2)];

    expect(notesOf(two)).toEqual([
      ["u1", "Day 1."],
      ["u2", "Day 2."],
    ]);
    expect(requestAfter(two).instructions).toBe("Help.");
    expect(notesOf([...two, ...answers(2), ...asks(3)])).toEqual(notesOf(two));
  });

  test("of a run without a reply are left out of later runs", () => {
    const failed = [...first, ...asks(2), day(2), ...asks(3), day(3)];

    expect(notesOf(failed)).toEqual([["u3", "Day 3."]]);
  });

  test("are made again behind a summary while their run lasts, and not after it", () => {
    const asked = [...first, ...asks(2), day(2)];
    const [u1, m1] = [itemId("u1"), itemId("m1")];
    const summary = (number: number): FactBody[] => {
      const id = itemId(`s${number}`);
      const parts = [{ kind: "text", id: partId("p1"), text: "They talked." }] as const;
      const item: Item = { id, author: "agent", parts, stop: "end" };
      return [
        { type: "item_committed", item, runId: run(number) },
        {
          type: "compaction_finished",
          runId: run(number),
          summary: { itemId: id, first: u1, last: m1 },
        },
      ];
    };

    expect(notesOf([...asked, ...summary(2)])).toEqual([["u2", "Day 2."]]);
    expect(notesOf([...asked, ...answers(2), ...asks(3), ...summary(3)])).toEqual([]);
  });
});

describe("the shape of an answer", () => {
  test("is asked for in words where the run begins, and taken back where the next one does", () => {
    const shaped = [...first, ...asks(2, shape), ...answers(2)];

    const request = requestAfter([...shaped, ...asks(3)]);

    expect(request.output).toBeUndefined();
    expect(request.updates?.map(({ after, text }) => [after, text?.slice(0, 20)])).toEqual([
      ["u2", "Your next answer is "],
      ["u3", "Answers need no JSON"],
    ]);
    const again = requestAfter(shaped).updates?.[0];
    expect(request.updates?.[0]).toEqual(again);
  });

  test("is a field if the run has its vendor hold to it, and changes nothing that was sent", () => {
    const strict = [...first, ...asks(2, shape, true)];

    expect(requestAfter(strict).output).toEqual({ name: "answer", schema: shape });
    expect(requestAfter(strict).updates).toBeUndefined();
    const later = requestAfter([...strict, ...answers(2), ...asks(3)]);
    expect([later.output, later.updates]).toEqual([undefined, undefined]);
  });

  test("is a field of the request for other models, and leaves no words behind", () => {
    const shaped = [...first, ...asks(2, shape)];

    expect(requestAfter(shaped, { appends: "instructions" }).output).toEqual({
      name: "answer",
      schema: shape,
    });
    expect(requestAfter(shaped, { appends: "instructions" }).updates).toBeUndefined();
    const after = requestAfter([...shaped, ...answers(2), ...asks(3)], { appends: "instructions" });
    expect(after.output).toBeUndefined();
  });
});

test("reasoning from before another model's signed summary stays unsent behind a signed summary of its own", () => {
  const signed = (number: number, model: string, last: string): FactBody[] => {
    const id = itemId(`s${number}`);
    const metadata = { summary: { model, block: { type: "compaction" } } };
    const parts = [
      { kind: "text", id: partId("summary"), text: "They talked.", metadata },
    ] as const;
    const item: Item = { id, author: "agent", model, parts, stop: "end" };
    const summary = { itemId: id, first: itemId("u1"), last: itemId(last) };
    return [
      { type: "item_committed", item, runId: run(number) },
      { type: "compaction_finished", runId: run(number), summary },
    ];
  };
  const two = [...first, ...asks(2), ...answers(2), ...asks(3)];
  const other = [...two, ...signed(3, "other", "m1"), ...answers(3), ...asks(4)];
  const both = [...other, ...signed(4, "claude", "u2")];

  const shown = requestAfter(both).transcript;
  expect(shown.map(({ id }) => id)).toEqual(["s4", "m2", "u3", "m3", "u4"]);
  expect(opaqueOf(requestAfter(both))).toEqual([undefined, { signature: "s" }]);
  expect(opaqueOf(requestAfter([...two, ...signed(3, "claude", "m1")]))).toEqual([
    { signature: "s" },
  ]);
});

test("reasoning is sent as it came until a fact drops it, and then without its vendor's data", () => {
  const two = [...first, ...asks(2), ...answers(2)];
  const dropped: FactBody = {
    type: "reasoning_dropped",
    runId: run(2),
    through: itemId("m1"),
    reason: "refused",
  };

  expect(opaqueOf(requestAfter(two))).toEqual([{ signature: "s" }, { signature: "s" }]);
  expect(opaqueOf(requestAfter([...two, dropped]))).toEqual([undefined, { signature: "s" }]);
});

describe("a reply at the end of a request", () => {
  const said = (number: number, turnOf: string, stop: "end" | "paused" | "tools"): FactBody => {
    const parts = [{ kind: "text", id: partId("p1"), text: `Part ${number}` }] as const;
    const item: Item = { id: itemId(`m${number}`), author: "model", parts, stop };
    return { type: "item_committed", item, runId: run(1), turnId: turnId(turnOf) };
  };
  const texts = (facts: readonly FactBody[]): readonly unknown[] =>
    requestAfter(facts).transcript.map(({ parts }) => (parts[0] as { text: string }).text);
  const asked = [guidance({ instructions: "Help.", tools: [] }), ...asks(1)];

  test("has a turn of the user behind it, then and in every later request", () => {
    const half = [...asked, said(1, "t1", "tools")];

    expect(texts(half)).toEqual(["Question 1", "Part 1", "(continue)"]);
    expect(texts([...half, said(2, "t2", "end"), ...asks(2)])).toEqual([
      "Question 1",
      "Part 1",
      "(continue)",
      "Part 2",
      "Question 2",
    ]);
  });

  test("has none if the vendor paused it: its protocol may go on from there", () => {
    const half = [...asked, said(1, "t1", "paused")];

    expect(texts(half)).toEqual(["Question 1", "Part 1"]);
    expect(texts([...half, said(2, "t2", "end")])).toEqual([
      "Question 1",
      "Part 1",
      "Part 2",
      "(continue)",
    ]);
  });

  test("has none between two replies of one turn", () => {
    const two = [...asked, said(1, "t1", "end"), said(2, "t1", "end"), ...asks(2)];

    expect(texts(two)).toEqual(["Question 1", "Part 1", "Part 2", "Question 2"]);
  });
});

test("a part that is left out is its text in every later request", () => {
  const left: FactBody = {
    type: "part_left_out",
    runId: run(1),
    itemId: itemId("u1"),
    partId: partId("p1"),
    text: "(a picture)",
  };

  const [item] = requestAfter([...first, left]).transcript;
  expect(item?.parts).toEqual([{ kind: "text", id: "p1", text: "(a picture)" }]);
});
