import { defineAgent, defineTool } from "@millrace/agent";
import { createClient } from "@millrace/client";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";

const words = Array.from({ length: 20 }, (_, at) => `word ${at}`).join(", ");
const add = defineTool({
  name: "add",
  description: "Adds",
  input: z.object({ a: z.number() }),
  run: ({ a }) => a + 1,
});
const adder = (delayMs: number): ReturnType<typeof defineAgent> =>
  defineAgent({
    model: scriptedModel([[say("Let me see."), call("add", { a: 1 })], [say(words)]], { delayMs }),
    tools: [add],
  });

async function textsOf(stream: AsyncIterable<string>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const text of stream) texts.push(text);
  return texts;
}

it("a run is iterated as in process, up to its end, with what its tools returned", async () => {
  await using served = await serve(adder(2));
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("events");
  session.subscribe(() => undefined);
  const run = session.send("Go");
  const started = run.until("tool_execution_started");
  const types: string[] = [];
  const outputs: unknown[] = [];
  for await (const event of run) {
    if (types.at(-1) !== event.type) types.push(event.type);
    if (event.type === "tool_execution_finished") outputs.push(event.output);
  }

  expect(types.at(-1)).toBe("run_finished");
  expect(types).toContain("content_delta");
  expect(outputs).toEqual([2]);
  expect(await started).toMatchObject({ tool: "add", input: { a: 1 } });
  await expect(run.until("approval_requested")).rejects.toMatchObject({ code: "refused" });
});

it("the text of a run comes as it is written and is whole, also when its stream is cut again and again", async () => {
  await using served = await serve(adder(10));
  using client = createClient({ url: served.url, token: "ann", random: () => 0.05 });
  const run = client.session("text").send("Go");
  const cutting = setInterval(() => served.cut(), 120);
  const texts = await textsOf(run.textStream());
  clearInterval(cutting);

  expect(texts.join("")).toBe(`Let me see.\n\n${words}`);
  expect(texts.length).toBeGreaterThan(3);
});

it("the text of a run that another client began is whole, and a run that is stopped says so after its text", async () => {
  await using served = await serve(adder(15));
  using ann = createClient({ url: served.url, token: "ann" });
  using phone = createClient({ url: served.url, token: "ann" });
  const run = ann.session("shared").send("Go");
  const other = phone.session("shared");
  await run.accepted;
  other.subscribe(() => undefined);
  await until(() => JSON.stringify(other.items).includes("word 3"), "it talks");
  const seen: string[] = [];
  const reading = (async () => {
    for await (const text of other.run?.textStream() ?? []) seen.push(text);
  })();
  await until(() => seen.join("").includes("word 6"), "it is read");
  await ann.session("shared").abort().accepted;

  await expect(reading).rejects.toMatchObject({ code: "aborted" });
  expect(`Let me see.\n\n${words}`.startsWith(seen.join(""))).toBe(true);
});

it("a run that is refused has no event, and its text says why", async () => {
  await using served = await serve(adder(1));
  using client = createClient({ url: served.url, token: "expired" });
  const run = client.session("refused").send("Go");
  const events: unknown[] = [];
  for await (const event of run) events.push(event);
  expect(events).toEqual([]);
  await expect(textsOf(run.textStream())).rejects.toMatchObject({ code: "refused" });
});

it("a run is one object for as long as it is on, so that a program that reads every field of each view reads it once", async () => {
  await using served = await serve(adder(5));
  const reads: string[] = [];
  const counting: typeof fetch = (input, init) => {
    const { pathname } = new URL(new Request(input, init).url);
    if (pathname.includes("/runs/")) reads.push(pathname);
    return fetch(input, init);
  };
  using client = createClient({ url: served.url, token: "ann", fetch: counting });
  const session = client.session("inspected");
  const runs = new Set<unknown>();
  // As development builds of React do with the properties of a component.
  session.subscribe(() => {
    const { run } = session;
    if (run === undefined) return;
    runs.add(run);
    for (const value of Object.values(run)) void value;
  });
  await session.send("Go").accepted;
  await until(() => runs.size > 0 && session.status === "idle", "it has run");
  await until(() => reads.length > 0, "it is read");

  expect(runs.size).toBe(1);
  expect(reads).toHaveLength(1);
});
