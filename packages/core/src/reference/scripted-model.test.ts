import { describe, expect, it } from "vitest";
import type { Delta } from "../delta/delta.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import { partsOf } from "../delta/commit.ts";
import { foldAll } from "../delta/fold.ts";
import { itemId, partId } from "../ids.ts";
import type { Model, ModelRequest, ModelStream, Reply } from "../ports/model.ts";
import { manualClock } from "./manual-clock.ts";
import { call, callRaw, emit, fail, say, stall, think, truncate } from "./script.ts";
import type { ScriptedReply } from "./script.ts";
import { scriptedModel } from "./scripted-model.ts";
import type { ScriptedModelOptions } from "./scripted-model.ts";

const request: ModelRequest = { transcript: [] };

function ask(reply: ScriptedReply, options?: ScriptedModelOptions): ModelStream {
  return scriptedModel([reply], options).stream(request);
}

async function collect(stream: AsyncIterable<Delta>): Promise<readonly Delta[]> {
  const deltas: Delta[] = [];
  for await (const delta of stream) deltas.push(delta);
  return deltas;
}

async function chunksOf(
  reply: ScriptedReply,
  options?: ScriptedModelOptions,
): Promise<readonly string[]> {
  const deltas = await collect(ask(reply, options));
  return deltas.flatMap((delta) => (delta.op === "append_text" ? [delta.chunk] : []));
}

describe("a scripted reply", () => {
  it("text comes one character at a time (S2 110), begun and committed", async () => {
    expect(await collect(ask([say("hé😀")]))).toStrictEqual([
      { op: "begin_part", partId: "p1", kind: "text" },
      { op: "append_text", partId: "p1", chunk: "h" },
      { op: "append_text", partId: "p1", chunk: "é" },
      { op: "append_text", partId: "p1", chunk: "😀" },
      { op: "commit_part", partId: "p1", part: { kind: "text", id: "p1", text: "hé😀" } },
    ]);
  });

  it("a call is its start and one delta with the whole arguments (S2 111)", async () => {
    const deltas = await collect(ask([call("add", { a: 1, b: [2] })]));

    expect(deltas).toStrictEqual([
      { op: "begin_part", partId: "p1", kind: "tool_call", callId: "call_1", tool: "add" },
      { op: "append_text", partId: "p1", chunk: '{"a":1,"b":[2]}' },
      {
        op: "commit_part",
        partId: "p1",
        part: {
          kind: "tool_call",
          id: "p1",
          callId: "call_1",
          tool: "add",
          raw: '{"a":1,"b":[2]}',
          input: { a: 1, b: [2] },
        },
      },
    ]);
  });

  it("the scripted turn comes back unchanged, after its last delta (S2 109, 112)", async () => {
    const stream = ask([
      think("hm", { signature: "s" }),
      say("ok"),
      call("add", {}, { callId: "c" }),
    ]);

    const reply = await stream.result;

    expect(reply).toStrictEqual({
      model: "scripted/model",
      stop: "tools",
      evidence: "script",
      parts: [
        { kind: "reasoning", id: "p1", text: "hm", opaque: { signature: "s" } },
        { kind: "text", id: "p2", text: "ok" },
        { kind: "tool_call", id: "p3", callId: "c", tool: "add", raw: "{}", input: {} },
      ],
    });
    expect(partsOf(foldAll(emptyDraft(), await collect(stream)))).toStrictEqual(reply.parts);
  });

  it("words alone end as end, and an empty reply is whole too", async () => {
    expect(await ask([say("x")]).result).toMatchObject({ stop: "end", evidence: "script" });
    expect(await ask([]).result).toMatchObject({ stop: "end", parts: [] });
    expect(await ask([say("")]).result).toMatchObject({ stop: "end", parts: [{ text: "" }] });
  });

  it("argument text goes through to the letter, good or bad", async () => {
    const { parts, stop } = await ask([callRaw("add", '{"a":1,"a":2}')]).result;

    expect(stop).toBe("tools");
    expect(parts[0]).toMatchObject({ raw: '{"a":1,"a":2}', fault: { code: "duplicate_key" } });
    expect(parts[0]).not.toHaveProperty("input");
  });

  it("calls are numbered over all replies, so no two are the same", async () => {
    const model = scriptedModel([[call("a", {}), call("b", {})], [call("c", {})]]);

    const replies = [await model.stream(request).result, await model.stream(request).result];

    const ids = replies.flatMap(({ parts }) =>
      parts.map((part) => "callId" in part && part.callId),
    );
    expect(ids).toStrictEqual(["call_1", "call_2", "call_3"]);
  });

  it("usage stands on the reply, whole or cut", async () => {
    const usage = { inputTokens: 3, outputTokens: 2, cachedTokens: 1 };

    expect(await ask([say("x"), { usage }]).result).toHaveProperty("usage", usage);
    expect(await ask([{ usage }, truncate()]).result).toHaveProperty("usage", usage);
  });

  it("the model's id is on it and on its replies", async () => {
    const model = scriptedModel([[say("x")]], { id: "other/model" });

    expect(model.id).toBe("other/model");
    expect((await model.stream(request).result).model).toBe("other/model");
  });
});

describe("a scripted function", () => {
  const dice = scriptedModel(({ transcript }) =>
    transcript.length < 3 ? [call("roll", {})] : [say(`${transcript.length} items`)],
  );

  it("answers every request from its transcript, whichever model object is asked", async () => {
    const first = await dice.stream(request).result;
    const item = { ...first, id: itemId("i1"), author: "model" } as const;
    const later: ModelRequest = { transcript: [item, item, item] };

    expect(first).toMatchObject({ stop: "tools", parts: [{ tool: "roll" }] });
    expect((await dice.stream(later).result).parts).toMatchObject([{ text: "3 items" }]);
    expect((await dice.stream(later).result).parts).toMatchObject([{ text: "3 items" }]);
  });

  it("numbers calls after those of the transcript, so a restart repeats no id", async () => {
    const rolls = (): Model => scriptedModel(() => [call("roll", {})]);
    const first = await rolls().stream(request).result;
    const transcript = [{ ...first, id: itemId("i1"), author: "model" } as const];

    const restarted = await rolls().stream({ transcript }).result;

    expect(first.parts).toMatchObject([{ callId: "call_1" }]);
    expect(restarted.parts).toMatchObject([{ callId: "call_2" }]);
  });
});

describe("chunks", () => {
  it("whole gives each text in one piece, and character gives arguments by character too", async () => {
    expect(await chunksOf([say("hello"), call("f", {})], { chunk: "whole" })).toStrictEqual([
      "hello",
      "{}",
    ]);
    expect(await chunksOf([call("f", {})], { chunk: "character" })).toStrictEqual(["{", "}"]);
  });

  it("sizes are taken in turn, over and over", async () => {
    expect(await chunksOf([say("abcdefgh")], { chunk: [1, 3] })).toStrictEqual([
      "a",
      "bcd",
      "e",
      "fgh",
    ]);
    expect(await chunksOf([say("abc")], { chunk: [100] })).toStrictEqual(["abc"]);
    expect(await chunksOf([say("abc")], { chunk: [0] })).toStrictEqual(["a", "b", "c"]);
    expect(await chunksOf([say("abc")], { chunk: [] })).toStrictEqual(["a", "b", "c"]);
  });

  it("no chunk ends in half a character, whatever the sizes", async () => {
    const words = "😀a😀😀b\u0301😀";
    for (const chunk of [[1], [2], [3], [1, 2], [5, 1]]) {
      const pieces = await chunksOf([say(words)], { chunk });

      expect(pieces.every((piece) => piece.isWellFormed() && piece !== "")).toBe(true);
      expect(pieces.join("")).toBe(words);
    }
  });
});

describe("time", () => {
  it("a delay is waited on the given clock before each chunk, and nowhere else", async () => {
    const clock = manualClock();
    const stream = ask([say("abc"), say("")], { clock, delayMs: 100 });
    const times: string[] = [];
    const reading = (async () => {
      for await (const delta of stream) times.push(`${delta.op} at ${clock.now()}`);
    })();

    await clock.advance(1_000);
    await reading;

    expect(times).toStrictEqual([
      "begin_part at 0",
      "append_text at 100",
      "append_text at 200",
      "append_text at 300",
      "commit_part at 300",
      "begin_part at 300",
      "commit_part at 300",
    ]);
  });

  it("a stall lasts for its milliseconds", async () => {
    const clock = manualClock();
    const stream = ask([say("a"), stall(5_000), say("b")], { clock });
    let reply: Reply | undefined;
    void stream.result.then((settled) => (reply = settled));

    await clock.advance(4_999);
    expect(reply).toBeUndefined();
    await clock.advance(1);

    expect(reply).toMatchObject({ stop: "end", parts: [{ text: "a" }, { text: "b" }] });
  });

  it("a stall without a time lasts until it is aborted, and keeps what came", async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const stream = scriptedModel([[say("a"), stall(), say("b")]], { clock }).stream({
      ...request,
      signal: stop.signal,
    });
    await clock.advance(24 * 3_600_000);
    expect(clock.sleepers()).toBe(1);

    stop.abort();

    expect(await stream.result).toMatchObject({ stop: "aborted", parts: [{ text: "a" }] });
    expect(clock.sleepers()).toBe(0);
  });

  it("an abort between two chunks keeps the first and leaves the part cut", async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const model = scriptedModel([[call("f", { a: 1 })]], { clock, delayMs: 10, chunk: [3] });
    const stream = model.stream({ ...request, signal: stop.signal });
    await clock.advance(10);

    stop.abort();

    const { stop: ended, parts } = await stream.result;
    expect(ended).toBe("aborted");
    expect(parts).toMatchObject([{ raw: '{"a', fault: { code: "truncated" } }]);
  });
});

describe("endings", () => {
  it("a truncated reply has no evidence, and keeps what came before and nothing after", async () => {
    const reply = await ask([say("half"), truncate(), say("never")]).result;

    expect(reply).toMatchObject({ stop: "truncated", cause: { code: "truncated" } });
    expect(reply).not.toHaveProperty("evidence");
    expect(reply.parts).toMatchObject([{ text: "half" }]);
  });

  it("a failed reply has its cause", async () => {
    const reply = await ask([say("x"), fail("overloaded", "try later", { retryable: true })])
      .result;

    expect(reply).toMatchObject({
      stop: "failed",
      cause: { code: "overloaded", message: "try later", retryable: true },
    });
  });

  it("any ending can be scripted", async () => {
    const reply = await ask([say("x"), { end: { stop: "length", evidence: { max: 1 } } }]).result;

    expect(reply).toMatchObject({ stop: "length", evidence: { max: 1 } });
  });

  it("deltas can be given as they are, also illegal ones, which end the reply as failed", async () => {
    const begin: Delta = { op: "begin_part", partId: partId("x"), kind: "text" };
    const stream = ask([say("ok"), emit(begin, begin), say("never")]);

    expect(await stream.result).toMatchObject({ stop: "failed", cause: { code: "part_exists" } });
    expect(partsOf(foldAll(emptyDraft(), await collect(stream)))).toMatchObject([
      { text: "ok" },
      { text: "" },
    ]);
  });

  it("a script that is used up ends as failed, and so does every request after it", async () => {
    const model = scriptedModel([[say("only")]]);
    await model.stream(request).result;

    const replies = [await model.stream(request).result, await model.stream(request).result];

    for (const reply of replies)
      expect(reply).toMatchObject({
        stop: "failed",
        cause: { code: "script_exhausted" },
        parts: [],
      });
  });
});

describe("replies made from the request", () => {
  it("a function sees what the model was asked", async () => {
    const model = scriptedModel([({ instructions }) => [say(`told: ${instructions}`)]]);

    const reply = await model.stream({ ...request, instructions: "be brief" }).result;

    expect(reply.parts).toMatchObject([{ text: "told: be brief" }]);
  });

  it("a function that throws ends its reply as failed, and the next one goes on", async () => {
    const broken = (): never => {
      throw new Error("in the script");
    };
    const model = scriptedModel([broken, [say("x")]]);

    expect(await model.stream(request).result).toMatchObject({
      stop: "failed",
      cause: { code: "model_failed", message: "in the script" },
    });
    expect(await model.stream(request).result).toMatchObject({ stop: "end" });
  });

  it("requests at the same time get their replies in the order in which they were made", async () => {
    const model = scriptedModel([[say("first")], [say("second")]]);

    const streams = [model.stream(request), model.stream(request)];
    const replies = await Promise.all(streams.toReversed().map(async ({ result }) => await result));

    expect(replies.map(({ parts }) => parts[0])).toMatchObject([
      { text: "second" },
      { text: "first" },
    ]);
  });
});

describe("determinism (S2 113)", () => {
  const script: readonly ScriptedReply[] = [
    [think("hm"), say("héllo 😀"), call("add", { a: [1, 2] }), callRaw("bad", "{")],
    [say("done"), truncate()],
  ];
  async function told(model: Model): Promise<string> {
    const heard: unknown[] = [];
    for (const _ of script) {
      const stream = model.stream(request);
      heard.push(await collect(stream), await stream.result);
    }
    return JSON.stringify(heard);
  }

  it("a script gives the same deltas and replies 1,000 times", async () => {
    const times = 1_000;
    const heard = new Set<string>();
    for (let time = 0; time < times; time += 1)
      heard.add(await told(scriptedModel(script, { chunk: [2, 1, 3] })));

    expect(heard.size).toBe(1);
    console.log(`count: scripted model is deterministic, ${times} runs, 0 failures`);
  });

  it("how a text is cut changes no reply", async () => {
    const replies = await Promise.all(
      (["whole", "character", [1], [2, 7]] as const).map(async (chunk) => {
        const { result } = scriptedModel(script, { chunk }).stream(request);
        return await result;
      }),
    );

    for (const reply of replies) expect(reply).toStrictEqual(replies[0]);
  });
});
