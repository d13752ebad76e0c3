import { assert, assertEqual } from "../case.ts";
import type { HttpBody } from "./body.ts";
import { freshKey } from "./caller.ts";
import type { Caller, HttpAnswer } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { textsOf } from "./reader.ts";
import { approvalOf, decide, untilApproval } from "./steps.ts";

const httpCase = casesOf("control");

const abort = (caller: Caller, id: string, body: object = {}): Promise<HttpAnswer> =>
  caller.call("POST", `/v1/sessions/${id}/abort`, { body });

const isEnd = ({ type }: HttpBody): boolean => type === "run_finished";
const isStop = ({ type, input }: HttpBody): boolean =>
  type === "input_accepted" && input?.kind === "abort";

/** Stopping runs, and deciding what they ask. */
export const controlCases: readonly HttpCase[] = [
  httpCase(26, "a stop reaches another viewer while the run writes", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const { runId } = await ann.post(id, "slow 1000 20");
    using viewer = await ann.watch(id);
    const shown = (): string => textsOf(viewer.state()).slice(1).join("");
    await viewer.until(() => shown().startsWith("w000000"), "the run writes");
    const before = shown();
    const { status, body } = await abort(ann, id, { runId, reason: "stop button" });
    await viewer.until(isEnd, "the run ends");

    assertEqual([status, body.runId], [202, runId], "the stop is accepted");
    const run = await ann.finished(id, runId);
    assertEqual(run.outcome, "aborted", "the run is aborted");
    assert((run.text ?? "").startsWith(before), `what was shown is kept: ${run.text}`);
  }),
  httpCase(
    27,
    "a stop right after the post ends the run or takes the prompt back",
    async ({ person }) => {
      const ann = person();
      await Promise.all(
        Array.from({ length: 8 }, async (_, pauses) => {
          const id = await ann.session();
          const { runId } = await ann.post(id, "slow 200 20");
          for (let at = 0; at < pauses * 3; at += 1)
            await new Promise((resolve) => setImmediate(resolve));
          const { status } = await abort(ann, id, { runId });
          const path = `/v1/sessions/${id}/runs/${runId}`;
          const run = await ann.call("GET", path, { headers: { prefer: "wait=10" } });

          assertEqual(status, 202, "the stop is accepted");
          if (run.status === 404) return;
          assertEqual([run.status, run.body.outcome], [200, "aborted"], "the run ends aborted");
        }),
      );
    },
  ),
  httpCase(27, "a stop that names a run nobody posted changes nothing", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const key = freshKey();
    const { status } = await abort(ann, id, { runId: `run_${key}` });
    assert([200, 404].includes(status), `an unknown run is answered with ${status}`);
    const { runId } = await ann.post(id, "say hello", { key });
    assertEqual((await ann.finished(id, runId)).outcome, "completed", "its prompt runs later");
  }),
  httpCase(28, "a hundred stops at once are one stop", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const { runId } = await ann.post(id, "slow 500 20");
    using viewer = await ann.watch(id);
    await viewer.until(({ type }) => type === "batch", "the run writes");
    const answers = await Promise.all(Array.from({ length: 100 }, () => abort(ann, id, { runId })));
    await viewer.until(isEnd, "the run ends");
    answers.push(await abort(ann, id, { runId }));
    await ann.ran(id, "say afterwards");
    await viewer.until((one) => isEnd(one) && one.runId !== runId, "the next run");

    // Those that come after the end find nothing to stop.
    const statuses = answers.map(({ status }) => status);
    assert(
      statuses.every((status) => status === 202 || status === 200),
      `all are answered: ${[...new Set(statuses)].join(", ")}`,
    );
    for (const { body } of answers.filter(({ status }) => status === 202))
      assertEqual(body.runId, runId, "each names the run");
    const stops = viewer.messages.filter(({ message }) => isStop(message));
    assertEqual(stops.length, 1, "one is stored");
    const ends = viewer.messages.filter(({ message }) => isEnd(message) && message.runId === runId);
    assertEqual(ends.length, 1, "the run ended once");
  }),
  httpCase(29, "a stop while nothing runs is 200 and no fact", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    await ann.ran(id, "say done");
    const before = await ann.expect(200, "GET", `/v1/sessions/${id}`);
    const { status, body } = await abort(ann, id);
    const after = await ann.expect(200, "GET", `/v1/sessions/${id}`);

    assertEqual([status, body], [200, {}], "nothing was stopped");
    assertEqual(after.body.head, before.body.head, "nothing was stored");
    const empty = await ann.call("POST", `/v1/sessions/${id}/abort`);
    assertEqual(empty.status, 200, `Stop needs neither body nor key: ${empty.text}`);
  }),
  httpCase(30, "a stop of an older run leaves the run that is on", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const older = await ann.post(id, "say older");
    await ann.finished(id, older.runId);
    const { runId } = await ann.post(id, "slow 20 10");
    await abort(ann, id, { runId: older.runId });

    assertEqual((await ann.finished(id, runId)).outcome, "completed", "the newer run completes");
    const old = await ann.finished(id, older.runId);
    assertEqual(old.outcome, "completed", "the older one stays as it ended");
  }),
  httpCase(
    30,
    "a stop without a run means the run that is on, then the oldest prompt",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      const first = await ann.post(id, "slow 500 20");
      const second = await ann.post(id, "slow 500 20");
      const { body } = await abort(ann, id);

      assertEqual(body.runId, first.runId, "the run that is on is stopped");
      await ann.finished(id, first.runId);
      const { body: next } = await abort(ann, id);
      assertEqual(next.runId, second.runId, "then the next one");
    },
  ),
  httpCase(
    31,
    "a stop works while everything else is refused",
    async ({ person, open }) => {
      const server = await open({ limits: { requestsPerUser: 6 } });
      const ann = server.for(person());
      const id = await ann.session();
      const { runId } = await ann.post(id, "slow 500 20");
      let refused = 0;
      for (let at = 0; at < 8; at += 1)
        refused += (await ann.call("GET", `/v1/sessions/${id}`)).status === 429 ? 1 : 0;
      const { status } = await abort(ann, id, { runId });

      assert(refused > 0, "requests are refused");
      assertEqual(status, 202, "the stop is not");
    },
    "servers",
  ),
  httpCase(
    32,
    "a question is allowed once, and the opposite comes too late",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      const { runId } = await ann.post(id, 'call refund {"order":"A1","cents":9000}');
      const asked = await untilApproval(ann, id);

      assertEqual(
        [asked.tool, asked.input],
        ["refund", { order: "A1", cents: 9000 }],
        "it is shown",
      );
      assertEqual(
        (await ann.expect(200, "GET", `/v1/sessions/${id}`)).body.status,
        "paused",
        "it waits",
      );
      const allowed = await decide(ann, id, asked, { decision: "allow", hash: asked.hash });
      assertEqual(allowed.status, 200, allowed.text);
      const { decision, actor } = allowed.body;
      assertEqual(
        [decision, actor?.user, actor?.via],
        ["allow", "ann", "http"],
        "the answer is named",
      );
      const again = await decide(ann, id, asked, { decision: "allow" });
      assertEqual([again.status, again.body.decision], [200, "allow"], "the same again is 200");
      const opposite = await decide(ann, id, asked, { decision: "deny" });
      assertEqual([opposite.status, opposite.body.code], [409, "settled"], "the opposite is late");
      assertEqual((await ann.finished(id, runId)).text, "done: refunded", "the tool ran");
      const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}/approvals`);
      assertEqual(body.approvals, [], "nothing is asked any more");
    },
  ),
  httpCase(32, "a denied call does not run", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const { runId } = await ann.post(id, 'call refund {"order":"A1","cents":1}');
    const asked = await untilApproval(ann, id);
    const { status } = await decide(ann, id, asked, { decision: "deny", reason: "not today" });

    assertEqual(status, 200, "it is denied");
    const { text = "" } = await ann.finished(id, runId);
    assert(!text.includes("refunded"), `the model is told: ${text}`);
    await ann.refused(404, "not_found", "POST", `/v1/sessions/${id}/approvals/approval_x`, {
      body: { decision: "allow" },
    });
  }),
  httpCase(33, "of two who decide at once, one does", async ({ person }) => {
    const [ann, service] = [person("ann"), person("robot", { roles: ["service"] })];
    const id = await ann.session();
    await ann.post(id, 'call refund {"order":"A1","cents":1}');
    const asked = await untilApproval(ann, id);
    const answers = await Promise.all([
      decide(ann, id, asked, { decision: "allow" }),
      decide(service, id, asked, { decision: "deny" }),
    ]);

    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    assertEqual(statuses, [200, 409], "one decides, one is late");
  }),
  httpCase(34, "a decision about something else than was asked is refused", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    await ann.post(id, 'call refund {"order":"A1","cents":1}');
    const asked = await untilApproval(ann, id);
    const wrong = await decide(ann, id, asked, { decision: "allow", hash: "0".repeat(64) });

    assertEqual([wrong.status, wrong.body.code], [409, "hash_mismatch"], "it is refused");
    assertEqual((await approvalOf(ann, id))?.id, asked.id, "the question still waits");
  }),
  httpCase(
    35,
    "a question survives the server that asked it",
    async ({ person, open }) => {
      const before = await open({});
      const ann = person();
      const first = before.for(ann);
      const id = await first.session();
      const { runId } = await first.post(id, 'call refund {"order":"A1","cents":1}');
      const asked = await untilApproval(first, id);
      await before.served.drain(0);
      const second = (await open({})).for(ann);
      const found = await approvalOf(second, id);

      assertEqual(found?.id, asked.id, "it is still asked");
      assertEqual(found?.hash, asked.hash, "it is the same question");
      assertEqual(
        (await decide(second, id, asked, { decision: "allow" })).status,
        200,
        "it is allowed",
      );
      assertEqual((await second.finished(id, runId)).text, "done: refunded", "the run goes on");
    },
    "servers",
  ),
  httpCase(36, "a sub-agent's question is found from its root", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const asks = JSON.stringify({ prompt: 'call refund {"order":"A1","cents":1}' });
    const { runId } = await ann.post(id, `call packer ${asks}`);
    const asked = await untilApproval(ann, id, "?deep=true");
    const { body: own } = await ann.expect(200, "GET", `/v1/sessions/${id}/approvals`);

    assertEqual(own.approvals, [], "the root asks nothing itself");
    assert(asked.sessionId !== id, "the question names the sub-agent's session");
    const child = encodeURIComponent(asked.sessionId ?? "");
    assertEqual(
      (await decide(ann, child, asked, { decision: "allow" })).status,
      200,
      "it is allowed",
    );
    const run = await ann.finished(id, runId);
    assertEqual(run.outcome, "completed", "the root completes");
  }),
  httpCase(37, "a client's tool is answered once", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const path = `/v1/sessions/${id}/answers`;
    using viewer = await ann.watch(id);
    const { runId } = await ann.post(id, "call:where locate {}");
    await viewer.until(({ type }) => type === "tool_execution_started", "the tool waits");
    const body = { callId: "where", output: { city: "Oslo" } };
    const first = await ann.expect(202, "POST", path, { body });

    assert(first.body.inputId !== undefined, "the answer has an id");
    const again = await ann.call("POST", path, { body });
    assertEqual(
      [again.status, again.body.inputId],
      [202, first.body.inputId],
      "a repeat is the same",
    );
    const run = await ann.finished(id, runId);
    assert((run.text ?? "").includes("Oslo"), `the model got it: ${run.text}`);
    const late = await ann.call("POST", path, { body: { ...body, output: { city: "Rome" } } });
    assertEqual([late.status, late.body.code], [409, "settled"], "another answer is too late");
  }),
  httpCase(37, "a call id that comes again in a later turn is another call", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const path = `/v1/sessions/${id}/answers`;
    for (const city of ["Oslo", "Rome"]) {
      using viewer = await ann.watch(id);
      const { runId } = await ann.post(id, "call:same locate {}");
      const isOn = ({ type, runId: on }: HttpBody): boolean =>
        type === "tool_execution_started" && on === runId;
      await viewer.until(isOn, "the tool waits");
      await ann.expect(202, "POST", path, { body: { callId: "same", output: { city } } });
      const run = await ann.finished(id, runId);
      assert((run.text ?? "").includes(city), `this call got this answer: ${run.text}`);
    }
  }),
  httpCase(37, "a client's tool can fail", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const path = `/v1/sessions/${id}/answers`;
    using viewer = await ann.watch(id);
    const { runId } = await ann.post(id, "call:where locate {}");
    await viewer.until(({ type }) => type === "tool_execution_started", "the tool waits");
    const both = { callId: "where", output: 1, error: "both" };
    await ann.refused(400, "invalid_request", "POST", path, { body: both });
    await ann.expect(202, "POST", path, { body: { callId: "where", error: "no permission" } });

    const run = await ann.finished(id, runId);
    assert((run.text ?? "").includes("no permission"), `the model is told: ${run.text}`);
  }),
];
