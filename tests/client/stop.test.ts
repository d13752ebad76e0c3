import { defineAgent } from "@millrace/agent";
import { createClient } from "@millrace/client";
import { say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";

const words = Array.from({ length: 200 }, (_, at) => `word ${at}`).join(", ");
const agent = defineAgent({
  model: scriptedModel([[say(words)], [say(words)]], { delayMs: 20 }),
});

/** A fetch in whose posts of inputs a test waits, before they leave or before their answers are there. */
function heldFetch(where: "request" | "answer"): {
  readonly fetch: typeof fetch;
  readonly release: () => void;
  readonly paths: string[];
} {
  const { promise, resolve } = Promise.withResolvers<void>();
  const paths: string[] = [];
  const held: typeof fetch = async (input, init) => {
    const path = new URL(input as string).pathname.split("/").at(-1) ?? "";
    const isSend = init?.method === "POST" && ["inputs", "sessions"].includes(path);
    if (isSend && where === "request") await promise;
    paths.push(path);
    const response = await fetch(input, init);
    if (isSend && where === "answer") await promise;
    return response;
  };
  return { fetch: held, release: resolve, paths };
}

it("Stop overtakes the answer of the prompt that it stops", async () => {
  await using served = await serve(agent);
  const { fetch: held, release } = heldFetch("answer");
  using client = createClient({ url: served.url, token: "ann", fetch: held });
  using other = createClient({ url: served.url, token: "ann" });
  const run = client.session().send("Go");
  await until(async () => {
    const { sessions } = await other.sessions();
    return sessions.some(({ status }) => status === "running");
  }, "it runs");

  const late = new Promise((resolve) => void setTimeout(resolve, 5_000, "late"));
  expect(await Promise.race([run.abort("enough").accepted, late])).toEqual({ accepted: true });
  release();
  expect(await run.result).toMatchObject({ outcome: "aborted" });
});

it("Stop of a prompt that is on its way is repeated once it has arrived", async () => {
  await using served = await serve(agent);
  const { fetch: held, release, paths } = heldFetch("request");
  using client = createClient({ url: served.url, token: "ann", fetch: held });
  const session = client.session();
  const run = session.send("Go");
  const stopped = session.abort();
  await until(() => paths.includes("abort"), "Stop is first");
  release();

  expect(await stopped.accepted).toEqual({ accepted: true });
  expect(await run.result).toMatchObject({ outcome: "aborted" });
  expect(paths.filter((path) => path === "abort")).toHaveLength(2);
});
