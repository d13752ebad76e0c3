import { MillraceError } from "@millrace/core";
import { unpackEpoch } from "@millrace/core/ports";
import type { Epoch, EventLog, SessionStore } from "@millrace/core/ports";
import { noUsage, sessionId } from "@millrace/core/writing";
import type { RunEvent, Transcript } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { call, fail, say, scriptedModel, stall } from "@millrace/core/testing";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";

const nothing = z.object({});
/** Generous for a busy machine. A passing test takes a fraction of it. */
const patience = { timeout: 60_000 };
const soon = { timeout: 5_000 };

/** A tool that counts its executions and calls the given function in each. */
function counting(work: (signal: AbortSignal) => unknown = () => "paid", description = "Pays") {
  const count = { runs: 0 };
  const tool = defineTool({
    name: "pay",
    description,
    input: nothing,
    run: async (_, { signal }) => {
      count.runs += 1;
      return await work(signal);
    },
  });
  return { tool, count };
}

/** Runs until its signal is aborted. */
function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
  });
}

/** A slow store, so that code that does not wait for it fails. */
function slow(store: SessionStore): SessionStore {
  const later = async <T>(work: () => Promise<T>): Promise<T> => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return await work();
  };
  return {
    ...store,
    claim: (uid, request) => later(() => store.claim(uid, request)),
    accept: (uid, key, body) => later(() => store.accept(uid, key, body)),
    open: (uid, request) => later(() => store.open(uid, request)),
    commit: (uid, request) => later(() => store.commit(uid, request)),
    append: (uid, request) => later(() => store.append(uid, request)),
  };
}

function textsOf(items: Transcript): readonly string[] {
  return items.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text : "")));
}

describe("what is durable comes first:", () => {
  it("no fact is announced or shown before it is in the store", patience, async () => {
    const store = slow(memorySessionStore());
    const { uid } = await store.create({ sessionId: sessionId("s") });
    const early: number[] = [];
    const look = async (n: number): Promise<void> => {
      if ((await store.head(uid)) < n) early.push(n);
    };
    const log = memoryEventLog();
    const announced: number[] = [];
    const watchful: EventLog = {
      ...log,
      announce: async (to, fact) => {
        announced.push(fact.n);
        await look(fact.n);
        await log.announce(to, fact);
      },
    };
    const shown: Promise<void>[] = [];
    const show = (event: RunEvent): void => {
      if ("n" in event) shown.push(look(event.n));
    };
    const model = scriptedModel([[call("pay", {})], [say("Paid.")]]);
    const agent = defineAgent({ model, tools: [counting().tool], observers: [show] });
    await using session = await agent.open({ id: "s", store, log: watchful });

    await session.send("pay").result;
    await Promise.all(shown);

    expect(early).toStrictEqual([]);
    const all = Array.from({ length: await store.head(uid) }, (_, at) => at + 1);
    expect(announced.toSorted((a, b) => a - b)).toStrictEqual(all);
    expect(shown).toHaveLength(all.length);
  });

  it(
    "every attempt, at a reply or a call, is of the next generation of one claim",
    patience,
    async () => {
      const store = memorySessionStore();
      const generations: number[] = [];
      const note = ({ epoch }: { readonly epoch: Epoch }): void => {
        const { generation } = unpackEpoch(epoch);
        // A broken contract ends the session; any other error would be waited out as an outage.
        if (generation <= (generations.at(-1) ?? 0))
          throw new MillraceError("broken_port", "a generation is used twice");
        generations.push(generation);
      };
      const noting: SessionStore = {
        ...store,
        open: async (uid, request) => {
          note(request);
          return await store.open(uid, request);
        },
        append: async (uid, request) => {
          if (request.opens !== undefined) note(request.opens);
          return await store.append(uid, request);
        },
      };
      const busy = fail("overloaded", "too busy", { retryable: true });
      const model = scriptedModel([[busy], [call("pay", {})], [say("Paid.")], [say("Again.")]]);
      const retry = { attempts: 3, baseMs: 1, capMs: 1 };
      const agent = defineAgent({ model, tools: [counting().tool], retry });
      await using session = await agent.open({ id: "s", store: noting });

      await session.send("pay").result;
      await session.send("again").result;

      expect(generations).toStrictEqual([1, 2, 3, 4, 5]);
      expect((await store.find(sessionId("s")))?.incarnation).toBe(1);
    },
  );

  it("the intent to run a tool is in the store before the tool runs", patience, async () => {
    const store = memorySessionStore();
    const intents: string[][] = [];
    const { tool } = counting(async () => {
      const record = await store.find(sessionId("s"));
      const facts = record === undefined ? [] : await store.read(record.uid);
      intents.push(facts.map((fact) => fact.type).filter((type) => type.startsWith("tool_")));
    });
    const model = scriptedModel([[call("pay", {})], [say("Paid.")]]);
    await using session = await defineAgent({ model, tools: [tool] }).open({ id: "s", store });

    await session.send("pay").result;

    expect(intents).toStrictEqual([["tool_execution_started"]]);
  });
});

describe("after another process was lost,", () => {
  it("an effectful call that it had started is not run again", patience, async () => {
    const store = memorySessionStore();
    const lost = counting(hang);
    const model = scriptedModel([[call("pay", {})]]);
    const first = await defineAgent({ model, tools: [lost.tool] }).open({ id: "s", store });
    await first.send("pay").until("tool_execution_started");
    await vi.waitFor(() => expect(lost.count.runs).toBe(1), soon);
    await first.close();

    const again = counting();
    const next = scriptedModel([[say("I don't know whether it was paid.")]]);
    await using second = await defineAgent({ model: next, tools: [again.tool] }).open({
      id: "s",
      store,
    });
    await second.run?.result;

    expect(again.count.runs).toBe(0);
    const answers = second.transcript.flatMap(({ parts }) => parts);
    expect(answers).toContainEqual(expect.objectContaining({ tool: "pay", status: "unknown" }));
  });

  it(
    "the answer to a question about another tool of that name lets nothing run",
    patience,
    async () => {
      const store = memorySessionStore();
      const asks = [{ tool: "pay", policy: "ask" }] as const;
      const model = scriptedModel([[call("pay", {})]]);
      const before = counting(undefined, "Pays one cent");
      const first = await defineAgent({ model, tools: [before.tool], policy: asks }).open({
        id: "s",
        store,
      });
      const asked = await first.send("pay").until("approval_requested");
      await first.close();

      const after = counting(undefined, "Pays all there is");
      const next = scriptedModel([[say("Not paid.")]]);
      await using second = await defineAgent({
        model: next,
        tools: [after.tool],
        policy: asks,
      }).open({
        id: "s",
        store,
      });
      const run = second.run;
      if (run === undefined) throw new Error("no run");
      const allowed = await second.allow(asked.approvalId).accepted;
      for await (const event of run) {
        if (event.type !== "approval_requested" || event.approvalId === asked.approvalId) continue;
        second.deny(event.approvalId);
      }

      expect(allowed).toStrictEqual({ accepted: true });
      expect(before.count.runs + after.count.runs).toBe(0);
    },
  );

  it("the attempts that it made count", patience, async () => {
    const store = memorySessionStore();
    const busy = fail("overloaded", "too busy", { retryable: true });
    const patient = { attempts: 2, baseMs: 600_000, capMs: 600_000 };
    const first = await defineAgent({ model: scriptedModel([[busy]]), retry: patient }).open({
      id: "s",
      store,
    });
    await first.send("hi").until("retry_scheduled");
    await first.close();

    const hasty = { attempts: 2, baseMs: 1, capMs: 1 };
    const model = scriptedModel([[busy], [say("a third attempt")]]);
    await using second = await defineAgent({ model, retry: hasty }).open({ id: "s", store });
    const result = await second.run?.result;

    expect(result).toMatchObject({ outcome: "failed", error: { code: "provider_failed" } });
  });
});

describe("the loop", () => {
  it("runs no call of a reply that was cut for its length", patience, async () => {
    const { tool, count } = counting();
    const cut = { end: { stop: "length", evidence: "max_tokens" } } as const;
    const model = scriptedModel([[call("pay", {}), cut]]);
    await using session = await defineAgent({ model, tools: [tool] }).open();

    const result = await session.send("pay").result;

    expect(count.runs).toBe(0);
    expect(result).toMatchObject({ outcome: "limited", limit: "length" });
    expect(session.transcript.map(({ author }) => author)).toStrictEqual(["user", "model", "tool"]);
  });

  it("takes a steer that comes while a tool runs after the tool's result", patience, async () => {
    let steer = async (): Promise<unknown> => undefined;
    const { tool } = counting(() => steer());
    const model = scriptedModel([[call("pay", {})], [say("Paid.")]]);
    await using session = await defineAgent({ model, tools: [tool] }).open();
    steer = async () => {
      await session.steer("hurry").accepted;
      await new Promise((resolve) => setTimeout(resolve, 20)); // long enough to be taken, if that were so
    };

    await session.send("pay").result;

    const authors = session.transcript.map(({ author }) => author);
    expect(authors).toStrictEqual(["user", "model", "tool", "user", "model"]);
  });

  it("begins the prompts that wait when a run was stopped", patience, async () => {
    const model = scriptedModel([[stall()], [say("second")]]);
    await using session = await defineAgent({ model }).open();
    const first = session.send("one");
    session.send("two");
    await first.until("turn_started");

    first.abort();
    await first.result;

    const texts = (): readonly string[] => textsOf(session.transcript);
    await vi.waitFor(() => expect(texts()).toStrictEqual(["one", "two", "second"]), soon);
  });

  it("keeps every item when the context is compacted", patience, async () => {
    const summary = scriptedModel([[say("They greeted.")]]);
    const full = { usage: { ...noUsage, inputTokens: 900, outputTokens: 10 } };
    const model = scriptedModel([[say("one")], [call("pay", {}), full], [say("two")]]);
    const context = { window: 1_000, keep: 2, model: summary };
    const agent = defineAgent({ model, tools: [counting().tool], context });
    await using session = await agent.open();

    await session.send("a").result;
    await session.send("b").result;

    expect(textsOf(session.transcript)).toStrictEqual([
      "a",
      "one",
      "b",
      "",
      "paid",
      "They greeted.",
      "two",
    ]);
  });
});
