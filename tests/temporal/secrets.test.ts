/** What a real server has stored of failures with secrets in them. All 2,000: tests/secrets/temporal.test.ts. */
import { inspect } from "node:util";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { registerSecret } from "@millrace/core/secrets";
import { call, fail, say, scriptedModel } from "@millrace/core/testing";
import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { until } from "../kit/until.ts";
import { leaked, secretsOf, wordsWith } from "../secrets/kit.ts";
import { type Cluster, connectTo, quiet, startServers } from "./cluster.ts";
import { encode, storedRuns } from "./stored-history.ts";

const secrets = secretsOf(1, 100);
const words = wordsWith(secrets);
const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());

/** All that Temporal's SDK logs: of workers, activities and workflows. */
const logged: string[] = [];
let cluster: Cluster;

beforeAll(async () => {
  for (const value of secrets) started.defer(registerSecret({ name: "planted", value }));
  quiet((entry) => logged.push(inspect(entry, { depth: 20, maxStringLength: Infinity })));
  cluster = started.use(await connectTo(started.use(await startServers())));
  await cluster.work({ agent: choose, heartbeatMs: 500 });
}, 300_000);

/** The agent of each session, by its id. That of `none` can't be chosen. */
async function choose({ sessionId }: { readonly sessionId: string }): Promise<Agent> {
  const boom = defineTool({
    name: "boom",
    input: z.object({ words: z.string() }),
    run: () => Promise.reject(new Error(words, { cause: new Error(words) })),
  });
  const twice = { attempts: 2, baseMs: 1, capMs: 1 };
  switch (sessionId) {
    case "tool":
      return defineAgent({
        model: scriptedModel([[call("boom", { words })], [say(words)]], { chunk: "whole" }),
        tools: [boom],
      });
    case "model":
      return defineAgent({ model: scriptedModel([[fail("bad", words)]]), retry: twice });
    case "respond":
      return defineAgent({ respond: () => Promise.reject(new Error(words, { cause: words })) });
    default: {
      const cause = new Error(words, { cause: new TypeError(words) });
      throw ApplicationFailure.create({ message: words, details: [{ words }], cause });
    }
  }
}

test.each(["tool", "model", "respond"])(
  "no secret is in the history, memo, search attributes, result or log of a run that fails in its %s",
  { timeout: 60_000 },
  async (sessionId) => {
    const talk = await cluster.talk(sessionId);
    await talk.send(words);
    await talk.handle.result();

    const facts = await talk.facts();
    expect(facts.at(-1)).toMatchObject({ type: "run_finished" });
    expect(leaked(JSON.stringify(facts), secrets)).not.toEqual([]); // content is stored as it is, in the store
    expect(leaked(await stored(sessionId), secrets)).toEqual([]);
    expect(leaked(logged.join("\n"), secrets)).toEqual([]);
  },
);

test(
  "no secret is in the failures of activities, those that are pending, and their log lines",
  { timeout: 60_000 },
  async () => {
    const talk = await cluster.talk("none");
    await talk.send("hello");
    const hasFailed = async (): Promise<boolean> => {
      const { raw } = await talk.handle.describe();
      return (raw.pendingActivities ?? []).some(({ lastFailure }) => Boolean(lastFailure));
    };
    await until(hasFailed, "an activity has failed", { limitMs: 30_000, everyMs: 100 });
    // Log lines come later than the failure: the SDK collects them.
    const isLogged = (): boolean => /Activity failed[^]*\[redacted\]/.test(logged.join("\n"));
    await until(isLogged, "its failure is in the log", { limitMs: 10_000, everyMs: 50 });

    const all = await stored("none");
    await talk.handle.terminate();

    const log = logged.join("\n");
    expect(leaked(all, secrets)).toEqual([]);
    expect(leaked(log, secrets)).toEqual([]);
    expect(all).toContain("[redacted]");
  },
);

/** Every byte that Temporal has of a session's workflow, texts as they are. */
async function stored(sessionId: string): Promise<string> {
  const { handle } = await cluster.talk(sessionId);
  const runs = await storedRuns(cluster.client, handle.workflowId);
  const { raw, memo, searchAttributes } = await handle.describe();
  const histories = Buffer.concat(runs.flatMap(({ events }) => events.map(encode)));
  const described = JSON.stringify([raw, memo, searchAttributes], (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : textOf(value),
  );
  return `${histories.toString("utf8")}\n${described}`;
}

function textOf(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : value;
}
