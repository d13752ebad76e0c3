import { expect, it } from "vitest";
import { defineAgent, defineTool } from "@millrace/agent";
import { parseJsonText } from "@millrace/core/wire";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { z } from "zod";
import { Served, newKey } from "../testing/served.ts";

/** A root whose tool is a sub-agent, and that waits in its tool until it is released. */
function family() {
  const release = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const wait = defineTool({
    name: "wait",
    input: z.object({}),
    run: async () => {
      begun.resolve();
      await release.promise;
      return "";
    },
  });
  const helps = scriptedModel([[call("wait", {})], [say("helped")]]);
  const helper = defineAgent({ model: helps, tools: [wait] });
  const model = scriptedModel([[call("helper", { prompt: "help" })], [say("done")]]);
  const tools = [helper.asTool({ name: "helper", description: "Helps" })];
  return { agent: defineAgent({ model, tools }), begun: begun.promise, release: release.resolve };
}

/** What is used of a message. */
interface Told {
  readonly type?: string;
  readonly sessionId?: string;
  readonly reason?: string;
}

/** Reads messages of a stream until one is as it should be. */
async function read(
  body: ReadableStreamDefaultReader<Uint8Array>,
  isLast: (message: Told) => boolean,
): Promise<readonly Told[]> {
  const told: Told[] = [];
  const decoder = new TextDecoder();
  for (let text = ""; ;) {
    const { done, value } = await body.read();
    if (done) throw new Error(`ended after ${JSON.stringify(told)}`);
    const lines = (text + decoder.decode(value, { stream: true })).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines.filter((each) => each.startsWith("data:"))) {
      told.push(parseJsonText(line.slice(5)) as Told);
      if (isLast(told.at(-1) ?? {})) return told;
    }
  }
}

async function watch(
  served: Served,
  ids: readonly string[],
): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const answer = await served.request("/v1/events", {
    body: { sessions: ids.map((id) => ({ id })), children: true, form: "whole" },
    headers: { accept: "text/event-stream" },
  });
  expect(answer.status).toBe(200);
  return answer.body!.getReader(); // of a 200
}

const isSub = (sessionId = ""): boolean => sessionId.startsWith("sub_");

it("a sub-agent that begins while a stream is open is shown there, and ends there when it is done", async () => {
  const { agent, begun, release } = family();
  await using served = new Served(agent);
  await served.create("s");
  const stream = await watch(served, ["s"]);
  await served.request("/v1/sessions/s/inputs", {
    body: { kind: "prompt", text: "go" },
    key: newKey(),
  });
  await begun;
  await read(stream, ({ type, sessionId }) => type === "snapshot" && isSub(sessionId));
  release();
  const ended = await read(stream, ({ type }) => type === "stream_ended");
  expect(ended.at(-1)).toMatchObject({ reason: "finished" });
  expect(isSub(ended.at(-1)?.sessionId)).toBe(true);
  expect(ended.filter(({ type }) => type === "snapshot")).toEqual([]);
  await stream.cancel();
});

it("a sub-agent that runs when a stream opens is shown there, also if other sessions of it are missing", async () => {
  const { agent, begun, release } = family();
  await using served = new Served(agent);
  await served.create("s", { input: { kind: "prompt", text: "go" } });
  await begun;
  const missing = Array.from({ length: 49 }, (_, at) => `missing-${at}`);
  const stream = await watch(served, ["s", ...missing]);
  await read(stream, ({ type, sessionId }) => type === "snapshot" && isSub(sessionId));
  release();
  await stream.cancel();
});

it("a sub-agent that a stream is asked for beside its parent is shown once", async () => {
  const { agent, begun, release } = family();
  await using served = new Served(agent);
  await served.create("s", { input: { kind: "prompt", text: "go" } });
  await begun;
  const isChild = ({ type, sessionId }: Told): boolean => type === "snapshot" && isSub(sessionId);
  const first = await watch(served, ["s"]);
  const child = (await read(first, isChild)).at(-1)?.sessionId ?? "";
  const stream = await watch(served, ["s", child]);
  await read(stream, isChild);
  release();
  const isOver = ({ type, sessionId }: Told): boolean =>
    type === "run_finished" && sessionId === "s";
  expect((await read(stream, isOver)).filter(isChild)).toEqual([]);
  await Promise.all([first.cancel(), stream.cancel()]);
});

it("a sub-agent leaves a stream together with the session that it works for, and others stay", async () => {
  const { agent, begun, release } = family();
  let revoked = "";
  await using served = new Served(agent, {
    authorize: ({ session }) => session.id !== revoked,
    streams: { recheckMs: 100 },
  });
  await served.create("s", { input: { kind: "prompt", text: "go" } });
  await served.create("other");
  await begun;
  const stream = await watch(served, ["s", "other"]);
  await read(stream, ({ type, sessionId }) => type === "snapshot" && isSub(sessionId));
  revoked = "s";
  const isEnd = ({ type }: Told): boolean => type === "stream_ended";
  const told = [...(await read(stream, isEnd)), ...(await read(stream, isEnd))].filter(isEnd);
  expect(told).toMatchObject([{ reason: "revoked" }, { reason: "revoked" }]);
  expect(told.map(({ sessionId }) => isSub(sessionId))).toEqual([true, false]);
  await served.request("/v1/sessions/other", {
    method: "DELETE",
  });
  expect((await read(stream, isEnd)).at(-1)).toMatchObject({ reason: "removed" });
  release();
});

it("each session that can't be read counts as an answer 404, so that a stream does not try out ids", async () => {
  await using served = new Served(undefined, { limits: { notFoundPerUser: 3 } });
  const ids = ["a", "b", "c"].map((id) => ({ id }));
  const ask = (): Promise<Response> =>
    served.request("/v1/events", {
      body: { sessions: ids },
      headers: { accept: "text/event-stream" },
    });
  expect((await ask()).status).toBe(200);
  const refused = await ask();
  expect([refused.status, await refused.json()]).toMatchObject([429, { policy: "not_found" }]);
});
