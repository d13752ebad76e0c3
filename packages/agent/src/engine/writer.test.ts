import { createInbox } from "@millrace/core";
import type { Fact, Item, Model } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { createModelStream } from "@millrace/core/model";
import type { ModelRequest } from "@millrace/core/ports";
import { call, fail, say, scriptedModel, stall } from "@millrace/core/testing";
import { callId, itemId, partId } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { openWriter } from "./open.ts";
import type { EngineWriter } from "./open.ts";
import type { StepContext } from "./step.ts";
import type { Written } from "./step.ts";

const context: StepContext = { signal: new AbortController().signal, isCurrent: async () => true };
const first = { by: "run-1", fresh: true, generation: 1, attempt: 1, lane: 0 } as const;
const question = itemOf("q", "user", "Is it raining in Oslo?");
const asked: ModelRequest = { transcript: [question] };

describe("a program that writes a session", () => {
  it("begins a run with the question of its request, and stores the reply in it", async () => {
    const { writer, facts } = await opened();

    const written = await writer.write({ ...first, model: saying("yes"), request: asked }, context);

    expect(textOf(written)).toBe("yes");
    expect(await facts()).toEqual([
      "session_claimed",
      "run_started",
      "user: Is it raining in Oslo?",
      "turn_started",
      "model: yes",
      "usage_reported",
    ]);
  });

  it("takes the input that waits in the session, and not the question once more", async () => {
    const { writer, facts, inbox } = await opened();
    await inbox.send("Is it raining?", { key: "a" });

    await writer.write({ ...first, model: saying("yes"), request: asked }, context);

    expect((await facts()).filter((fact) => fact.startsWith("user"))).toEqual([
      "user: Is it raining?",
    ]);
  });

  it("asks no model again for a reply that an earlier attempt has stored", async () => {
    const { writer, facts } = await opened();
    const request = { ...first, model: saying("yes"), request: asked };
    await writer.write(request, context);

    const again = await writer.write({ ...request, model: saying("no"), attempt: 2 }, context);

    expect(textOf(again)).toBe("yes");
    expect((await facts()).filter((fact) => fact.startsWith("model"))).toEqual(["model: yes"]);
  });

  it("refuses an attempt that was taken for dead and writes on", async () => {
    const { writer, facts, another } = await opened();
    const go = Promise.withResolvers<void>();
    const { model, isAsked } = noting(waiting(go.promise));
    const slow = writer.write({ ...first, model, request: asked }, context);
    await isAsked;
    const second = await another();
    const request = { ...first, attempt: 2, model: saying("the second"), request: asked };
    expect(textOf(await second.write(request, context))).toBe("the second");

    go.resolve();

    expect(textOf(await slow)).toBe("the second");
    expect((await facts()).filter((fact) => fact.startsWith("model"))).toEqual([
      "model: the second",
    ]);
  });

  it("shows calls as they begin, and their results with the next request", async () => {
    const { writer, facts } = await opened();
    const model = scriptedModel([[call("weather", { city: "Oslo" })]]);
    const reply = await writer.write({ ...first, model, request: asked }, context);
    expect((await facts()).at(-1)).toBe("tool_execution_started");
    const request = { transcript: [question, itemFrom(reply), resultOf(reply, "rain")] };

    await writer.write({ ...first, generation: 2, model: saying("yes"), request }, context);

    expect((await facts()).slice(-4)).toEqual([
      "tool: rain",
      "tool_execution_finished",
      "model: yes",
      "usage_reported",
    ]);
  });

  it("writes replies at the same time in lanes of their own", async () => {
    const { writer, facts } = await opened();
    const go = Promise.withResolvers<void>();
    const { model, isAsked } = noting(waiting(go.promise));
    const slow = writer.write({ ...first, model, request: asked }, context);
    await isAsked;
    const beside = { ...first, generation: 2, lane: 1, model: saying("two"), request: asked };

    expect(textOf(await writer.write(beside, context))).toBe("two");
    go.resolve();

    expect(textOf(await slow)).toBe("late");
    expect((await facts()).filter((fact) => fact.startsWith("model"))).toEqual([
      "model: two",
      "model: late",
    ]);
  });
});

describe("the end of what a program writes", () => {
  it("is stored once its program has ended, with the calls whose results nobody has seen", async () => {
    const { writer, facts } = await opened();
    const model = scriptedModel([[call("weather", { city: "Oslo" })]]);
    await writer.write({ ...first, model, request: asked }, context);
    const step = { ...first, generation: 2 };

    await writer.finish(step, { outcome: "completed" }, context);
    await writer.finish({ ...step, attempt: 2 }, { outcome: "completed" }, context);

    expect((await facts()).slice(-4)).toEqual([
      "tool: the program that ran this call ended before its result was seen",
      "tool_execution_finished",
      "turn_finished",
      "run_finished completed",
    ]);
  });

  it("comes by a person's stop: the reply so far is stored, and the model hears of it", async () => {
    const { writer, facts, inbox } = await opened();
    const { model, isAsked } = noting(scriptedModel([[say("so far"), stall()]]));
    const writing = writer.write({ ...first, model, request: asked }, context);
    await isAsked;

    await inbox.abort({});

    expect(await writing).toEqual({ outcome: "stopped" });
    expect((await facts()).slice(-4)).toEqual([
      "model: so far",
      "usage_reported",
      "turn_finished",
      "run_finished aborted",
    ]);
    const next = { ...first, generation: 2, model: saying("more"), request: asked };
    expect(await writer.write(next, context)).toEqual({ outcome: "stopped" });
  });

  it("is stored by the next program, if the one before has left its run", async () => {
    const { writer, facts } = await opened();
    await writer.write({ ...first, model: saying("one"), request: asked }, context);

    const next = { ...first, by: "run-2", model: saying("two"), request: asked };
    const two = await writer.write(next, context);
    const three = { ...next, generation: 2, model: saying("three") };
    expect([two, await writer.write(three, context)].map(textOf)).toEqual(["two", "three"]);

    const seen = await facts();
    expect(seen.filter((fact) => fact.startsWith("run"))).toEqual([
      "run_started",
      "run_finished failed",
      "run_started",
    ]);
    expect(
      await writer.write({ ...first, generation: 5, model: saying("x"), request: asked }, context),
    ).toEqual({ outcome: "superseded" });
  });
});

it("a program stops to ask once another one has claimed the session", async () => {
  const { writer, another } = await opened();
  const { model, isAsked } = noting(scriptedModel([[say("so far"), stall()]]));
  const writing = writer.write({ ...first, model, request: asked }, context);
  await isAsked;
  const second = await another();

  await second.write({ ...first, by: "run-2", model: saying("mine"), request: asked }, context);

  expect(await writing).toEqual({ outcome: "superseded" });
});

it("a step that is lost ends at once, whatever it waits for", async () => {
  const { writer } = await opened();
  const lost = new AbortController();
  const waits = Promise.withResolvers<void>();
  const isCurrent = (): Promise<boolean> => {
    waits.resolve();
    return new Promise(() => undefined);
  };
  const away: StepContext = { signal: lost.signal, isCurrent };
  const writing = writer.write({ ...first, model: saying("x"), request: asked }, away);
  await waits.promise;

  lost.abort();

  await expect(writing).rejects.toThrow();
  expect(writer.isBusy()).toBe(false);
});

it("a request that failed is sent again as the next attempt, and the last failure is stored", async () => {
  const { writer, facts } = await opened();
  const failing = (): Model =>
    scriptedModel([[say("cut"), fail("overloaded", "busy", { retryable: true })]]);
  const outcomes: Written[] = [];
  for (const attempt of [1, 2, 3])
    outcomes.push(
      await writer.write({ ...first, attempt, model: failing(), request: asked }, context),
    );

  expect(outcomes.map((written) => "retryInMs" in written)).toEqual([true, true, false]);
  expect((await facts()).filter((fact) => /^(model|usage)/.test(fact))).toEqual([
    "usage_reported",
    "usage_reported",
    "model: cut",
    "usage_reported",
  ]);
});

async function opened() {
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  const record = await store.create({ sessionId: "s" });
  const another = (): Promise<EngineWriter> => openWriter({ record, store, log });
  return {
    writer: await another(),
    another,
    inbox: createInbox({ uid: record.uid, store, log }),
    facts: async () => (await store.read(record.uid)).map(shown),
  };
}

/** A fact in a word, and an item by its author and its text. */
function shown(fact: Fact): string {
  if (fact.type === "run_finished") return `${fact.type} ${fact.outcome}`;
  if (fact.type !== "item_committed") return fact.type;
  const texts = fact.item.parts.map((part) => ("text" in part ? part.text : ""));
  return `${fact.item.author}: ${texts.join("")}`;
}

function saying(text: string): Model {
  return scriptedModel([[say(text)]]);
}

/** A model that writes once it is let go. */
function waiting(go: Promise<void>): Model {
  const stream: Model["stream"] = ({ transcript, signal }) =>
    createModelStream({
      model: "waiting",
      signal,
      produce: async ({ emit }) => {
        await go;
        for await (const delta of saying("late").stream({ transcript })) emit(delta);
        return { stop: "end" };
      },
    });
  return { id: "waiting", stream };
}

/** The model, and when it was asked. */
function noting(given: Model): { readonly model: Model; readonly isAsked: Promise<void> } {
  const { promise: isAsked, resolve } = Promise.withResolvers<void>();
  const stream: Model["stream"] = (request) => {
    resolve();
    return given.stream(request);
  };
  return { model: { ...given, stream }, isAsked };
}

function itemOf(id: string, author: "user", text: string): Item {
  return { id: itemId(id), author, parts: [{ kind: "text", id: partId("p"), text }], stop: "end" };
}

function itemFrom(written: Written): Item {
  if (written.outcome !== "written") throw new Error(written.outcome);
  return written.item;
}

function textOf(written: Written): string {
  return itemFrom(written)
    .parts.map((part) => ("text" in part ? part.text : ""))
    .join("");
}

function resultOf(written: Written, text: string): Item {
  const part = itemFrom(written).parts.find(({ kind }) => kind === "tool_call");
  if (part?.kind !== "tool_call") throw new Error("no call");
  const { tool } = part;
  const result = { kind: "tool_result", tool, status: "ok", text } as const;
  const parts = [{ ...result, id: partId("r"), callId: callId(part.callId) }];
  return { id: itemId("r"), author: "tool", parts, stop: "end" };
}
