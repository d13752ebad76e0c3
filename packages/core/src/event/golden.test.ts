import { join } from "node:path";
import { expect, test } from "vitest";
import { goldenFile, sectionsWithoutCase } from "../../../../tests/kit/golden.ts";
import type { Delta } from "../delta/delta.ts";
import { callId, inputId, partId } from "../ids.ts";
import { call, emit, say, stall, think } from "../reference/script.ts";
import type { ScriptedPart } from "../reference/script.ts";
import { scriptedModel } from "../reference/scripted-model.ts";
import { Recording } from "../testing/recording.ts";

/** The sequences that the source documents show, recorded message by message and kept in one file. */
const names = [
  "text",
  "text-and-call",
  "parallel-calls",
  "reasoning",
  "replaced-item",
  "aborted-text",
  "tool-turn",
] as const;
const path = join(import.meta.dirname, "golden.txt");
const matchGolden = goldenFile(path, names);

function expectGolden(recording: Recording, name: (typeof names)[number]): void {
  matchGolden(name, recording.text());
}

test("every golden has a recording", () => {
  expect(sectionsWithoutCase(path, names)).toEqual([]);
});

/** A scripted reply whose text comes in just these pieces. */
function pieces(sizes: readonly number[], ...parts: readonly ScriptedPart[]): AsyncIterable<Delta> {
  return scriptedModel([parts], { chunk: sizes }).stream({ transcript: [] });
}

async function* listed(...deltas: readonly Delta[]): AsyncGenerator<Delta> {
  yield* deltas;
}

test("a text is one part, whatever the pieces it comes in", async () => {
  const recording = await Recording.begin();
  const open = await recording.write(pieces([4, 6, 4, 3], say("The answer is 42.")));
  await recording.commit(open, { stop: "end", evidence: "stop" });
  await recording.finish("end", "completed");

  expectGolden(recording, "text");
});

test("a text and then a call keep their order", async () => {
  const recording = await Recording.begin();
  const parts = [say("I'll read that file."), call("fs.read_file", { path: "src/main.rs" })];
  const open = await recording.write(pieces([20, 8], ...parts));
  await recording.commit(open, { stop: "tools", evidence: "tool_calls" });

  expectGolden(recording, "text-and-call");
});

test("parallel calls that are interleaved by index stay apart", async () => {
  const [one, two] = [partId("tc0"), partId("tc1")];
  const recording = await Recording.begin();
  const open = await recording.write(
    listed(
      {
        op: "begin_part",
        partId: one,
        kind: "tool_call",
        callId: callId("call-1"),
        tool: "fs.read_file",
      },
      {
        op: "begin_part",
        partId: two,
        kind: "tool_call",
        callId: callId("call-2"),
        tool: "shell.exec",
      },
      { op: "append_text", partId: one, chunk: '{"path":' },
      { op: "append_text", partId: two, chunk: '{"exec' },
      { op: "append_text", partId: one, chunk: '"a.rs"}' },
      { op: "append_text", partId: two, chunk: 'utable":"ls"}' },
      {
        op: "commit_part",
        partId: one,
        part: {
          kind: "tool_call",
          id: one,
          callId: callId("call-1"),
          tool: "fs.read_file",
          raw: '{"path":"a.rs"}',
          input: { path: "a.rs" },
        },
      },
      {
        op: "commit_part",
        partId: two,
        part: {
          kind: "tool_call",
          id: two,
          callId: callId("call-2"),
          tool: "shell.exec",
          raw: '{"executable":"ls"}',
          input: { executable: "ls" },
        },
      },
    ),
  );
  await recording.commit(open, { stop: "tools", evidence: "tool_calls" });

  expectGolden(recording, "parallel-calls");
});

test("reasoning is a part of its own before the answer", async () => {
  const recording = await Recording.begin();
  const thought = think("The user wants to know... I should consider...", {
    signature: "c2lnbmVk",
  });
  const open = await recording.write(pieces([24], thought, say("The answer is 42.")));
  await recording.commit(open, { stop: "end", evidence: "end_turn" });

  expectGolden(recording, "reasoning");
});

test("an item that is replaced discards what was streamed", async () => {
  const recording = await Recording.begin();
  const open = await recording.write(pieces([9], say("Raw text first.")));
  const id = partId("p1");
  const parts = [
    { kind: "text" as const, id, text: "Raw text first.\n\n## Sources\n1. The atlas" },
  ];
  await recording.commit(open, { stop: "end" }, "item_replaced", {
    id: open.id,
    author: "model",
    parts,
    stop: "end",
  });

  expectGolden(recording, "replaced-item");
});

test("a stop in mid-text keeps what came and says so", async () => {
  const recording = await Recording.begin();
  const stop = new AbortController();
  const id = partId("p1");
  const script = [
    emit(
      { op: "begin_part", partId: id, kind: "text" },
      { op: "append_text", partId: id, chunk: "Let " },
      { op: "append_text", partId: id, chunk: "me think" },
    ),
    stall(),
  ];
  const reply = scriptedModel([script]).stream({ transcript: [], signal: stop.signal });
  const open = await recording.write(firstOf(reply, 3));
  await recording.say({
    type: "input_accepted",
    inputId: inputId("input_1"),
    input: { kind: "abort", reason: "stop button" },
  });
  stop.abort();
  const { stop: reason } = await reply.result;
  await recording.commit(open, {
    stop: "aborted",
    cause: { code: "aborted", message: "stopped by a person" },
  });
  await recording.finish("aborted", "aborted");

  expect(reason).toBe("aborted");
  expectGolden(recording, "aborted-text");
});

test("a turn with a tool is told in the order of the coding-agent document", async () => {
  const recording = await Recording.begin();
  const [said, called] = [partId("p1"), partId("p2")];
  const path = { path: "src/config.ts" };
  const asked = { callId: callId("call_1"), tool: "read" };
  const text = "Let me check the configuration file first.";
  const raw = '{"path":"src/config.ts"}';
  const reply = await recording.write(
    listed(
      { op: "begin_part", partId: said, kind: "text" },
      { op: "append_text", partId: said, chunk: text },
      { op: "commit_part", partId: said, part: { kind: "text", id: said, text } },
      { op: "begin_part", partId: called, kind: "tool_call", ...asked },
      { op: "append_text", partId: called, chunk: '{"path":' },
      { op: "append_text", partId: called, chunk: '"src/config.ts"}' },
      {
        op: "commit_part",
        partId: called,
        part: { kind: "tool_call", id: called, ...asked, raw, input: path },
      },
    ),
  );
  await recording.commit(reply, { stop: "tools", evidence: "tool_calls" });
  const id = partId("result");
  const output = "export const port = 3000;";
  const part = { kind: "tool_result" as const, id, ...asked, status: "ok" as const, text: output };
  const result = await recording.write(
    listed(
      { op: "begin_part", partId: id, kind: "tool_result", ...asked },
      { op: "append_text", partId: id, chunk: output },
      { op: "commit_part", partId: id, part },
    ),
    { lane: 1, call: { ...asked, input: path } },
  );
  await recording.commit(result, { stop: "end" });
  await recording.finish("tools", undefined);

  const told = recording
    .text()
    .trimEnd()
    .split("\n")
    .flatMap((line) =>
      (JSON.parse(line) as { narration: { type: string }[] }).narration.map(({ type }) => type),
    );
  const document = [
    "assistant_text_delta",
    "tool_call_started",
    "tool_call_arguments_delta",
    "tool_call_arguments_delta",
    "tool_call_ready",
    "tool_execution_started",
    "tool_execution_finished",
    "turn_finished",
  ];
  expect(told.filter((type) => document.includes(type))).toEqual(document);
  expectGolden(recording, "tool-turn");
});

async function* firstOf<T>(source: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  // Without leaving the source: leaving would be a stop of its own.
  const iterator = source[Symbol.asyncIterator]();
  for (let taken = 0; taken < count; taken += 1) {
    const next = await iterator.next();
    if (next.done === true) return;
    yield next.value;
  }
}
