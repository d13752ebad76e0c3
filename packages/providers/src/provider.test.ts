import { emptyDraft } from "@millrace/core";
import { foldAll } from "@millrace/core/writing";
import type { JsonObject } from "@millrace/core";
import { expect, test } from "vitest";
import { startVendorServer } from "./serve/vendor-server.ts";
import { ask, hello, toyModel } from "./testing/toy-model.ts";
import { binaryFrame, binaryFraming, toyProtocol } from "./testing/toy.ts";

test("a model's bytes become deltas and a reply, in one request", async () => {
  await using server = await startVendorServer({ replies: [{ body: hello, chunks: "byte" }] });
  const model = toyModel(server.url, { price: { input: 1, output: 2 } });
  const { reply, deltas } = await ask(model);
  expect(reply).toEqual({
    stop: "end",
    evidence: "end",
    model: "toy/small",
    parts: [{ kind: "text", id: "p1", text: "Hello" }],
    usage: { inputTokens: 3, outputTokens: 5, cachedTokens: 1, cost: 13e-6 },
  });
  expect(foldAll(emptyDraft(), deltas).fault).toBeUndefined();
  expect(deltas.map(({ op }) => op)).toEqual([
    "begin_part",
    "append_text",
    "append_text",
    "commit_part",
  ]);
  expect(server.requests.length).toBe(1);
  expect(server.requests[0]).toMatchObject({ method: "POST", path: "/say", json: { items: 0 } });
  expect(server.requests[0]?.headers).toMatchObject({
    authorization: "Bearer k",
    accept: "text/event-stream",
    "accept-encoding": "identity",
  });
});

test("the deltas come while the vendor still writes", async () => {
  await using server = await startVendorServer({
    replies: [{ body: hello, chunks: "event", delayMs: [0, 60_000] }],
  });
  const stream = toyModel(server.url).stream({ transcript: [] });
  for await (const delta of stream) {
    if (delta.op === "append_text") break;
  }
  expect((await stream.result).stop).toBe("aborted");
  expect((await server.requests[0]?.ended)?.by).toBe("client");
});

test("a caller that only awaits the result gets the same reply", async () => {
  await using server = await startVendorServer({ replies: [{ body: hello }] });
  const { result } = toyModel(server.url).stream({ transcript: [] });
  expect(await result).toMatchObject({ stop: "end", parts: [{ text: "Hello" }] });
});

test("a binary framing fits without a change anywhere else", async () => {
  const frames = [{ say: "Hel" }, { say: "lo" }, { end: true }].map(binaryFrame);
  const body = Buffer.concat(frames);
  const headers = { "content-type": "application/vnd.toy" };
  await using server = await startVendorServer({
    replies: [
      { body, headers, chunks: "byte" },
      { body: body.subarray(0, -3), headers },
    ],
  });
  const model = toyModel(server.url, { retry: false }, { framing: binaryFraming });
  expect((await ask(model)).reply).toMatchObject({ stop: "end", parts: [{ text: "Hello" }] });
  expect((await ask(model)).reply).toMatchObject({
    stop: "truncated",
    cause: { code: "truncated_transport" },
  });
});

test("a user's own fetch is used instead of undici", async () => {
  await using server = await startVendorServer({ replies: [{ body: hello, times: 2 }] });
  const calls: unknown[] = [];
  const mine: typeof fetch = (input, init) => {
    calls.push(input);
    return fetch(input, init);
  };
  const { reply } = await ask(toyModel(server.url, { fetch: mine }));
  expect(reply).toMatchObject({ stop: "end", parts: [{ text: "Hello" }] });
  expect(calls).toEqual([`${server.url}/say`]);
});

test("a connection is used again after a reply that was read to its end", async () => {
  await using server = await startVendorServer({ replies: [{ body: hello, times: 3 }] });
  const model = toyModel(server.url);
  for (let turn = 0; turn < 3; turn += 1) {
    await ask(model);
    // The last chunk of the encoding follows the last event.
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  expect(server.requests.map(({ connection }) => connection)).toEqual([1, 1, 1]);
});

test("without a key nothing is sent, and the cause describes what to do", async () => {
  await using server = await startVendorServer({ replies: [] });
  const { reply } = await ask(toyModel(server.url, {}, { auth: () => "set TOY_KEY" }));
  expect(reply).toMatchObject({
    stop: "failed",
    cause: { code: "missing_key", message: "set TOY_KEY" },
  });
  expect(server.requests).toEqual([]);
});

test("settings of the request win over those of the model", async () => {
  await using server = await startVendorServer({ replies: [{ body: hello }] });
  const protocol: typeof toyProtocol = {
    ...toyProtocol,
    request: ({ settings = {} }) => ({ path: "/say", body: settings as JsonObject }),
  };
  const echo = toyModel(server.url, { settings: { heat: 1, depth: 2 } }, { protocol });
  await echo.stream({ transcript: [], settings: { heat: 3, depth: undefined } }).result;
  expect(server.requests[0]?.json).toEqual({ heat: 3, depth: 2 });
});

test("a tool without a name is refused before anything is sent", async () => {
  await using server = await startVendorServer({ replies: [] });
  const tools = [{ name: " ", input: { type: "object" } }];
  const { result } = toyModel(server.url).stream({ transcript: [], tools });
  expect(await result).toMatchObject({ stop: "failed", cause: { code: "bad_request" } });
  expect(server.requests).toEqual([]);
});
