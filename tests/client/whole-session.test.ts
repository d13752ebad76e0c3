import { defineAgent, defineTool } from "@millrace/agent";
import { createClient } from "@millrace/client";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";
import { textOf } from "./kit/text-of.ts";

const spend = defineTool({
  name: "spend",
  description: "Spends money",
  input: z.object({ cents: z.number() }),
  approve: "ask",
  run: ({ cents }) => `spent ${cents}`,
});
const Receipt = z.object({
  total: z.number(),
  paid: z.string().transform((text) => text === "yes"),
});

it("a session is forked at an item, with an id or without, and goes on by itself", async () => {
  const model = scriptedModel([[say("One.")], [say("Two.")], [say("Another two.")]]);
  await using served = await serve(defineAgent({ model }));
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("trunk");
  await session.send("First").result;
  await session.send("Second").result;
  session.subscribe(() => undefined);
  await until(() => session.items.length === 4, "all is shown");
  const fork = await session.fork(session.items[1]?.id ?? "", "branch");
  fork.subscribe(() => undefined);
  await fork.send("Else").result;
  await until(() => fork.status === "idle" && fork.items.length === 4, "it has answered");

  expect(fork).toBe(client.session("branch"));
  expect(textOf(fork)).toBe("First|One.|Else|Another two.");
  expect(textOf(session)).toBe("First|One.|Second|Two.");
  expect((await session.fork(session.items[1]?.id ?? "")).id).not.toBe("branch");
  await expect(session.fork("item_none")).rejects.toMatchObject({ code: "refused" });
});

it("a session is made with a title and metadata before its first prompt, and its agent is chosen by them", async () => {
  const model = (text: string): ReturnType<typeof scriptedModel> => scriptedModel([[say(text)]]);
  const [plain, chosen] = ["Plain.", "Chosen."].map((text) => defineAgent({ model: model(text) }));
  if (plain === undefined || chosen === undefined) throw new Error("two were made");
  await using served = await serve(plain, {
    agent: ({ metadata }) => (metadata["who"] === "me" ? chosen : plain),
  });
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("made");
  session.subscribe(() => undefined);
  await session.create({ title: "By me", metadata: { who: "me" } });

  expect(await session.send("Go").text()).toBe("Chosen.");
  expect(await session.details()).toMatchObject({ title: "By me", metadata: { who: "me" } });
  await until(() => session.items.length === 2, "it is shown");
  await expect(session.create()).rejects.toMatchObject({ code: "session_exists" });
});

it("a session is exported in each format, and a file that was sent is read back with its type", async () => {
  await using served = await serve(defineAgent({ model: scriptedModel([[say("I see.")]]) }));
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("files");
  const bytes = new Uint8Array(64 * 1_024).map((_, at) => at % 251);
  await session.send(["Look", new Blob([bytes], { type: "image/png" })]).result;
  session.subscribe(() => undefined);
  await until(() => session.items.length === 2, "all is shown");
  const part = session.items[0]?.parts[1];
  const hash = part?.kind === "media" ? (part.blob?.hash ?? "") : "";
  const file = await session.blob(hash);

  expect([file.type, new Uint8Array(await file.arrayBuffer())]).toEqual(["image/png", bytes]);
  expect(await (await session.export("markdown")).text()).toContain("I see.");
  expect(await (await session.export("html")).text()).toContain("<!doctype html>");
  const lines = (await (await session.export("jsonl")).text()).trimEnd().split("\n");
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ type: "run_finished" });
  await expect(session.blob("0".repeat(64))).rejects.toMatchObject({ code: "refused" });
});

it("an answer of a shape is checked on arrival, also one in a code fence", async () => {
  const model = scriptedModel([
    [say('```json\n{"total": 12, "paid": "yes"}\n```')],
    [say('{"total": "twelve"}')],
    [say("I can't.")],
  ]);
  await using served = await serve(defineAgent({ model }));
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("shapes");
  const result = await session.send("How much?", { output: Receipt }).result;
  const output: { total: number; paid: boolean } | undefined =
    result.outcome === "completed" ? result.output : undefined;

  expect(output).toEqual({ total: 12, paid: true });
  expect(await session.send("Again", { output: Receipt }).result).toMatchObject({
    outcome: "failed",
    error: { code: "invalid_output", message: expect.stringContaining("total") as string },
  });
  expect(await session.send("Again", { output: Receipt }).result).toMatchObject({
    outcome: "failed",
    error: { code: "invalid_output" },
    text: "I can't.",
  });
  const lines = (await (await session.export("jsonl")).text()).split("\n");
  const sent = lines.find((line) => line.includes("input_accepted")) ?? "";
  expect(JSON.parse(sent)).toMatchObject({
    input: { options: { output: { type: "object", required: ["total", "paid"] } } },
  });
});

it("the questions of a run are answered by its function, once each, and one that throws denies", async () => {
  const model = scriptedModel([
    [call("spend", { cents: 5 }), call("spend", { cents: 500 })],
    [say("Done.")],
    [call("spend", { cents: 7 })],
    [say("Not done.")],
  ]);
  await using served = await serve(defineAgent({ model, tools: [spend] }));
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("asks");
  const asked: unknown[] = [];
  const ask = ({ input }: { readonly input: unknown }): "allow" | "deny" => {
    asked.push(input);
    return asked.length === 1 ? "allow" : "deny";
  };
  session.subscribe(() => undefined);
  expect(await session.send("Buy", { ask }).result).toMatchObject({ text: "Done." });
  const fails = async (): Promise<"allow"> => Promise.reject(new Error("away"));
  expect(await session.send("Buy", { ask: fails }).result).toMatchObject({ text: "Not done." });
  await until(() => session.status === "idle", "it is shown");
  const states = session.items
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.kind === "tool_call" ? [part.state] : []));

  expect(asked).toEqual([{ cents: 5 }, { cents: 500 }]);
  expect(states).toEqual(["finished", "denied", "denied"]);
});

it("a session that is closed leaves the stream and stops nothing, and can be opened again", async () => {
  const model = scriptedModel([[say("A long story.")]], { delayMs: 100 });
  await using served = await serve(defineAgent({ model }));
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("closed");
  const views: string[] = [];
  session.subscribe((view) => views.push(textOf(view)));
  const run = session.send("Tell");
  const { result } = run;
  await until(() => session.status === "running", "it runs");
  session.close();

  expect(await result).toMatchObject({ outcome: "failed", error: { code: "closed" } });
  await until(() => served.streams() === 0, "the stream is left");
  expect([session.items, session.loading]).toEqual([[], true]);
  const seen = views.length;
  session.close();
  session.subscribe((view) => views.push(textOf(view)));
  await until(() => session.lastRun?.outcome === "completed", "the run went on");
  expect(textOf(session)).toBe("Tell|A long story.");
  expect(views.length).toBeGreaterThan(seen);

  client.session("beside").subscribe(() => undefined);
  await until(() => !client.session("beside").loading, "another is on the stream");
  session.close();
  session.subscribe(() => undefined);
  await until(() => textOf(session) === "Tell|A long story.", "it is shown anew");
});
