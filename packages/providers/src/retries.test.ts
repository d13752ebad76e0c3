/** Retry decisions as a table: for each answer of a vendor, whether and when it is asked again. */
import { readFileSync } from "node:fs";
import type { Json, Model } from "@millrace/core";
import { manualClock } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai, openaiChat, openaiCompatible } from "./openai.ts";
import type { ProviderOptions } from "./provider.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { ask } from "./testing/toy-model.ts";

interface Row {
  readonly vendor: string;
  readonly api: keyof typeof models;
  readonly about: string;
  /** Left out: 200, with the body as an event of the stream. */
  readonly status?: number;
  readonly stream?: true;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Json;
  /**
   * `retry`: after the delay. `later`: the delay is longer than what is waited for, so the reply ends with
   * the time of the next try. `never`: the same request can't pass.
   */
  readonly decision: "retry" | "later" | "never";
  readonly code: string;
  /** The vendor's own delay. Left out: none. */
  readonly delayMs?: number;
  /** Where a vendor's fact can be read. */
  readonly link?: string;
}

type Options = ProviderOptions & { readonly baseUrl: string; readonly apiKey: string };

const models = {
  anthropic: (options: Options): Model => anthropic("claude-sonnet-5", options),
  chat: (options: Options): Model => openaiChat("gpt-5", options),
  compatible: (options: Options): Model => openaiCompatible("any", options),
  gemini: (options: Options): Model => gemini("gemini-3-pro-preview", options),
  responses: (options: Options): Model => openai("gpt-5", options),
};

const file = new URL("../fixtures/retries.json", import.meta.url);
const rows = JSON.parse(readFileSync(file, "utf8")) as readonly Row[];

const now = Date.parse("2026-01-15T12:00:00Z");
/** The sleep of the watch over a request. It is never the delay of a row, and lasts until the request ends. */
const watchMs = 9_999;
const jitterMs = 250;

/** Sends requests until there is no further try. Delays between tries end at once. */
async function decide({ api, status = 200, headers = {}, body, stream }: Row): Promise<object> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const reply = stream
    ? { body: `data: ${text}\n\n` }
    : { status, headers: { "content-type": "application/json", ...headers }, body: text };
  await using server = await startVendorServer({ replies: [{ ...reply, times: Infinity }] });
  const clock = {
    ...manualClock(),
    now: () => now,
    sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
      ms === watchMs ? aborted(signal) : Promise.resolve(),
  };
  const model = models[api]({
    baseUrl: server.url,
    apiKey: "k",
    retry: { attempts: 2 },
    timeouts: { connectMs: watchMs },
    random: () => 0.5,
    clock,
  });
  const { reply: end, notices } = await ask(model);
  const waits = notices.flatMap((notice) =>
    notice.type === "retry_scheduled" ? [notice.delayMs] : [],
  );
  const time = / at (\d{4}-\S+Z)$/.exec(end.cause?.message ?? "")?.[1];
  return {
    code: end.cause?.code,
    retryable: end.cause?.retryable,
    requests: server.requests.length,
    waits,
    nextTry: time,
  };
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) =>
    signal?.addEventListener("abort", () => resolve(), { once: true }),
  );
}

function expected({ code, decision, delayMs }: Row): object {
  const wait = delayMs ?? 0;
  return {
    code,
    retryable: decision !== "never",
    requests: decision === "retry" ? 2 : 1,
    waits: decision === "retry" ? [wait + jitterMs] : [],
    nextTry: decision !== "never" && wait > 0 ? new Date(now + wait).toISOString() : undefined,
  };
}

test.each(rows)("$vendor: $about: $decision", async (row) => {
  expect(await decide(row)).toEqual(expected(row));
});

test("the table has every decision, and a link for each fact of a vendor", () => {
  expect(rows.length).toBeGreaterThanOrEqual(60);
  expect(new Set(rows.map(({ decision }) => decision)).size).toBe(3);
  expect(rows.filter(({ link, vendor }) => link === undefined && vendor !== "a gateway")).toEqual(
    [],
  );
  console.log(`count: retry decisions, ${rows.length} rows`);
});
