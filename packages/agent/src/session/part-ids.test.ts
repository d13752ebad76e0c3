import { itemId, partId } from "@millrace/core/writing";
import type { Item, RunEvent } from "@millrace/core";
import type { Update } from "@millrace/core/writing";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";

/** Part ids that two items of a transcript have. */
function shared(items: readonly Item[]): readonly string[] {
  const owners = new Map<string, Set<string>>();
  for (const { id, parts } of items) {
    for (const part of parts) owners.set(part.id, (owners.get(part.id) ?? new Set()).add(id));
  }
  return [...owners].flatMap(([part, owned]) => (owned.size > 1 ? [part] : []));
}

const add = defineTool({
  name: "add",
  input: z.object({ a: z.number() }),
  effect: "pure",
  run: ({ a }) => a + 1,
});

const p1 = partId("p1");

async function* twoItems(): AsyncGenerator<Update> {
  for (const chunk of ["one", "two"]) {
    yield { op: "begin_part", partId: p1, kind: "text" };
    yield { op: "append_text", partId: p1, chunk };
    yield { op: "commit_part", partId: p1, part: { id: p1, kind: "text", text: chunk } };
    yield { op: "commit_item", stop: "end" };
  }
}

it("no part id is in two items: prompts, replies, calls, results, refusals and forks", async () => {
  const model = scriptedModel([
    [say("First."), call("add", { a: 1 }), call("add", { a: "no" })],
    [say("Second.")],
    [say("Third.")],
    [say("Fourth.")],
  ]);
  const agent = defineAgent({ model, tools: [add] });
  await using session = await agent.open();

  await session.send("go").result;
  await session.send("again").result;
  await using branch = await session.fork(session.transcript.at(-1)?.id ?? itemId("none"));
  await branch.send("and again").result;

  expect(session.transcript.map(({ author }) => author).join(" ")).toBe(
    "user model tool tool model user model",
  );
  expect(shared(session.transcript)).toStrictEqual([]);
  expect(shared(branch.transcript)).toStrictEqual([]);
});

it("no part id is in two items that an agent writes by itself or yields", async () => {
  const writing = defineAgent({
    respond: async (run) => {
      await run.write((item) => item.append("one"));
      await run.write((item) => item.append("two"));
      await run.write((item) => {
        void item.replace("three");
      });
    },
  });
  const yielding = defineAgent({ respond: () => twoItems() });
  for (const agent of [writing, yielding]) {
    await using session = await agent.open();
    const { outcome } = await session.send("go").result;
    expect(outcome).toBe("completed");
    expect(session.transcript.length).toBeGreaterThan(2);
    expect(shared(session.transcript)).toStrictEqual([]);
  }
});

it("no part id is in two items of a history that a session begins with", async () => {
  const item = (id: string): Item => ({
    id: itemId(id),
    author: "user",
    parts: [{ kind: "text", id: p1, text: id }],
    stop: "end",
  });
  const agent = defineAgent({ model: scriptedModel([[say("Hello.")]]) });
  await using session = await agent.open({ transcript: [item("a"), item("b")] });
  await session.send("hi").result;

  expect(
    session.transcript.map(({ parts }) => parts.map((part) => "text" in part && part.text)),
  ).toStrictEqual([["a"], ["b"], ["hi"], ["Hello."]]);
  expect(shared(session.transcript)).toStrictEqual([]);
});

it("no part id is in two items of a session with an agent as a tool, nor of that agent's own", async () => {
  const seen: RunEvent[] = [];
  const child = defineAgent({
    model: scriptedModel([[say("Let me see."), call("add", { a: 1 })], [say("2")]]),
    tools: [add],
    observers: [(event) => void seen.push(event)],
  });
  const tool = child.asTool({ name: "child", description: "answers" });
  const model = scriptedModel([[say("Well."), call("child", { prompt: "1+1" })], [say("2.")]]);
  await using session = await defineAgent({ model, tools: [tool] }).open();
  await session.send("ask").result;
  const own = seen.flatMap((event) => (event.type === "item_committed" ? [event.item] : []));

  expect(own.map(({ author }) => author)).toStrictEqual(["user", "model", "tool", "model"]);
  expect(shared(own)).toStrictEqual([]);
  expect(shared(session.transcript)).toStrictEqual([]);
});

it("an observer sees the part ids that the stored items have", async () => {
  const seen: RunEvent[] = [];
  const model = scriptedModel([[say("First."), call("add", { a: 1 })], [say("Second.")]]);
  const agent = defineAgent({ model, tools: [add], observers: [(event) => void seen.push(event)] });
  await using session = await agent.open();
  await session.send("go").result;

  const observed = seen.flatMap((event) =>
    event.type === "content_delta" && event.delta.op === "begin_part"
      ? [`${event.itemId} ${event.delta.partId}`]
      : [],
  );
  const stored = session.transcript.flatMap(({ id, author, parts }) =>
    author === "user" ? [] : parts.map((part) => `${id} ${part.id}`),
  );
  expect(observed.toSorted()).toStrictEqual(stored.toSorted());
});
