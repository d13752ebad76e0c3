import { assert, assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { CallOptions, HttpAnswer } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { slowText } from "./model.ts";

const httpCase = casesOf("inputs");

const prompt = (text: string): object => ({ kind: "prompt", text });

/** How a request waits for what it began. */
export const waitingCases: readonly HttpCase[] = [
  httpCase(
    18,
    "a waiting request is answered by the run, or in time without it",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      const path = `/v1/sessions/${id}/inputs`;
      const wait = (seconds: number): object => ({ headers: { prefer: `wait=${seconds}` } });
      const began = performance.now();
      const early = await ann.expect(200, "POST", path, {
        key: freshKey(),
        body: prompt("say early"),
        ...wait(20),
      });
      assertEqual(
        [early.body.status, early.body.text],
        ["finished", "early"],
        "the run is the answer",
      );
      assertEqual(early.headers["preference-applied"], "wait=20", "the wait is applied");
      assert(performance.now() - began < 4_000, "it is not waited longer than the run takes");

      const late = await ann.expect(202, "POST", path, {
        key: freshKey(),
        body: prompt("slow 200 20"),
        ...wait(1),
      });
      assert(late.body.runId !== undefined, "an answer in time names the run");
      const run = await ann.expect(
        200,
        "GET",
        `/v1/sessions/${id}/runs/${late.body.runId}`,
        wait(0),
      );
      assertEqual(run.body.status, "running", "which goes on");
      for (const bad of ["wait=x", "wait=-1", "wait=1e9x"]) {
        const { status } = await ann.call("GET", `/v1/sessions/${id}`, {
          headers: { prefer: bad },
        });
        assertEqual(status, 200, "a preference that is not understood is ignored");
      }
      await ann.expect(202, "POST", `/v1/sessions/${id}/abort`, { body: {} });
    },
  ),
  httpCase(
    18,
    "no request waits longer than the limit, whatever it asks for",
    async ({ person, open }) => {
      const ann = person();
      const headers = { prefer: "wait=61" };
      const id = await ann.session();
      const path = `/v1/sessions/${id}/inputs`;
      const quick = { key: freshKey(), body: prompt("say quick"), headers };
      const most = await ann.expect(200, "POST", path, quick);
      assertEqual(most.headers["preference-applied"], "wait=60", "60 s are the most");

      const capped = (await open({ limits: { waitMs: 1_000 } })).for(ann);
      const took = async (
        method: string,
        at: string,
        options: CallOptions,
      ): Promise<HttpAnswer> => {
        const began = performance.now();
        const answer = await capped.call(method, at, options);
        const ms = performance.now() - began;
        assert(ms >= 990 && ms < 5_000, `${method} ${at} with ${answer.text} took ${ms} ms`);
        return answer;
      };
      const key = freshKey();
      const late = await took("POST", path, { key, body: prompt("slow 1000 20"), headers });
      assertEqual(
        [late.status, late.headers["preference-applied"]],
        [202, "wait=1"],
        "a prompt is answered in time",
      );
      const run = await took("GET", `/v1/sessions/${id}/runs/run_${key}`, { headers });
      assertEqual([run.status, run.body.status], [200, "running"], "and so is its run");
      await ann.expect(202, "POST", `/v1/sessions/${id}/abort`, { body: {} });
      await ann.finished(id, `run_${key}`);
      const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}/snapshot`);
      const events = `/v1/sessions/${id}/events?cursor=${encodeURIComponent(body.cursor ?? "")}`;
      const json = { headers: { ...headers, accept: "application/json" } };
      const nothing = await took("GET", events, json);
      assertEqual(nothing.body.messages, [], "and events that do not come");
    },
    "servers",
  ),
  httpCase(
    19,
    "a stream in the answer ends with its run, and its last id resumes",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      const key = freshKey();
      const body = prompt("slow 10 10");
      const path = `/v1/sessions/${id}/inputs`;
      using reader = await ann.open(path, { method: "POST", key, body });
      await reader.ended();

      assertEqual(reader.status, 200, "it is a stream");
      const last = reader.messages.at(-1);
      assertEqual(last?.message.type, "stream_ended", "its last message is its end");
      assertEqual(
        [last?.message.reason, last?.id],
        ["finished", undefined],
        "which moves no cursor",
      );
      using viewer = await ann.watch(id, "", { "last-event-id": reader.cursor() });
      await ann.ran(id, "say next");
      await viewer.until(({ type }) => type === "run_finished", "the next run ends");
      const [first] = viewer.messages;
      assert(first?.message.type !== "snapshot", "nothing is sent again");
    },
  ),
  httpCase(19, "hanging up stops nothing", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const key = freshKey();
    const path = `/v1/sessions/${id}/inputs`;
    const reader = await ann.open(path, { method: "POST", key, body: prompt("slow 20 10") });
    reader.close();

    const run = await ann.finished(id, `run_${key}`);
    assertEqual([run.outcome, run.text], ["completed", slowText(20)], "the run completes");
  }),
  httpCase(
    21,
    "a stream that is asked for again by its key attaches to the same run",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      const key = freshKey();
      const path = `/v1/sessions/${id}/inputs`;
      const body = prompt("slow 20 10");
      const first = await ann.open(path, { method: "POST", key, body });
      await first.until(({ type }) => type !== undefined, "the first bytes");
      first.close();
      using second = await ann.open(path, { method: "POST", key, body });
      await second.ended();

      assertEqual(second.messages.at(-1)?.message.reason, "finished", "it ends with the run");
      const { body: page } = await ann.expect(200, "GET", `/v1/sessions/${id}/items`);
      assertEqual(page.items?.length, 2, "the prompt ran once");
    },
  ),
];
