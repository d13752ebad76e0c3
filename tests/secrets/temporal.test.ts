/** Secrets at all that Temporal stores, by the functions that make it. What a server stores: tests/temporal/secrets.test.ts. */
import { inspect } from "node:util";
import { outline } from "@millrace/agent/loop";
import { say, scriptedModel, call, fail } from "@millrace/core/testing";
import { defineAgent, defineTool } from "@millrace/agent";
import { memorySessionStore } from "@millrace/core/memory";
import { registerSecret } from "@millrace/core/secrets";
import { sessionMemo } from "@millrace/temporal/plugin";
import {
  ApplicationFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
  ensureApplicationFailure,
} from "@temporalio/common";
import { expect, it } from "vitest";
import { z } from "zod";
import { withRedaction } from "../../packages/temporal/src/worker/redact-failures.ts";
import { leaked, secretsOf, wordsWith } from "./kit.ts";

const total = 2_000;
const perRound = 250;

/** What activities may throw, with these words at every place that Temporal stores. */
const thrown: Readonly<Record<string, (words: string) => unknown>> = {
  "an error with a cause and a stack of its own": (words) => {
    const cause = Object.assign(new TypeError("inner"), { stack: `TypeError\n    at ${words}` });
    return new Error(words, { cause: new Error("cause", { cause }) });
  },
  "a failure of Temporal's": (words) =>
    ApplicationFailure.create({
      message: words,
      type: words,
      details: [words, { nested: [words], [words]: 1 }],
      cause: ApplicationFailure.nonRetryable("inner", "Inner", words),
    }),
  "no error": (words) => words,
};

it("no secret is in the failures, stacks, details and log attributes of an activity", async () => {
  let checked = 0;
  for (let seed = 1; checked < total; seed += 1) {
    const secrets = secretsOf(seed, perRound);
    const words = wordsWith(secrets);
    const releases = secrets.map((value) => registerSecret({ name: "one", value }));
    for (const [name, make] of Object.entries(thrown)) {
      const { stored, logged } = await failed(make(words));

      expect(stored, name).toContain("[redacted]");
      expect(leaked(stored, secrets), name).toEqual([]);
      expect(leaked(logged, secrets), name).toEqual([]);
    }
    for (const release of releases) release();
    checked += secrets.length;
  }
  console.log(`count: secrets ${checked} in ${Object.keys(thrown).length} failures of Temporal`);
});

it("would be found by this test: one that is not registered is in each of them", async () => {
  const secrets = secretsOf(1, 2);
  for (const [name, make] of Object.entries(thrown)) {
    const { stored, logged } = await failed(make(wordsWith(secrets)));

    expect(leaked(stored, secrets), name).toEqual(secrets);
    expect(leaked(logged, secrets), name).toEqual(secrets);
  }
});

it("no secret is in the results of steps and in memos, though no content is redacted", async () => {
  const secrets = secretsOf(1, total);
  const words = wordsWith(secrets);
  const releases = secrets.map((value) => registerSecret({ name: "one", value }));
  const boom = defineTool({
    name: "boom",
    input: z.object({ words: z.string() }),
    run: () => Promise.reject(new Error(words)),
  });
  const replies = [[say(words), call("boom", { words })], [fail("bad", words)]];
  const model = scriptedModel(replies, { chunk: "whole" });
  const store = memorySessionStore();
  const session = await defineAgent({ model, tools: [boom], warnings: false }).open({
    id: "s",
    store,
  });
  await session.send(words).result;
  await session.close();
  const record = await store.create({ sessionId: "t", metadata: { words } });

  const facts = await store.read((await store.find("s"))?.uid ?? record.uid);

  for (const release of releases) release();
  const results = JSON.stringify(facts.map(outline));
  const [first = ""] = secrets;
  expect(leaked(JSON.stringify(facts), [first])).toEqual([first]);
  expect(results).toContain("boom");
  expect(leaked(results, secrets)).toEqual([]);
  expect(leaked(JSON.stringify(sessionMemo(record)), secrets)).toEqual([]);
});

/** An activity's failure as it is sent to Temporal, payloads decoded, and as the SDK logs it. */
async function failed(value: unknown): Promise<{ stored: string; logged: string }> {
  const context = undefined as never; // not read by the interceptor
  const execute = withRedaction().activity?.[0]?.(context).inbound?.execute;
  const input = { args: [], headers: {} };
  const fails = (): Promise<never> => Promise.reject(value);
  let caught: unknown;
  try {
    await execute?.(input, fails);
  } catch (rejected) {
    caught = rejected;
  }
  const failure = new DefaultFailureConverter().errorToFailure(
    ensureApplicationFailure(caught),
    defaultPayloadConverter,
  );
  const stored = JSON.stringify(failure, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : value,
  );
  return { stored, logged: inspect({ error: caught }, { depth: 20, maxStringLength: Infinity }) };
}
