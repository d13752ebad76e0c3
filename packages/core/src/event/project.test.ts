import { describe, expect, test } from "vitest";
import type { Item } from "../content/item.ts";
import type { Part, ResultStatus } from "../content/part.ts";
import type { Delta } from "../delta/delta.ts";
import { approvalId, callId, inputId, itemId, partId, sessionId } from "../ids.ts";
import {
  applied,
  batch,
  deltas,
  empty,
  epochOf,
  facts,
  item,
  opening,
  run,
  text,
  toolCall,
  toolResult,
  turn,
} from "../testing/session.ts";
import type { FactBody } from "./event.ts";
import { project } from "./project.ts";
import type { SessionState } from "./state.ts";
import type { ViewPart } from "./view.ts";

const call = callId("c1");
const runStarted: FactBody = { type: "run_started", runId: run };

function committed(...items: readonly Item[]): readonly FactBody[] {
  return items.map((one) => ({ type: "item_committed", item: one }));
}

function stateOf(...bodies: readonly FactBody[]): SessionState {
  return applied(facts(1, ...bodies));
}

function firstPart(state: SessionState): ViewPart | undefined {
  return project(state).items[0]?.parts[0];
}

test("an empty session shows nothing and is idle", () => {
  expect(project(empty)).toEqual({
    status: "idle",
    stopping: false,
    released: false,
    items: [],
    approvals: [],
    queue: [],
    lastRun: undefined,
    error: undefined,
    compacting: false,
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  });
});

test("the status follows the run and the questions it asks", () => {
  const ask: FactBody = {
    type: "approval_requested",
    runId: run,
    turnId: turn,
    approvalId: approvalId("a1"),
    callId: call,
    tool: "search",
    input: { q: 1 },
    hash: "h",
  };
  const answer: FactBody = {
    type: "approval_resolved",
    approvalId: approvalId("a1"),
    callId: call,
    decision: "allow",
  };
  const end: FactBody = { type: "run_finished", runId: run, outcome: "completed", closes: 0 };

  expect(project(stateOf(runStarted)).status).toBe("running");
  expect(project(stateOf(runStarted, ask))).toMatchObject({
    status: "paused",
    approvals: [{ id: "a1", callId: "c1", tool: "search", input: { q: 1 }, hash: "h" }],
  });
  expect(project(stateOf(runStarted, ask, answer))).toMatchObject({
    status: "running",
    approvals: [],
  });
  expect(project(stateOf(runStarted, ask, end))).toMatchObject({ status: "idle", approvals: [] });

  const [open] = project(stateOf(runStarted, ask)).approvals;
  const [timed] = project(stateOf(runStarted, { ...ask, seconds: 90 })).approvals;
  const { time = NaN } = stateOf(runStarted, ask).approvals[0]?.asked ?? {};
  expect(open).not.toHaveProperty("expiresAt");
  expect(timed?.expiresAt).toBe(time + 90_000);
});

test("a stop that was asked for shows until the run is over", () => {
  const stop: FactBody = {
    type: "input_accepted",
    inputId: inputId("i1"),
    input: { kind: "abort" },
  };
  const end: FactBody = { type: "run_finished", runId: run, outcome: "aborted", closes: 0 };

  expect(project(stateOf(runStarted)).stopping).toBe(false);
  expect(project(stateOf(runStarted, stop))).toMatchObject({ stopping: true, queue: [] });
  expect(project(stateOf(runStarted, stop, end)).stopping).toBe(false);
});

test("why a run failed shows until the next one starts", () => {
  const cause = { code: "overloaded", message: "try later" };
  const end: FactBody = { type: "run_finished", runId: run, outcome: "failed", cause, closes: 0 };

  expect(project(stateOf(runStarted, end)).error).toEqual(cause);
  expect(project(stateOf(runStarted, end, runStarted)).error).toBeUndefined();
  expect(
    project(
      stateOf(runStarted, { type: "run_finished", runId: run, outcome: "completed", closes: 0 }),
    ).error,
  ).toBeUndefined();
});

test("the queue shows what waits, as text", () => {
  const parts = [
    text("look "),
    { kind: "media", id: partId("m"), mediaType: "image/png", url: "x" } as const,
    text("here", "p2"),
  ];
  const steer: FactBody = {
    type: "input_accepted",
    inputId: inputId("i1"),
    input: { kind: "steer", parts },
  };
  const answer: FactBody = {
    type: "input_accepted",
    inputId: inputId("i2"),
    input: { kind: "answer", callId: call, output: 1 },
  };
  const back: FactBody = { type: "queue_updated", inputId: inputId("i1"), change: "taken_back" };

  expect(project(stateOf(steer, answer)).queue).toEqual([
    { id: "i1", kind: "steer", text: "look here" },
    { id: "i2", kind: "answer", text: "" },
  ]);
  expect(project(stateOf(steer, answer, back)).queue.map(({ id }) => id)).toEqual(["i2"]);
});

test("compaction and usage show", () => {
  const usage = { inputTokens: 3, outputTokens: 2, cachedTokens: 1 };
  const state = stateOf(
    { type: "compaction_started", runId: run },
    { type: "usage_reported", runId: run, epoch: 1, usage },
  );

  expect(project(state)).toMatchObject({ compacting: true, usage });
});

describe("finished items", () => {
  test("show the model that wrote them and what they used, if that is known", () => {
    const usage = { inputTokens: 3, outputTokens: 2, cachedTokens: 1 };
    const reply: Item = { ...item("i2", "model", [text("hello")]), usage, model: "vendor/name" };
    const [asked, replied] = project(stateOf(...committed(item("i1", "user", []), reply))).items;

    expect(replied).toMatchObject({ usage, model: "vendor/name" });
    expect(asked).not.toHaveProperty("usage");
    expect(asked).not.toHaveProperty("model");
  });

  test("show their parts as they are, none of them live", () => {
    const parts: readonly Part[] = [
      text("hello"),
      { kind: "reasoning", id: partId("r"), text: "hm", opaque: 1 },
      { kind: "media", id: partId("m"), mediaType: "image/png", bytes: Uint8Array.of(1, 2, 3) },
      { kind: "media", id: partId("u"), mediaType: "image/png", url: "https://x.example/a.png" },
      {
        kind: "file",
        id: partId("f"),
        name: "a.csv",
        mediaType: "text/csv",
        bytes: Uint8Array.of(1),
      },
      { kind: "structured", id: partId("s"), value: { a: 1 } },
      { kind: "custom", id: partId("c"), name: "citation", value: [1], metadata: { k: 1 } },
      { kind: "opaque", id: partId("o"), original: { kind: "hologram", id: "o" } },
    ];
    const [shown] = project(stateOf(...committed(item("item_1", "model", parts)))).items;

    expect(shown).toEqual({
      id: "item_1",
      author: "model",
      live: false,
      stop: "end",
      parts: [
        { ...parts[0], live: false },
        { kind: "reasoning", id: "r", text: "hm", live: false },
        { ...parts[2], live: false, size: 3 },
        { ...parts[3], live: false },
        { ...parts[4], live: false, size: 1 },
        { ...parts[5], live: false },
        { ...parts[6], live: false },
        { ...parts[7], live: false },
      ],
    });
  });

  test("show how they ended", () => {
    const cut: Item = {
      id: itemId("i"),
      author: "model",
      parts: [],
      stop: "aborted",
      cause: { code: "aborted", message: "stopped" },
    };

    expect(project(stateOf(...committed(cut))).items[0]).toMatchObject({
      stop: "aborted",
      cause: { code: "aborted" },
    });
    expect(project(stateOf(...committed(item("i", "user", [])))).items[0]).not.toHaveProperty(
      "cause",
    );
  });

  test("that hold answers are shown on the calls they answer, not by themselves", () => {
    const state = stateOf(
      ...committed(
        item("i1", "model", [toolCall("c1")]),
        item("i2", "tool", [toolResult("c1", { text: "42" })]),
      ),
    );

    expect(project(state).items.map(({ id }) => id)).toEqual(["i1"]);
  });

  test("of a tool without a result, or with a result by another author, are shown", () => {
    const odd = item("i1", "tool", [text("progress report")]);
    const imported = item("i2", "user", [text("here"), toolResult("gone", { text: "42" })]);
    const items = project(stateOf(...committed(odd, imported))).items;

    expect(items.map(({ id, parts }) => [id, parts.length])).toEqual([
      ["i1", 1],
      ["i2", 1],
    ]);
  });
});

describe("a call", () => {
  const reply = item("i1", "model", [toolCall("c1", { q: "snow" })]);
  const started: FactBody = {
    type: "tool_execution_started",
    runId: run,
    turnId: turn,
    callId: call,
    tool: "search",
    input: {},
    itemId: itemId("i2"),
    lane: 1,
    epoch: epochOf(1),
  };
  const asked: FactBody = {
    type: "approval_requested",
    runId: run,
    turnId: turn,
    approvalId: approvalId("a1"),
    callId: call,
    tool: "search",
    input: {},
    hash: "h",
  };

  test("waits for its turn, then for a person, then runs", () => {
    const bodies = [runStarted, ...committed(reply)];

    expect(firstPart(stateOf(...bodies))).toMatchObject({
      kind: "tool_call",
      live: false,
      raw: '{"q":"snow"}',
      input: { q: "snow" },
      state: "waiting",
    });
    expect(firstPart(stateOf(...bodies))).not.toHaveProperty("approvalId");
    expect(firstPart(stateOf(...bodies, asked))).toMatchObject({
      state: "waiting",
      approvalId: "a1",
    });
    expect(firstPart(stateOf(...bodies, asked, started))).toMatchObject({
      state: "running",
      text: "",
    });
    expect(firstPart(stateOf(...bodies, started))).not.toHaveProperty("childSessionId");
  });

  test("of a sub-agent names the session to watch", () => {
    const child = { ...started, childSessionId: sessionId("child") };

    expect(firstPart(stateOf(...committed(reply), child))).toMatchObject({
      state: "running",
      childSessionId: "child",
    });
  });

  test("that runs shows its output and progress as they come", () => {
    const state = stateOf(...committed(reply), started);
    const id = partId("result");
    const lane = { lane: 1, item: "i2", head: 2 };
    const begin: Delta = {
      op: "begin_part",
      partId: id,
      kind: "tool_result",
      callId: call,
      tool: "search",
    };
    const opened = applied(
      [
        batch(
          [
            { type: "attempt_started", author: "tool", callId: call, tool: "search" },
            ...deltas(begin, { op: "append_text", partId: id, chunk: "three " }),
          ],
          lane,
        ),
      ],
      state,
    );
    const told = applied(
      [
        batch(
          [
            { type: "tool_execution_update", callId: call, message: "half way" },
            ...deltas({ op: "append_text", partId: id, chunk: "hits" }),
          ],
          { ...lane, first: 3 },
        ),
      ],
      opened,
    );
    const part = {
      kind: "tool_result" as const,
      id,
      callId: call,
      tool: "search",
      status: "ok" as const,
      text: "three hits",
    };
    const ended = applied(
      [batch(deltas({ op: "commit_part", partId: id, part }), { ...lane, first: 5 })],
      told,
    );

    expect(firstPart(opened)).toMatchObject({ state: "running", text: "three " });
    expect(firstPart(opened)).not.toHaveProperty("message");
    expect(firstPart(told)).toMatchObject({
      state: "running",
      text: "three hits",
      message: "half way",
    });
    expect(firstPart(ended)).toMatchObject({ state: "running", text: "three hits" });
    expect(project(ended).items.map(({ id: shown }) => shown)).toEqual(["i1"]);
  });

  test("is distinct from another that runs at the same time", () => {
    const both = item("i1", "model", [toolCall("c1"), toolCall("c2")]);
    const second = callId("c2");
    const starts = [
      started,
      { ...started, callId: second, itemId: itemId("i3"), lane: 2 } as const,
    ];
    const state = stateOf(...committed(both), ...starts);
    const id = partId("result");
    const lanes = [call, second].map((callId, at) => {
      const begin: Delta = {
        op: "begin_part",
        partId: id,
        kind: "tool_result",
        callId,
        tool: "search",
      };
      const said: Delta = { op: "append_text", partId: id, chunk: `output of ${callId}` };
      const opened = {
        type: "attempt_started" as const,
        author: "tool" as const,
        callId,
        tool: "search",
      };
      return batch([opened, ...deltas(begin, said)], { lane: at + 1, item: `i${at + 2}`, head: 3 });
    });
    const shown = applied(lanes, state);

    expect(project(shown).items[0]?.parts).toMatchObject([
      { callId: "c1", state: "running", text: "output of c1" },
      { callId: "c2", state: "running", text: "output of c2" },
    ]);
    expect(project(shown).items[0]).toBe(project(shown).items[0]);
  });

  const outcomes: readonly [ResultStatus, object][] = [
    ["ok", { state: "finished", output: "text", text: "text" }],
    ["failed", { state: "failed", message: "text" }],
    ["aborted", { state: "failed", message: "text" }],
    ["denied", { state: "denied", reason: "text" }],
    ["unknown", { state: "unknown", message: "text" }],
  ];
  test.each(outcomes)("with a result that is %s shows that", (status, shown) => {
    const state = stateOf(
      ...committed(reply, item("i2", "tool", [toolResult("c1", { status, text: "text" })])),
    );

    expect(firstPart(state)).toMatchObject(shown);
    expect(firstPart(state)).not.toHaveProperty("fault");
  });

  test("gives what its tool returned, rather than its text", () => {
    const state = stateOf(
      ...committed(
        reply,
        item("i2", "tool", [toolResult("c1", { output: { n: 3 }, text: "three" })]),
      ),
    );

    expect(firstPart(state)).toMatchObject({ state: "finished", output: { n: 3 }, text: "three" });
  });

  test("that was denied without a word has no reason", () => {
    const state = stateOf(
      ...committed(reply, item("i2", "tool", [toolResult("c1", { status: "denied" })])),
    );

    expect(firstPart(state)).toMatchObject({ state: "denied" });
    expect(firstPart(state)).not.toHaveProperty("reason");
  });

  test("with unusable arguments has failed, also once it is answered", () => {
    const fault = { code: "truncated" } as const;
    const broken: Part = {
      kind: "tool_call",
      id: partId("c1"),
      callId: call,
      tool: "search",
      raw: '{"q',
      fault,
      metadata: { m: 1 },
    };
    const cut = item("i1", "model", [broken]);
    const answer = item("i2", "tool", [toolResult("c1", { status: "failed", text: "not run" })]);

    expect(firstPart(stateOf(...committed(cut)))).toMatchObject({
      state: "failed",
      fault,
      message: "its arguments are not usable (truncated)",
      input: undefined,
      metadata: { m: 1 },
    });
    expect(firstPart(stateOf(...committed(cut, answer)))).toMatchObject({
      state: "failed",
      fault,
      message: "not run",
    });
  });

  test("keeps its own result when a later turn uses the id again", () => {
    const again = item("i3", "model", [toolCall("c1")]);
    const first = item("i2", "tool", [toolResult("c1", { text: "first" })]);
    const second = item("i4", "tool", [
      toolResult("c1", { text: "second" }),
      toolResult("c1", { text: "third" }),
    ]);
    const states = project(stateOf(...committed(reply, first, again, second))).items.map(
      ({ parts }) => parts[0],
    );

    expect(states).toMatchObject([{ text: "first" }, { text: "second" }]);
    expect(project(stateOf(...committed(first, again))).items[0]?.parts[0]).toMatchObject({
      state: "waiting",
    });
  });

  test("that has its result is not affected by what else is under way", () => {
    const state = stateOf(
      ...committed(reply),
      started,
      ...committed(item("i2", "tool", [toolResult("c1", { text: "done" })])),
    );

    expect(firstPart(state)).toMatchObject({ state: "finished", text: "done" });
  });
});

describe("live items", () => {
  const id = partId("p1");

  test("stand behind the finished ones and grow", () => {
    const state = applied([
      ...facts(1, ...committed(item("i0", "user", [text("hi")]))),
      batch([
        opening,
        ...deltas(
          { op: "begin_part", partId: id, kind: "text" },
          { op: "append_text", partId: id, chunk: "Hel" },
        ),
      ]),
    ]);

    expect(project(state).items).toMatchObject([
      { id: "i0", live: false },
      {
        id: "item_1",
        author: "model",
        live: true,
        parts: [{ kind: "text", id: "p1", live: true, text: "Hel" }],
      },
    ]);
    for (const key of ["stop", "stalledMs", "retry"])
      expect(project(state).items[1]).not.toHaveProperty(key);
  });

  test("show that nothing moves, and that they will be replaced", () => {
    const cause = { code: "overloaded", message: "busy" };
    const state = applied([
      batch([
        opening,
        { type: "stalled", silentMs: 9 },
        { type: "retry_scheduled", cause, delayMs: 5 },
      ]),
    ]);

    expect(project(state).items[0]).toMatchObject({
      live: true,
      stalledMs: 9,
      retry: { cause, delayMs: 5 },
    });
  });

  const open: readonly [string, Delta, readonly Delta[], object][] = [
    [
      "reasoning",
      { op: "begin_part", partId: id, kind: "reasoning" },
      [{ op: "append_text", partId: id, chunk: "hm" }],
      { kind: "reasoning", text: "hm" },
    ],
    [
      "a call",
      { op: "begin_part", partId: id, kind: "tool_call", callId: call, tool: "search" },
      [{ op: "append_text", partId: id, chunk: '{"q' }],
      {
        kind: "tool_call",
        callId: "c1",
        tool: "search",
        raw: '{"q',
        input: undefined,
        state: "writing",
      },
    ],
    [
      "a result",
      { op: "begin_part", partId: id, kind: "tool_result", callId: call, tool: "search" },
      [{ op: "append_text", partId: id, chunk: "out" }],
      { kind: "text", text: "out" },
    ],
    [
      "media",
      { op: "begin_part", partId: id, kind: "media", mediaType: "audio/wav" },
      [{ op: "append_bytes", partId: id, chunk: Uint8Array.of(1, 2) }],
      { kind: "media", mediaType: "audio/wav", size: 2 },
    ],
    [
      "media before its bytes",
      { op: "begin_part", partId: id, kind: "media", mediaType: "audio/wav" },
      [],
      { kind: "media", size: 0 },
    ],
    [
      "a file",
      { op: "begin_part", partId: id, kind: "file", name: "a", mediaType: "b/c" },
      [{ op: "append_bytes", partId: id, chunk: Uint8Array.of(1) }],
      { kind: "file", name: "a", mediaType: "b/c", size: 1 },
    ],
    [
      "a file before its bytes",
      { op: "begin_part", partId: id, kind: "file", name: "a", mediaType: "b/c" },
      [],
      { kind: "file", size: 0 },
    ],
    [
      "a value",
      { op: "begin_part", partId: id, kind: "structured" },
      [{ op: "replace_structured", partId: id, value: { a: 1 } }],
      { kind: "structured", value: { a: 1 } },
    ],
    [
      "custom content",
      { op: "begin_part", partId: id, kind: "custom", name: "chart" },
      [{ op: "replace_structured", partId: id, value: 3 }],
      { kind: "custom", name: "chart", value: 3 },
    ],
  ];
  test.each(open)("show %s while it is written", (_, begin, rest, shown) => {
    const state = applied([
      batch([
        opening,
        ...deltas(begin, ...rest, { op: "set_metadata", partId: id, metadata: { m: 1 } }),
      ]),
    ]);

    expect(firstPart(state)).toMatchObject({ ...shown, id: "p1", live: true, metadata: { m: 1 } });
    expect(firstPart(applied([batch([opening, ...deltas(begin)])]))).not.toHaveProperty("metadata");
  });

  test("show a result that no call here asked for as the text it is", () => {
    const result = toolResult("c9", { id, text: "found" });
    const state = applied([
      batch([opening, ...deltas({ op: "commit_part", partId: id, part: result })]),
    ]);

    expect(firstPart(state)).toEqual({ kind: "text", id: "p1", live: false, text: "found" });
  });

  test("show a part that is committed in them as finished", () => {
    const state = applied([
      batch([opening, ...deltas({ op: "commit_part", partId: id, part: text("whole") })]),
    ]);

    expect(project(state).items[0]).toMatchObject({
      live: true,
      parts: [{ kind: "text", live: false, text: "whole" }],
    });
  });
});

test("what has not changed is the same object", () => {
  const id = partId("p2");
  const before = applied([
    ...facts(
      1,
      ...committed(
        item("i0", "user", [text("hi")]),
        item("i1", "model", [toolCall("c1"), text("x", "p9")]),
      ),
    ),
    batch(
      [
        opening,
        ...deltas(
          { op: "commit_part", partId: partId("p1"), part: text("done") },
          { op: "begin_part", partId: id, kind: "text" },
        ),
      ],
      { head: 2 },
    ),
  ]);
  const after = applied(
    [batch(deltas({ op: "append_text", partId: id, chunk: "more" }), { first: 3 })],
    before,
  );
  const answered = applied(facts(3, ...committed(item("i2", "tool", [toolResult("c1")]))), after);
  const [one, two, three] = [project(before), project(after), project(answered)];

  expect(two.items[0]).toBe(one.items[0]);
  expect(two.items[1]).toBe(one.items[1]);
  expect(two.items[2]?.parts[0]).toBe(one.items[2]?.parts[0]);
  expect(two.items[2]?.parts[1]).not.toBe(one.items[2]?.parts[1]);
  expect(project(after).items[2]?.parts[1]).toBe(two.items[2]?.parts[1]);
  expect(three.items[1]).not.toBe(two.items[1]);
  expect(three.items[1]?.parts[1]).toBe(two.items[1]?.parts[1]);
});
