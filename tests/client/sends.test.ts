import { defineAgent, defineTool } from "@millrace/agent";
import { createClient } from "@millrace/client";
import type { ClientSession } from "@millrace/client";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";
import { textOf } from "./kit/text-of.ts";

const ok = { accepted: true };
const locate = defineTool({
  name: "locate",
  description: "Where the person is",
  input: z.object({}),
  output: z.object({ city: z.string() }),
  run: "client",
});

/** The call of `locate` that waits for a client. */
function waiting({ items }: ClientSession): string | undefined {
  for (const part of items.flatMap(({ parts }) => parts))
    if (part.kind === "tool_call" && part.state === "running") return part.callId;
  return undefined;
}

it("a steer and a follow-up reach the run that is on, and an input that was taken back does not", async () => {
  const model = scriptedModel([[call("locate", {})], [say("First.")], [say("Second.")]]);
  await using served = await serve(defineAgent({ model, tools: [locate] }));
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("steered");
  session.subscribe(() => undefined);
  const run = session.send("Go");
  await until(() => waiting(session) !== undefined, "it waits");
  const steered = session.steer("Be brief");
  const followed = session.followUp(["And", " then?"]);
  const unwanted = session.steer("No, wait");
  expect(session.queue.map(({ id, kind, text }) => [id, kind, text])).toEqual([
    [steered.id, "steer", "Be brief"],
    [followed.id, "follow_up", "And then?"],
    [unwanted.id, "steer", "No, wait"],
  ]);
  expect([await steered.accepted, await followed.accepted]).toEqual([ok, ok]);
  expect(await unwanted.accepted).toEqual(ok);
  expect(await session.takeBack(unwanted.id).accepted).toEqual(ok);
  await until(() => session.queue.length === 2, "it is gone");
  expect(await session.answer(waiting(session) ?? "", { city: "Oslo" }).accepted).toEqual(ok);

  expect(await run.result).toMatchObject({ outcome: "completed", text: "Second." });
  expect(textOf(session).split("|").filter(Boolean)).toEqual([
    "Go",
    "Be brief",
    "First.",
    "And",
    " then?",
    "Second.",
  ]);
  const late = await session.takeBack(steered.id).accepted;
  expect(late).toMatchObject({ accepted: false, error: { code: "refused" } });
});

it("a call that a client fails is a failed call, and the model goes on", async () => {
  const model = scriptedModel([[call("locate", {})], [say("Then I guess.")]]);
  await using served = await serve(defineAgent({ model, tools: [locate] }));
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("failed");
  session.subscribe(() => undefined);
  const run = session.send("Where am I?");
  await until(() => waiting(session) !== undefined, "it waits");
  expect(await session.fail(waiting(session) ?? "", "no permission").accepted).toEqual(ok);

  expect(await run.text()).toBe("Then I guess.");
  const calls = session.items.flatMap(({ parts }) =>
    parts.filter(({ kind }) => kind === "tool_call"),
  );
  expect(calls).toMatchObject([{ state: "failed", message: "no permission" }]);
  expect(await session.fail("call_unknown", "never").accepted).toMatchObject({ accepted: false });
});

it("files are sent inline if they are small and uploaded if not, also with the prompt that makes a session", async () => {
  const model = scriptedModel([[say("Seen.")], [say("Again.")]]);
  await using served = await serve(defineAgent({ model }));
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("files");
  session.subscribe(() => undefined);
  const small = new File(["short"], "a.txt", { type: "text/plain" });
  const large = new File(["y".repeat(100_000)], "b.txt", { type: "text/plain" });
  const photo = new Blob([new Uint8Array(50_000)], { type: "image/png" });
  const run = session.send(["Look: ", small, large, photo]);
  expect(session.queue.map(({ text }) => text)).toEqual(["Look: "]);

  expect(await run.text()).toBe("Seen.");
  expect(session.items[0]?.parts).toMatchObject([
    { kind: "text", text: "Look: " },
    { kind: "file", name: "a.txt", mediaType: "text/plain", size: 5 },
    { kind: "file", name: "b.txt", mediaType: "text/plain", size: 100_000 },
    { kind: "media", mediaType: "image/png", size: 50_000 },
  ]);
  const uploads = served.requests.filter((line) => line.includes("/blobs 2"));
  expect(uploads).toHaveLength(2);

  const before = served.requests.length;
  expect(await session.send([large]).text()).toBe("Again."); // the same bytes again
  const again = served.requests.slice(before).filter((line) => line.includes("/blobs"));
  expect(again).toEqual(["POST /v1/sessions/files/blobs 200"]);
});

it("a session is renamed and labelled by its owner, removed for everybody, and never by another user", async () => {
  await using served = await serve(defineAgent({ model: scriptedModel([[say("Hi.")]]) }));
  using ann = createClient({ url: served.url, token: "ann" });
  using phone = createClient({ url: served.url, token: "ann" });
  using eve = createClient({ url: served.url, token: "eve" });
  const session = ann.session("owned");
  await session.send("Hello").result;
  const other = phone.session("owned");
  other.subscribe(() => undefined);
  await until(() => other.items.length === 2, "it is shown");
  await session.update({ title: "Trip to Oslo", metadata: { color: "red" } });
  expect(await other.details()).toMatchObject({
    title: "Trip to Oslo",
    metadata: { color: "red" },
  });
  expect((await phone.sessions({ q: "Oslo" })).sessions.map(({ id }) => id)).toEqual(["owned"]);
  const foreign = eve.session("owned");
  await expect(foreign.update({ title: "Mine" })).rejects.toMatchObject({ code: "refused" });
  await expect(foreign.remove()).rejects.toMatchObject({ code: "refused" });

  await session.remove();
  await until(() => other.error !== undefined, "it is told");
  expect([other.error?.code, other.items]).toEqual(["removed", []]);
  await expect(session.details()).rejects.toMatchObject({ cause: { code: "not_found" } });
});

/** A way to a server on which something happens before each request that makes a session. */
function before(making: () => Promise<unknown>): typeof fetch {
  return async (input, init) => {
    const { url, method } = new Request(input, init);
    if (url.endsWith("/v1/sessions") && method === "POST") await making();
    return fetch(input, init);
  };
}

it("the first prompt, or file, of a page that found no session is stored though another page makes it meanwhile", async () => {
  const model = scriptedModel(Array.from({ length: 4 }, () => [say("Yes.")]));
  await using served = await serve(defineAgent({ model }));
  using other = createClient({ url: served.url, token: "ann" });
  for (const [id, content] of [
    ["text", "Mine"],
    ["file", ["Mine", new Blob([new Uint8Array(40_000)], { type: "image/png" })]],
  ] as const) {
    const makes = before(async () => await other.session(id).send("Theirs").accepted);
    using client = createClient({ url: served.url, token: "ann", fetch: makes });
    const { accepted, result } = client.session(id).send(content);

    expect(await accepted).toEqual(ok);
    expect(await result).toMatchObject({ outcome: "completed" });
  }
});

it("the first prompt to a name that another user has stays refused", async () => {
  const model = scriptedModel([[say("Yes.")]]);
  await using served = await serve(defineAgent({ model }));
  using other = createClient({ url: served.url, token: "ann" });
  await other.session("anns").send("Mine").result;
  using client = createClient({ url: served.url, token: "bob" });

  const { accepted } = client.session("anns").send("Mine too");
  expect(await accepted).toMatchObject({ accepted: false, error: { code: "refused" } });
});
