// One agent, defined once, is used by many tasks at the same time: it holds no state of any run.
import { setTimeout as later } from "node:timers/promises";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Model, RunEvent } from "@millrace/core";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { ModelRequest } from "@millrace/core/ports";
import { expect, it } from "vitest";
import { z } from "zod";

const tasks = 200;

function questionOf({ transcript }: ModelRequest): string {
  const asked = transcript.findLast(({ author }) => author === "user")?.parts[0];
  return asked?.kind === "text" ? asked.text : "";
}

/** Asks a tool about the question, then answers with what the tool found. */
const echo: Model = {
  id: "test/echo",
  stream: (request) => {
    const found = request.transcript
      .at(-1)
      ?.parts.flatMap((part) => (part.kind === "tool_result" ? [part.text] : []));
    const reply =
      found?.[0] === undefined ? call("look", { task: questionOf(request) }) : say(found[0]);
    return scriptedModel([[reply]], { delayMs: 1 }).stream(request);
  },
};

const look = defineTool({
  name: "look",
  description: "Looks a task up",
  input: z.object({ task: z.string() }),
  effect: "pure",
  run: async ({ task }) => {
    await later(Number(task.slice(5)) % 7);
    return `found ${task}`;
  },
});

it("200 concurrent runs of one agent each get their own answer, events and transcript", async () => {
  let seen = 0;
  const agent = defineAgent({ model: echo, tools: [look], observers: [() => void (seen += 1)] });

  const stories = await Promise.all(
    Array.from({ length: tasks }, async (_, task) => {
      const events: RunEvent[] = [];
      const observers = [(event: RunEvent): void => void events.push(event)];
      const prompt = `task-${task}`;
      if (task % 2 === 0) return { text: await agent.run(prompt, { observers }).text(), events };
      await using session = await agent.open();
      const text = await session.send(prompt, { observers }).text();
      expect(session.transcript).toHaveLength(4);
      return { text, events };
    }),
  );

  for (const [task, { text, events }] of stories.entries()) {
    expect(text).toBe(`found task-${task}`);
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(events.at(-1)).toMatchObject({ type: "run_finished", outcome: "completed" });
  }
  const sessions = stories.map(({ events }) => events[0]?.sessionId);
  expect(new Set(sessions).size).toBe(tasks);
  expect(seen).toBeGreaterThanOrEqual(stories.reduce((sum, { events }) => sum + events.length, 0));
});
