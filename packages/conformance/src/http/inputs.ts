import { assert, assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { Caller, HttpAnswer } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { slowText } from "./model.ts";

const httpCase = casesOf("inputs");

const prompt = (text: string): object => ({ kind: "prompt", text });

const post = (caller: Caller, id: string, key: string, body: object): Promise<HttpAnswer> =>
  caller.call("POST", `/v1/sessions/${id}/inputs`, { key, body });

/** What people send to a session. */
export const inputCases: readonly HttpCase[] = [
  httpCase(12, "an accepted prompt has ids made of its key", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const key = freshKey();
    const { status, body } = await post(ann, id, key, prompt("say hello"));

    assertEqual(status, 202, "it is accepted");
    assertEqual(body.inputId, `input_${key}`, "the input's id is made of the key");
    assertEqual(body.runId, `run_${key}`, "the run's id is made of the key");
    assertEqual(body.n, 1, "it is the first fact");
    const run = await ann.finished(id, `run_${key}`);
    assertEqual([run.outcome, run.text], ["completed", "hello"], "its run completes");
    assertEqual(run.inputId, `input_${key}`, "the run names its input");
  }),
  httpCase(12, "an input has text or parts, and part ids may be left out", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const body = { kind: "prompt", parts: [{ kind: "text", text: "say parts" }] };
    const { status, body: accepted } = await post(ann, id, freshKey(), body);

    assertEqual(status, 202, "parts are taken");
    assertEqual((await ann.finished(id, accepted.runId ?? "")).text, "parts", "the run had them");
    for (const wrong of [
      { kind: "prompt" },
      { kind: "prompt", text: "a", parts: [] },
      { kind: "x" },
    ])
      assertEqual((await post(ann, id, freshKey(), wrong)).status, 400, JSON.stringify(wrong));
  }),
  httpCase(12, "a failed run is an answer, not an error of HTTP", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const run = await ann.ran(id, "fail on purpose");

    assertEqual(run.outcome, "failed", "the run failed");
    assert(run.cause?.code !== undefined, "it has a cause");
  }),
  httpCase(
    14,
    "a key is 16 to 128 letters, digits and hyphens, bare or quoted",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      const path = `/v1/sessions/${id}/inputs`;
      const body = prompt("say x");
      const bad = [
        "short",
        "x".repeat(129),
        "x".repeat(10_240),
        "with_underscore_16",
        "with space 123456",
      ];
      for (const key of [undefined, ...bad, '"unclosed-1234567890']) {
        await ann.refused(400, "invalid_key", "POST", path, { key, body });
      }
      const key = freshKey();
      const quoted = await post(ann, id, `"${key}"`, body);
      assertEqual(
        [quoted.status, quoted.body.inputId],
        [202, `input_${key}`],
        "a quoted key is its text",
      );
      const bare = await post(ann, id, key, body);
      assertEqual(bare.headers["idempotency-replayed"], "true", "quotes make no other key");
      for (const good of [`${"x".repeat(88)}${freshKey()}`, freshKey().slice(0, 16)])
        assertEqual((await post(ann, id, good, body)).status, 202, `${good.length} characters`);
    },
  ),
  httpCase(15, "two posts at once with one key are one fact", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const key = freshKey();
    const body = prompt("say twice");
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(ann, id, key, body)));

    for (const answer of answers) {
      assertEqual(answer.status, 202, answer.text);
      assertEqual(answer.body, answers[0]?.body, "all answers are equal");
    }
    await ann.finished(id, `run_${key}`);
    const { body: page } = await ann.expect(200, "GET", `/v1/sessions/${id}/items`);
    assertEqual(page.items?.length, 2, "one question, one reply");
    const other = await post(ann, id, key, prompt("say something else"));
    assertEqual([other.status, other.body.code], [422, "key_reused"], "another body is refused");
  }),
  httpCase(15, "a repeat is accepted however it waits", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const key = freshKey();
    const body = prompt("say once");
    await post(ann, id, key, body);
    await ann.finished(id, `run_${key}`);
    const headers = { prefer: "wait=5" };
    const path = `/v1/sessions/${id}/inputs`;
    const again = await ann.expect(200, "POST", path, { key, body, headers });
    assertEqual(again.body.text, "once", "the repeat waits for the same run");
  }),
  httpCase(16, "a refused request leaves its key free", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const key = freshKey();
    const refused = await post(ann, id, key, { kind: "prompt", text: "say x", typo: 1 });
    assertEqual(refused.status, 400, "an unknown field is refused");
    const bytes = { bytes: "{", headers: { "content-type": "application/json" } };
    await ann.expect(400, "POST", `/v1/sessions/${id}/inputs`, { key, ...bytes });
    const { status, headers } = await post(ann, id, key, prompt("say x"));
    assertEqual([status, headers["idempotency-replayed"]], [202, undefined], "the key was free");
  }),
  httpCase(
    17,
    "a steer reaches the run that is on, a follow-up comes after it",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      using viewer = await ann.watch(id);
      const { runId } = await ann.post(id, "slow 10 20");
      await viewer.until(({ type }) => type === "batch", "the run writes");
      const steered = await ann.post(id, "say steered", { kind: "steer" });
      assertEqual(steered.runId, "", "a steer has no run of its own");
      await ann.post(id, "say followed", { kind: "follow_up" });
      const run = await ann.finished(id, runId);

      assertEqual(run.outcome, "completed", "the run completes");
      const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}/items`);
      const texts = body.items?.map(({ item }) => item?.parts?.map(({ text }) => text).join(""));
      const expected = [
        "slow 10 20",
        slowText(10),
        "say steered",
        "steered",
        "say followed",
        "followed",
      ];
      assertEqual(texts, expected, "each has its reply, in this order");
    },
  ),
  httpCase(17, "a steer while nothing runs is accepted", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const { inputId } = await ann.post(id, "say idle", { kind: "steer" });
    assert(inputId !== "", "it has an id");
    const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}`);
    assert((body.head ?? 0) >= 1, "it is stored");
  }),
  httpCase(22, "a prompt behind a run waits for its end", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const first = await ann.post(id, "slow 30 10");
    const second = await ann.post(id, "say second");
    const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}/runs/${second.runId}`);

    assertEqual(body.status, "queued", "it is queued");
    assertEqual((await ann.finished(id, second.runId)).text, "second", "it runs afterwards");
    assertEqual((await ann.finished(id, first.runId)).text, slowText(30), "the first was not cut");
  }),
  httpCase(23, "a waiting input is taken back, an item is not", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const inputs = `/v1/sessions/${id}/inputs`;
    const running = await ann.post(id, "slow 60 10");
    const waiting = await ann.post(id, "say never");

    await ann.expect(204, "DELETE", `${inputs}/${waiting.inputId}`);
    await ann.expect(204, "DELETE", `${inputs}/${waiting.inputId}`);
    await ann.finished(id, running.runId);
    await ann.refused(409, "settled", "DELETE", `${inputs}/${running.inputId}`);
    await ann.refused(404, "not_found", "DELETE", `${inputs}/input_${freshKey()}`);
    const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}/items`);
    assertEqual(body.items?.length, 2, "what was taken back never ran");
  }),
  httpCase(24, "an input that names an unknown blob is refused", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const blob = { hash: `sha256-${"0".repeat(64)}`, size: 3 };
    const file = { kind: "file", name: "a.txt", mediaType: "text/plain", blob };
    const key = freshKey();
    const path = `/v1/sessions/${id}/inputs`;
    const body = { kind: "prompt", parts: [file] };
    await ann.refused(422, "unknown_blob", "POST", path, { key, body });
    const { status } = await post(ann, id, key, prompt("say x"));
    assertEqual(status, 202, "its key stays free");
  }),
  httpCase(
    25,
    "an input above the limit of those that wait is refused, and none is evicted",
    async ({ person, open }) => {
      const server = await open({ limits: { inputsPerSession: 3 } });
      const ann = server.for(person());
      const id = await ann.session();
      using viewer = await ann.watch(id);
      // The run waits for a client's tool; all that follows waits for the run.
      const first = await ann.post(id, "call:where locate {}");
      await viewer.until(({ type }) => type === "tool_execution_started", "the tool waits");
      const waiting = [];
      for (let at = 0; at < 3; at += 1) waiting.push(await ann.post(id, `say ${at}`));
      const path = `/v1/sessions/${id}/inputs`;
      const above = { key: freshKey(), body: prompt("say too much") };
      const { headers, body } = await ann.refused(429, "quota_exceeded", "POST", path, above);

      assertEqual(body.policy, "inputsPerSession", "the answer names the limit");
      assertEqual(headers["retry-after"], undefined, "waiting alone does not help");
      const again = { key: waiting[1]?.key, body: prompt("say 1") };
      const repeat = await ann.expect(202, "POST", path, again);
      assertEqual(repeat.headers["idempotency-replayed"], "true", "a repeat adds nothing");
      await ann.expect(204, "DELETE", `${path}/${waiting[2]?.inputId}`);
      await ann.expect(202, "POST", path, above);
      const answer = { callId: "where", output: { city: "Oslo" } };
      await ann.expect(202, "POST", `/v1/sessions/${id}/answers`, { body: answer });
      for (const [at, { runId }] of waiting.slice(0, 2).entries())
        assertEqual((await ann.finished(id, runId)).text, `${at}`, "those before it run");
      const last = await ann.finished(id, `run_${above.key}`);
      assertEqual(last.text, "too much", "what was taken back made room");
      assertEqual((await ann.finished(id, first.runId)).outcome, "completed", "so does the first");
    },
    "servers",
  ),
];
