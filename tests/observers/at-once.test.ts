// What an inline observer gets: each delta as the provider made it, in the call that made it.
import { setTimeout as later } from "node:timers/promises";
import { defineAgent, queuedObserver } from "@millrace/agent";
import type { Observer } from "@millrace/agent";
import { createModelStream } from "@millrace/core/model";
import { partId } from "@millrace/core/writing";
import type { Delta, Model, RunEvent } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { say, scriptedModel, think } from "@millrace/core/testing";
import { openaiCompatible } from "@millrace/providers/openai";
import { startVendorServer } from "@millrace/providers/testing";
import type { HttpReply } from "@millrace/providers/testing";
import { describe, expect, it } from "vitest";

const letter = `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n`;
const end = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;

function chunksOf(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === "content_delta" && event.delta.op === "append_text" ? [event.delta.chunk] : [],
  );
}

function collector(): { readonly events: RunEvent[]; readonly observe: Observer } {
  const events: RunEvent[] = [];
  return { events, observe: (event) => void events.push(event) };
}

describe("5,000 one-character deltas of a vendor", () => {
  it.each<[string, HttpReply]>([
    ["in one piece", { body: letter.repeat(5_000) + end }],
    ["in pieces", { body: letter.repeat(5_000) + end, chunks: { seed: 1, largest: 2_000 } }],
  ])("that come %s reach inline observers as 5,000", async (_, reply) => {
    await using vendor = await startVendorServer({ replies: [reply] });
    const agents = collector();
    const runs = collector();
    const model = openaiCompatible("m", { baseUrl: vendor.url });
    const agent = defineAgent({ model, observers: [agents.observe] });

    const text = await agent.run("go", { observers: [runs.observe] }).text();

    expect(text).toBe("a".repeat(5_000));
    expect(chunksOf(agents.events)).toStrictEqual(Array<string>(5_000).fill("a"));
    expect(chunksOf(runs.events)).toStrictEqual(chunksOf(agents.events));
  });
});

/** Emits letters without ever waiting, and notes what it did after each. */
function talkative(letters: number, note: (step: string) => void): Model {
  const id = partId("p1");
  return {
    id: "test/talkative",
    stream: ({ signal }) =>
      createModelStream({
        model: "test/talkative",
        signal,
        produce: async (writer) => {
          const emit = (delta: Delta, name: string): void => {
            writer.emit(delta);
            note(`emitted ${name}`);
          };
          emit({ op: "begin_part", partId: id, kind: "text" }, "begin");
          for (let at = 0; at < letters; at += 1) {
            emit({ op: "append_text", partId: id, chunk: "x" }, `${at}`);
          }
          const part = { kind: "text", id, text: "x".repeat(letters) } as const;
          emit({ op: "commit_part", partId: id, part }, "commit");
          return { stop: "end", evidence: "test" };
        },
      }),
  };
}

describe("an inline observer", () => {
  it("is called inside the call that made the delta, one after the other in registration order", async () => {
    const steps: string[] = [];
    const observe =
      (name: string): Observer =>
      (event) => {
        if (event.type === "content_delta") steps.push(`${name} ${event.delta.op}`);
      };
    const model = talkative(1, (step) => steps.push(step));
    const agent = defineAgent({ model, observers: [observe("a"), observe("b")] });

    await agent.run("go", { observers: [observe("c"), observe("d")] }).result;

    const all = (op: string): readonly string[] =>
      ["a", "b", "c", "d"].map((one) => `${one} ${op}`);
    expect(steps).toStrictEqual([
      ...all("begin_part"),
      "emitted begin",
      ...all("append_text"),
      "emitted 0",
      ...all("commit_part"),
      "emitted commit",
    ]);
  });

  it("gets every delta of a model that never waits", async () => {
    const { events, observe } = collector();
    const model = talkative(20_000, () => undefined);

    await defineAgent({ model, observers: [observe] }).run("go").result;

    expect(chunksOf(events)).toHaveLength(20_000);
  });

  it("gets an item's deltas between its attempt_started and its commit", async () => {
    const { events, observe } = collector();
    const model = scriptedModel([[think("Hm."), say("Hello")]]);

    await defineAgent({ model, observers: [observe] }).run("go").result;

    const types = events.map(({ type }) => type);
    const deltas = types.flatMap((type, at) => (type === "content_delta" ? [at] : []));
    expect(deltas).toHaveLength(12);
    expect(types.indexOf("attempt_started")).toBe((deltas[0] ?? 0) - 1);
    expect(types.lastIndexOf("item_committed")).toBe((deltas.at(-1) ?? 0) + 1);
  });

  it("that throws changes nothing, for the others and for the run", async () => {
    const { events, observe } = collector();
    const broken: Observer = () => {
      throw new Error("broken");
    };
    const agent = defineAgent({ model: scriptedModel([[say("Hello")]]), observers: [broken] });

    const run = agent.run("go", { observers: [broken, observe, broken] });

    expect(await run.result).toMatchObject({ outcome: "completed", text: "Hello" });
    expect(chunksOf(events).join("")).toBe("Hello");
  });

  it("that is slow blocks the loop, and one behind a queue does not", async () => {
    let behind = 0;
    let most = 0;
    const blocking: Observer = () => {
      const until = performance.now() + 2;
      while (performance.now() < until);
    };
    const queued = queuedObserver(async ({ type }) => {
      await later(2);
      if (type === "content_delta") behind -= 1;
    });
    const count: Observer = ({ type }) => {
      if (type === "content_delta") behind += 1;
      most = Math.max(most, behind);
    };
    const timed = async (observers: readonly Observer[]): Promise<number> => {
      let emitted = 0;
      const model = talkative(100, () => (emitted = performance.now()));
      const begun = performance.now();
      await defineAgent({ model, observers }).run("go").result;
      return emitted - begun;
    };

    const blockedMs = await timed([blocking]);
    await timed([count, queued]);
    await queued.idle();

    // 102 deltas of 2 ms each were waited for by the model itself.
    expect(blockedMs).toBeGreaterThanOrEqual(204);
    // All deltas were made before the first of them was handled.
    expect([most, behind]).toStrictEqual([102, 0]);
  });
});

describe("an observer of a run", () => {
  it("gets that run's events, from its input to its end, and no other's", async () => {
    const first = collector();
    const second = collector();
    const model = scriptedModel([[say("one")], [say("two")], [say("three")]]);
    await using session = await defineAgent({ model }).open();

    const runs = [
      session.send("1", { observers: [first.observe] }),
      session.send("2"),
      session.send("3", { observers: [second.observe] }),
    ];
    await Promise.all(runs.map(({ result }) => result));

    expect([first, second].map(({ events }) => chunksOf(events).join(""))).toEqual([
      "one",
      "three",
    ]);
    for (const [at, { events }] of [first, second].entries()) {
      const own = new Set(events.flatMap((event) => ("runId" in event ? [event.runId] : [])));
      expect([...own]).toStrictEqual([runs[at * 2]?.id]);
      expect(events.map(({ type }) => type)).toContain("input_accepted");
      expect(events.at(-1)?.type).toBe("run_finished");
    }
  });

  it("gets nothing of a run that is taken back or refused, and the next run is its own", async () => {
    const { events, observe } = collector();
    const model = scriptedModel([[say("one")], [say("two")]]);
    await using session = await defineAgent({ model }).open();
    const first = session.send("1", { key: "k1" });
    const waiting = session.send("2", { observers: [observe] });
    await waiting.accepted;
    waiting.abort();
    const refused = session.send("other words", { key: "k1", observers: [observe] });

    expect(await refused.accepted).toMatchObject({ accepted: false });
    await Promise.all([first.result, waiting.result]);
    await session.send("3").result;

    expect(events.map(({ type }) => type)).toStrictEqual(["input_accepted", "queue_updated"]);
  });
});

describe("observers of a session that several processes have open", () => {
  it("where another process drives get the facts, and no live events", async () => {
    const [store, log] = [memorySessionStore(), memoryEventLog()];
    const there = collector();
    const here = collector();
    const own = collector();
    const agent = (observe: Observer) =>
      defineAgent({ model: scriptedModel([[say("Hello")]]), observers: [observe] });
    await using driver = await agent(there.observe).open({ id: "s", store: { ...store }, log });
    await using follower = await agent(here.observe).open({ id: "s", store, log, drive: false });

    const result = await follower.send("go", { observers: [own.observe] }).result;
    await driver.run?.result;

    expect(result).toMatchObject({ outcome: "completed", text: "Hello" });
    const factsOf = (events: readonly RunEvent[]) => events.filter((event) => "n" in event);
    expect(chunksOf(there.events).join("")).toBe("Hello");
    for (const { events } of [here, own]) {
      expect(events.filter((event) => !("n" in event))).toStrictEqual([]);
      expect(events.at(-1)).toMatchObject({ type: "run_finished" });
    }
    expect(factsOf(here.events)).toStrictEqual(factsOf(there.events));
  });

  it("get from a driver that takes over what it does itself, each attempt from its beginning", async () => {
    const [store, log] = [memorySessionStore(), memoryEventLog()];
    const before = collector();
    const after = collector();
    const hanging = scriptedModel([[say("Hel"), { stall: undefined }]]);
    const first = await defineAgent({ model: hanging, observers: [before.observe] }).open({
      id: "s",
      store: { ...store },
      log,
    });
    const begun = first.send("go");
    await begun.until("content_delta");
    await first.close();

    const second = defineAgent({
      model: scriptedModel([[say("Hello")]]),
      observers: [after.observe],
    });
    await using session = await second.open({ id: "s", store, log });
    await session.run?.result;

    const { events } = after;
    expect(chunksOf(before.events).join("")).toMatch(/^Hel|^H/);
    expect(chunksOf(events).join("")).toBe("Hello");
    expect(events.find((event) => !("n" in event))?.type).toBe("attempt_started");
    expect(events.map(({ type }) => type)).not.toContain("run_started");
  });
});
