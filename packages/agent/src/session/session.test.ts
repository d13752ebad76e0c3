import { itemId, noUsage, partId, sessionId } from "@millrace/core/writing";
import type { Item, Model, RunEvent } from "@millrace/core";
import type { Update } from "@millrace/core/writing";
import {
  call,
  callRaw,
  countingIds,
  fail,
  say,
  scriptedModel,
  stall,
  trace,
} from "@millrace/core/testing";
import { memorySessionStore } from "@millrace/core/memory";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";

const add = defineTool({
  name: "add",
  input: z.object({ a: z.number(), b: z.number() }),
  effect: "pure",
  run: ({ a, b }) => ({ sum: a + b }),
});

const refund = defineTool({
  name: "refund",
  description: "Gives a customer's money back",
  input: z.object({ order: z.string(), cents: z.number().int() }),
  approve: ({ cents }) => (cents > 5_000 ? "ask" : "allow"),
  run: ({ order }) => `refunded ${order}`,
});

const prompt = { a: 1, b: 2 };

function types(events: readonly RunEvent[]): readonly string[] {
  return events.map((event) => event.type);
}

/** The results in an item, each with the id of its call. */
function resultsOf({ parts }: Item): readonly string[] {
  return parts.flatMap((part) =>
    part.kind === "tool_result" ? [`${part.callId}=${part.text}`] : [],
  );
}

describe("a run", () => {
  it("answers with the text of the model", async () => {
    const agent = defineAgent({ model: scriptedModel([[say("Hello.")]]) });

    expect(await agent.run("hi").text()).toBe("Hello.");
  });

  it("carries out calls and gives the results back in the order of the calls", async () => {
    const model = scriptedModel([
      [call("slow", {}), call("add", { a: 1, b: 2 }), call("add", { a: 3, b: 4 })],
      (request) => [say(request.transcript.flatMap(resultsOf).join(" "))],
    ]);
    const added = Promise.withResolvers<void>();
    const slow = defineTool({
      name: "slow",
      input: z.object({}),
      run: async () => {
        await added.promise;
        return "first";
      },
    });
    let sums = 0;
    const sum = defineTool({
      name: "add",
      input: z.object({ a: z.number(), b: z.number() }),
      run: ({ a, b }) => {
        sums += 1;
        if (sums === 2) added.resolve();
        return a + b;
      },
    });

    const result = await defineAgent({ model, tools: [slow, sum] }).run("sum").result;

    // The first call is the last to end.
    expect(result).toMatchObject({
      outcome: "completed",
      text: "call_1=first call_2=3 call_3=7",
    });
  });

  it("calls a tool by a name as people write it", async () => {
    const read = defineTool({ name: "fs.read_file", input: z.object({}), run: () => "text" });
    const model = scriptedModel([[call("fs.read_file", {})], [say("Read.")]]);
    const policy = [{ tool: "fs.*", policy: "allow" }] as const;
    await using session = await defineAgent({ model, tools: [read], policy }).open();

    expect(await session.send("read").text()).toBe("Read.");
    expect(session.transcript[2]?.parts).toMatchObject([{ tool: "fs.read_file", text: "text" }]);
  });

  it("can be iterated as often as wanted, from its beginning each time", async () => {
    const run = defineAgent({ model: scriptedModel([[say("Hello.")]]) }).run("hi");

    const tell = async (): Promise<string> => {
      let story = "";
      for await (const event of run.narrate()) {
        if (event.type === "assistant_text_delta") story += event.text;
        if (event.type === "run_finished") story += "|";
      }
      return story;
    };
    const first = await tell();
    await run.result;

    expect(first).toBe("Hello.|");
    expect(await tell()).toBe("Hello.|");
  });

  it("continues when its iteration ends", async () => {
    const run = defineAgent({ model: scriptedModel([[say("Hello.")]]) }).run("hi");

    for await (const event of run) if (event.type === "run_started") break;

    expect((await run.result).outcome).toBe("completed");
  });

  it("fails with the cause when the model does", async () => {
    const model = scriptedModel([[fail("overloaded", "too busy")]]);

    const result = await defineAgent({ model }).run("hi").result;

    expect(result).toMatchObject({
      outcome: "failed",
      error: { code: "provider_failed", message: "too busy" },
    });
  });

  it("retries after a retryable failure, and publishes the retry", async () => {
    const seen: RunEvent[] = [];
    const model = scriptedModel([
      [say("Hel"), fail("overloaded", "too busy", { retryable: true })],
      [say("Hello.")],
    ]);
    const agent = defineAgent({
      model,
      retry: { attempts: 3, baseMs: 1, capMs: 2 },
      observers: [(event) => seen.push(event)],
    });

    const result = await agent.run("hi").result;

    expect(result).toMatchObject({ outcome: "completed", text: "Hello." });
    expect(types(seen).filter((type) => type === "attempt_started")).toHaveLength(2);
    expect(types(seen)).toContain("retry_scheduled");
    expect(types(seen).filter((type) => type === "usage_reported")).toHaveLength(2);
  });

  it("rejects a wait for an event that does not come", async () => {
    const run = defineAgent({ model: scriptedModel([[say("Hello.")]]) }).run("hi");

    await expect(run.until("approval_requested")).rejects.toMatchObject({ code: "refused" });
  });
});

describe("a call", () => {
  const answered = async (model: ReturnType<typeof scriptedModel>): Promise<string> => {
    await using session = await defineAgent({ model, tools: [add, refund] }).open();
    await session.send("go").result;
    return trace(session.transcript);
  };

  it("of an unknown tool is denied so that the model can mend it", async () => {
    const story = await answered(scriptedModel([[call("Add", prompt)], [say("ok")]]));

    expect(story).toContain('"status":"denied"');
    expect(story).toContain("add");
  });

  it("with input of the wrong shape is answered with what is wrong", async () => {
    const story = await answered(scriptedModel([[call("add", { a: "one" })], [say("ok")]]));

    expect(story).toContain('"status":"failed"');
    expect(story).toContain("a:");
  });

  it("with broken arguments never runs", async () => {
    let ran = 0;
    // Its schema takes anything, so that only the broken arguments can be why it does not run.
    const any = defineTool({ name: "add", input: z.object({}).catch({}), run: () => (ran += 1) });
    const seen: RunEvent[] = [];
    const agent = defineAgent({
      model: scriptedModel([[callRaw("add", '{"a":1,')], [say("ok")]]),
      tools: [any],
      observers: [(event) => seen.push(event)],
    });
    await using session = await agent.open();
    await session.send("sum").result;

    expect(ran).toBe(0);
    expect(types(seen)).not.toContain("tool_execution_started");
    expect(session.transcript[2]?.parts).toMatchObject([{ status: "failed", synthetic: true }]);
  });

  it("that needs an approval is denied without an ask function", async () => {
    const model = scriptedModel([[call("refund", { order: "A1", cents: 9_000 })], [say("ok")]]);
    const seen: RunEvent[] = [];
    const agent = defineAgent({ model, tools: [refund], observers: [(event) => seen.push(event)] });

    const result = await agent.run("refund A1").result;

    expect(result.outcome).toBe("completed");
    expect(types(seen)).toContain("approval_resolved");
    expect(types(seen)).not.toContain("tool_execution_started");
  });

  it("that needs an approval is passed to the ask function", async () => {
    const model = scriptedModel([[call("refund", { order: "A1", cents: 9_000 })], [say("ok")]]);
    const seen: RunEvent[] = [];
    const agent = defineAgent({ model, tools: [refund], observers: [(event) => seen.push(event)] });

    await agent.run("refund A1", {
      ask: (approval) => (approval.input.cents === 9_000 ? "allow" : "deny"),
    }).result;

    expect(types(seen)).toContain("tool_execution_finished");
  });
});

describe("a session", () => {
  it("waits for an approval, and continues with the answer", async () => {
    const model = scriptedModel([[call("refund", { order: "A1", cents: 9_000 })], [say("Done.")]]);
    await using session = await defineAgent({ model, tools: [refund] }).open();

    const run = session.send("refund order A1");
    const ask = await run.until("approval_requested");
    expect(session.status).toBe("paused");
    const denied = session.deny(ask.approvalId, "not today");
    await run.result;

    expect(await denied.accepted).toStrictEqual({ accepted: true });
    expect(ask).toMatchObject({ tool: "refund", input: { cents: 9_000 } });
    expect(trace(session.transcript)).toContain("not today");
    expect(await session.allow(ask.approvalId).accepted).toMatchObject({ accepted: false });
  });

  it("takes a steer at the next boundary, and a second prompt after the end", async () => {
    const model = scriptedModel([
      [call("add", prompt)],
      (request) => [say(`first: ${request.transcript.length}`)],
      (request) => [say(`second: ${request.transcript.length}`)],
    ]);
    await using session = await defineAgent({ model, tools: [add] }).open();

    const first = session.send("one");
    const second = session.send("two");
    session.steer("three");

    expect(await first.text()).toBe("first: 4");
    expect(await second.text()).toBe("second: 6");
    expect(session.queue).toStrictEqual([]);
  });

  it("stops a run and keeps its content so far", async () => {
    const model = scriptedModel([[say("Hello"), stall(), say(" world")], [say("again")]]);
    await using session = await defineAgent({ model }).open();
    const run = session.send("hi");
    for await (const event of run.narrate()) if (event.type === "assistant_text_delta") break;
    await new Promise((resolve) => setTimeout(resolve, 20));

    run.abort();
    run.abort();
    const result = await run.result;

    expect(result).toMatchObject({ outcome: "aborted", text: "Hello" });
    expect(session.transcript.at(-1)).toMatchObject({ author: "model", stop: "aborted" });
    expect(await session.send("more").text()).toBe("again");
  });

  it("aborts the signal that its model was given", async () => {
    const script = scriptedModel([[say("Hello"), stall()]]);
    const signals: (AbortSignal | undefined)[] = [];
    const model: Model = {
      id: script.id,
      stream: (request) => {
        signals.push(request.signal);
        return script.stream(request);
      },
    };
    await using session = await defineAgent({ model }).open();
    const run = session.send("hi");
    await run.until("content_delta");
    expect(signals.map((signal) => signal?.aborted)).toStrictEqual([false]);

    run.abort();
    await run.result;

    expect(signals.map((signal) => signal?.aborted)).toStrictEqual([true]);
  });

  it("takes a prompt back whose run has not begun", async () => {
    const model = scriptedModel([[stall()], [say("never")]]);
    await using session = await defineAgent({ model }).open();
    const first = session.send("one");
    const second = session.send("two");
    await first.until("turn_started");

    second.abort();

    expect((await second.result).outcome).toBe("aborted");
    first.abort();
    await first.result;
    expect(session.transcript.map((item) => item.author)).toStrictEqual(["user", "model"]);
  });

  it("waits for a client's answer to a call of a client's tool", async () => {
    const locate = defineTool({
      name: "locate",
      input: z.object({}),
      output: z.object({ city: z.string() }),
      run: "client",
    });
    const model = scriptedModel([[call("locate", {})], [say("Oslo it is.")]]);
    await using session = await defineAgent({ model, tools: [locate] }).open();

    const run = session.send("where am I?");
    const { callId } = await run.until("tool_execution_started");
    const wrong = await session.answer(callId, { town: "Oslo" }).accepted;
    const right = await session.answer(callId, { city: "Oslo" }).accepted;

    expect(wrong).toMatchObject({ accepted: false });
    expect(right).toStrictEqual({ accepted: true });
    expect(await run.text()).toBe("Oslo it is.");
    expect(session.queue).toStrictEqual([]);
  });

  it("is continued by the agent of another process", async () => {
    const store = memorySessionStore();
    const first = await defineAgent({ model: scriptedModel([[stall()]]) }).open({ id: "s", store });
    const run = first.send("hi");
    await run.until("turn_started");
    await first.close();
    expect(await run.result).toMatchObject({ outcome: "failed", error: { code: "closed" } });

    await using second = await defineAgent({ model: scriptedModel([[say("Back.")]]) }).open({
      id: "s",
      store,
    });

    expect(await second.run?.text()).toBe("Back.");
  });

  it("begins with the transcript it is given", async () => {
    const given: Item = {
      id: itemId("given"),
      author: "user",
      parts: [{ kind: "text", id: partId("p"), text: "My name is Ada." }],
      stop: "end",
    };
    const asked: string[] = [];
    const model = scriptedModel([
      ({ transcript }) => {
        asked.push(...transcript.map(({ id }) => id));
        return [say("Ada.")];
      },
    ]);
    await using session = await defineAgent({ model }).open({ transcript: [given] });

    expect(session.transcript).toStrictEqual([given]);
    expect(await session.send("What is my name?").text()).toBe("Ada.");
    expect(session.transcript.map(({ author }) => author)).toStrictEqual(["user", "user", "model"]);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toBe("given");
  });

  it("branches at any item", async () => {
    const model = scriptedModel([[say("one")], [say("two")], [say("three")]]);
    await using session = await defineAgent({ model }).open({ makeId: countingIds() });
    await session.send("a").result;
    const place = session.transcript.at(-1)?.id;
    await session.send("b").result;
    if (place === undefined) throw new Error("no item");

    await using branch = await session.fork(place);

    expect(branch.transcript).toHaveLength(2);
    expect(branch.status).toBe("idle");
    expect(await branch.send("c").text()).toBe("three");
    expect(session.transcript).toHaveLength(4);
  });
});

describe("limits", () => {
  const loop = (): ReturnType<typeof scriptedModel> =>
    scriptedModel(Array.from({ length: 50 }, (_, n) => [call("add", { a: n, b: 1 })]));

  it("end a run after its turns, with every call answered", async () => {
    await using session = await defineAgent({ model: loop(), tools: [add] }).open();

    const result = await session.send("go", { limits: { turns: 3 } }).result;

    expect(result).toMatchObject({ outcome: "limited", limit: "turns" });
    expect(session.transcript).toHaveLength(7);
  });

  it("end a run that repeats the same call", async () => {
    const model = scriptedModel(Array.from({ length: 50 }, () => [call("add", prompt)]));

    const result = await defineAgent({ model, tools: [add] }).run("go").result;

    expect(result).toMatchObject({ outcome: "limited", limit: "repeats" });
  });

  it("end a run before the request that would spend more tokens", async () => {
    let asked = 0;
    const reply = () => {
      asked += 1;
      return [
        call("add", { a: asked, b: 0 }),
        { usage: { ...noUsage, inputTokens: 40, outputTokens: 10 } },
      ];
    };
    const model = scriptedModel(Array.from({ length: 50 }, () => reply));

    const result = await defineAgent({ model, tools: [add] }).run("go", { limits: { tokens: 100 } })
      .result;

    expect(result).toMatchObject({ outcome: "limited", limit: "tokens" });
    expect(asked).toBe(2);
  });
});

describe("an answer with a shape", () => {
  const Receipt = z.object({ total: z.number() });

  it("is checked, and mended by the model", async () => {
    const model = scriptedModel([[say("about 12")], [say('{"total":12}')]]);

    const result = await defineAgent({ model }).run("how much?", { output: Receipt }).result;

    expect(result).toMatchObject({ outcome: "completed", output: { total: 12 } });
  });

  it("fails as invalid_output if the model can't", async () => {
    const model = scriptedModel([[say("a")], [say("b")], [say("c")], [say("d")]]);

    const result = await defineAgent({ model }).run("how much?", { output: Receipt }).result;

    expect(result).toMatchObject({ outcome: "failed", error: { code: "invalid_output" } });
  });
});

describe("an agent that writes by itself", () => {
  it("yields, writes whole replies, and writes by hand", async () => {
    const model = scriptedModel([[say("from a model")], [say("again")]]);
    const yielding = defineAgent({ respond: (run) => model.stream(run.request) });
    expect(await yielding.run("x").text()).toBe("from a model");

    const writing = defineAgent({
      async respond(run) {
        const item = await run.write(model.stream(run.request));
        if (item.stop === "end") await run.write("That was it.");
        await run.write(async (report) => {
          report.append("by ");
          report.append("hand");
          report.annotate({ sources: 3 });
        });
        await run.write((report) => {
          report.append("a long thought");
          void report.replace("short");
        });
      },
    });
    await using session = await writing.open();
    await session.send("x").result;

    expect(session.transcript.slice(1).map((item) => item.parts)).toMatchObject([
      [{ text: "again" }],
      [{ text: "That was it." }],
      [{ text: "by hand", metadata: { sources: 3 } }],
      [{ text: "short" }],
    ]);
    expect(session.transcript.slice(1).map(({ stop }) => stop)).toStrictEqual([
      "end",
      "end",
      "end",
      "end",
    ]);
  });

  it("ends an item where it yields commit_item, and begins another one behind it", async () => {
    const text = (id: string, chunk: string): readonly Update[] => [
      { op: "begin_part", partId: partId(id), kind: "text" },
      { op: "append_text", partId: partId(id), chunk },
      {
        op: "commit_part",
        partId: partId(id),
        part: { id: partId(id), kind: "text", text: chunk },
      },
    ];
    const agent = defineAgent({
      async *respond() {
        yield* text("a", "one");
        yield { op: "commit_item", stop: "length", usage: { ...noUsage, outputTokens: 7 } };
        yield* text("b", "two");
        yield { op: "commit_item", stop: "end" };
      },
    });
    await using session = await agent.open();
    const { usage } = await session.send("x").result;

    expect(session.transcript.slice(1)).toMatchObject([
      { stop: "length", parts: [{ text: "one" }], usage: { outputTokens: 7 } },
      { stop: "end", parts: [{ text: "two" }] },
    ]);
    expect(usage.outputTokens).toBe(7);
  });

  it("ends as failed with the content so far when it throws", async () => {
    const agent = defineAgent({
      async respond(run) {
        await run.write((item) => {
          item.append("so far");
          throw new Error("no further");
        });
      },
    });
    await using session = await agent.open();

    const result = await session.send("x").result;

    expect(result).toMatchObject({
      outcome: "failed",
      text: "so far",
      error: { code: "agent_failed" },
    });
    expect(session.transcript.at(-1)).toMatchObject({ stop: "failed" });
  });
});

describe("an agent as a tool", () => {
  it("is a session of its own, which the call names, and spends its parent's budget", async () => {
    const usage = { usage: { ...noUsage, inputTokens: 5, outputTokens: 5 } };
    const packer = defineAgent({ model: scriptedModel([[say("A coat."), usage]]) });
    const model = scriptedModel([
      [call("packer", { prompt: "Oslo" }), usage],
      [say("Take a coat."), usage],
    ]);
    const store = memorySessionStore();
    const lead = defineAgent({
      model,
      tools: [packer.asTool({ name: "packer", description: "Packs" })],
    });
    await using session = await lead.open({ store });

    const run = session.send("pack");
    const started = await run.until("tool_execution_started");
    const result = await run.result;

    expect(result).toMatchObject({ outcome: "completed", usage: { inputTokens: 15 } });
    const child = await store.find(started.childSessionId ?? sessionId("none"));
    expect(child).toBeDefined();
    expect(trace(session.transcript)).toContain("A coat.");
  });
});
