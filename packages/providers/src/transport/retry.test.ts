import { expect, test } from "vitest";
import { manualClock } from "@millrace/core/testing";
import type { ProviderOptions } from "../provider.ts";
import type { HttpReply } from "../serve/vendor-reply.ts";
import { startVendorServer } from "../serve/vendor-server.ts";
import { ask, hello, toyModel } from "../testing/toy-model.ts";
import type { Answer } from "../testing/toy-model.ts";

/** Sends requests until the replies are used up, with waits of no length. Jitter is a half. */
async function askAll(
  replies: readonly HttpReply[],
  options: ProviderOptions = {},
): Promise<Answer & { readonly asked: number }> {
  await using server = await startVendorServer({ replies });
  const clock = { ...manualClock(), sleep: shortSleep };
  const answer = await ask(toyModel(server.url, { clock, random: () => 0.5, ...options }));
  return { ...answer, asked: server.requests.length };
}

/** Sleeps of the watch are real; those between tries end at once. */
function shortSleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms < 5_000 || ms === 60_250) return Promise.resolve();
  return new Promise((resolve) =>
    signal?.addEventListener("abort", () => resolve(), { once: true }),
  );
}

const overloaded: HttpReply = { status: 529, body: "" };

test("S56: what may pass is tried again, and the waits are reported", async () => {
  const { reply, notices, asked } = await askAll([overloaded, overloaded, { body: hello }]);
  expect(reply).toMatchObject({ stop: "end", parts: [{ text: "Hello" }] });
  expect(asked).toBe(3);
  expect(notices).toMatchObject([
    { type: "retry_scheduled", delayMs: 250, cause: { code: "overloaded" } },
    { type: "retry_scheduled", delayMs: 500 },
  ]);
});

test("three tries are all by default, and the last failure stands", async () => {
  const { reply, asked } = await askAll([
    overloaded,
    overloaded,
    { status: 500, body: "" },
    { body: hello },
  ]);
  expect(reply).toMatchObject({ stop: "failed", cause: { code: "server_error" } });
  expect(asked).toBe(3);
});

test("S54: what can't pass is not tried again", async () => {
  const { asked } = await askAll([{ status: 401, body: "" }, { body: hello }]);
  expect(asked).toBe(1);
});

test("retry: false is one try", async () => {
  const { asked } = await askAll([overloaded, { body: hello }], { retry: false });
  expect(asked).toBe(1);
});

test.each([
  ["1", 1_250],
  ["60", 60_250],
  ["Thu, 01 Jan 1970 00:00:02 GMT", 2_250],
  ["soon", 250],
  ["-5", 250],
  ["", 250],
])("S55: retry-after %j makes the wait %d ms", async (value, delayMs) => {
  const limited = { status: 429, headers: { "retry-after": value }, body: "" };
  const { notices, reply } = await askAll([limited, { body: hello }]);
  expect(notices).toMatchObject([{ delayMs, cause: { code: "rate_limited" } }]);
  expect(reply.stop).toBe("end");
});

test.each([
  ["7200", "1970-01-01T02:00:00.000Z"],
  ["Thu, 01 Jan 1970 00:10:00 GMT", "1970-01-01T00:10:00.000Z"],
])(
  "retry-after %j is not cut short: the reply ends, and its cause has the time of the next try",
  async (value, retryAt) => {
    const limited = { status: 429, headers: { "retry-after": value }, body: "" };
    const { notices, reply, asked } = await askAll([limited, { body: hello }]);
    expect([asked, notices]).toEqual([1, []]);
    expect(reply).toMatchObject({
      stop: "failed",
      cause: { code: "rate_limited", retryable: true, evidence: { retryAt } },
    });
    expect(reply.cause?.message).toContain(` s, at ${retryAt}`);
  },
);

test.each([undefined, fetch])(
  "a key with a line break is refused before a request (%o)",
  async (fetch) => {
    await using server = await startVendorServer({ replies: [{ body: hello }] });
    const auth = (): Record<string, string> => ({ authorization: "Bearer a-secret-key\n" });
    const { reply, notices } = await ask(toyModel(server.url, { fetch }, { auth }));
    expect(reply).toMatchObject({
      stop: "failed",
      cause: { code: "bad_request", retryable: false },
    });
    expect(reply.cause?.message).toMatch(
      /authorization has a line break at character 20 of 20: trim/,
    );
    expect(reply.cause?.message).not.toContain("a-secret-key");
    expect([server.requests.length, notices]).toEqual([0, []]);
  },
);

test("retry-after-ms is more exact", async () => {
  const limited = {
    status: 429,
    headers: { "retry-after": "1", "retry-after-ms": "40" },
    body: "",
  };
  expect((await askAll([limited, { body: hello }])).notices).toMatchObject([{ delayMs: 290 }]);
});

test("a stream that breaks before its first delta is tried again", async () => {
  const { reply, asked } = await askAll([
    { body: ": hello\n\n", end: "reset" },
    { body: "" },
    { body: hello },
  ]);
  expect([reply.stop, asked]).toEqual(["end", 3]);
});

test("S42: after the first delta there is no second try, since it would be seen", async () => {
  const { reply, asked, notices } = await askAll([
    { body: 'data: {"say":"Hel"}\n\n', end: "reset" },
    { body: hello },
  ]);
  expect(reply).toMatchObject({
    stop: "failed",
    parts: [{ text: "Hel" }],
    cause: { retryable: true },
  });
  expect([asked, notices]).toEqual([1, []]);
});

test("an abort between two tries ends at once", async () => {
  await using server = await startVendorServer({ replies: [overloaded, { body: hello }] });
  const stop = new AbortController();
  const model = toyModel(server.url, { retry: { baseMs: 60_000 }, random: () => 0.9 });
  const answer = ask(model, stop.signal);
  await server.requests[0]?.ended;
  await (
    await server.received(1)
  ).ended;
  setTimeout(() => stop.abort(), 20);
  expect((await answer).reply).toMatchObject({ stop: "aborted", cause: { code: "aborted" } });
  expect(server.requests.length).toBe(1);
});
