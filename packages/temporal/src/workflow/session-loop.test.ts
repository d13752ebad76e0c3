import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { openEngineSession } from "@millrace/agent/engine";
import type { EngineSession, StepAnswer, StepRequest } from "@millrace/agent/engine";
import { createInbox } from "@millrace/core";
import type { Fact, Inbox } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { StepEngine } from "../testing/step-engine.ts";

const input = z.object({});

/** A session that an engine drives, with all that was answered to it. */
class DrivenSession {
  readonly engine: StepEngine;
  readonly answers: StepAnswer[] = [];
  readonly inbox: Inbox;
  readonly facts: () => Promise<readonly Fact[]>;

  private constructor(opened: EngineSession, inbox: Inbox, facts: () => Promise<readonly Fact[]>) {
    this.inbox = inbox;
    this.facts = facts;
    const context = { signal: new AbortController().signal, isCurrent: async () => true };
    this.engine = new StepEngine("r1", async (request: Omit<StepRequest, "attempt">) => {
      const answer = await opened.step({ ...request, attempt: 1 }, context);
      this.answers.push(answer);
      return answer;
    });
  }

  static async open(agent: Agent): Promise<DrivenSession> {
    const [store, log] = [memorySessionStore(), memoryEventLog()];
    const record = await store.create({ sessionId: "s" });
    const inbox = createInbox({ uid: record.uid, store, log });
    await inbox.send("go", { key: "k" });
    const opened = await openEngineSession({ agent, record, store, log });
    return new DrivenSession(opened, inbox, () => store.read(record.uid));
  }
}

it("a call that completes the three labels waits for an answer, and then runs", async () => {
  const ran: string[] = [];
  const tool = (name: string, label: "reads_private" | "sees_untrusted" | "acts_outside") =>
    defineTool({ name, input, labels: [label], run: () => void ran.push(name) });
  const tools = [
    tool("inbox", "reads_private"),
    tool("page", "sees_untrusted"),
    tool("post", "acts_outside"),
  ];
  const replies = tools.map(({ name }) => [call(name, {})]);
  const model = scriptedModel([...replies, [say("done")]]);
  const session = await DrivenSession.open(defineAgent({ model, tools }));
  await session.engine.run();
  expect(ran).toEqual(["inbox", "page"]);
  const asked = (await session.facts()).find((fact) => fact.type === "approval_requested");

  if (asked?.type === "approval_requested") await session.inbox.allow(asked.approvalId);
  await session.engine.run();

  expect(ran).toEqual(["inbox", "page", "post"]);
  expect((await session.facts()).at(-1)).toMatchObject({ outcome: "completed" });
});

it("settings without an end reach an engine as they are", async () => {
  const look = defineTool({ name: "look", input, effect: "pure", run: () => "seen" });
  const model = scriptedModel([[call("look", {})], [say("done")]]);
  const limits = { turns: Infinity, seconds: Infinity, tokens: Infinity, cost: Infinity };
  const retry = { attempts: Infinity, baseMs: 1, capMs: Infinity };
  const settings = { limits, retry, parallel: Infinity, approvalTimeoutMs: Infinity };
  const session = await DrivenSession.open(defineAgent({ model, tools: [look], ...settings }));

  await session.engine.run();

  expect((await session.facts()).at(-1)).toMatchObject({ outcome: "completed" });
});

it("an answer grows with the calls that are open, and not with the tools of the agent", async () => {
  const names = Array.from({ length: 20 }, (_, at) => `tool_${at}`);
  const calling = async (count: number, called: number): Promise<readonly number[]> => {
    const tools = names.slice(0, count).map((name) => defineTool({ name, input, run: () => "" }));
    const calls = names.slice(0, called).map((name) => call(name, {}));
    const model = scriptedModel([calls, [say("done")]]);
    const session = await DrivenSession.open(defineAgent({ model, tools }));
    await session.engine.run();
    expect((await session.facts()).at(-1)).toMatchObject({ outcome: "completed" });
    return session.answers.map((answer) => JSON.stringify(answer).length);
  };

  const [two, twenty, all] = [await calling(2, 2), await calling(20, 2), await calling(20, 20)];

  console.log(`bytes of answers: 2 tools ${two.join(" ")}, 20 tools ${twenty.join(" ")}`);
  console.log(`bytes of answers with 20 calls of 20 tools: ${all.join(" ")}`);
  expect(twenty).toEqual(two);
  expect(Math.max(...two)).toBeLessThan(700);
  expect(Math.max(...all)).toBeLessThan(20 * 250);
});
