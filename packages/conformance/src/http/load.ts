import { createHash } from "node:crypto";
import { project } from "@millrace/core";
import type { SessionState } from "@millrace/core";
import { assert, assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { Caller } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { slowText } from "./model.ts";
import { receiveBytes, requestText } from "./raw.ts";
import { advance } from "./reader.ts";
import { each } from "./steps.ts";

const httpInput = casesOf("inputs");

/** Posts until an answer arrives. `lose` decides for each try whether its answer is lost. */
async function postAnyway(
  caller: Caller,
  id: string,
  key: string,
  lose: (attempt: number) => boolean,
): Promise<number> {
  const path = `/v1/sessions/${id}/inputs`;
  const body = { kind: "steer", text: `note ${key}` };
  for (let attempt = 0; ; attempt += 1) {
    if (lose(attempt)) {
      // The request is on its way when the connection goes: it may or may not have been stored.
      await caller.call("POST", path, { key, body, hangUpMs: attempt % 7 }).catch(() => undefined);
      continue;
    }
    const { status } = await caller.call("POST", path, { key, body });
    if (status === 202) return attempt + 1;
  }
}

/** What is asked in the session of this number: long and short ones, text, tools and failures. */
function historyOf(at: number): readonly string[] {
  if (at % 20 === 0) return ["slow 8 3", 'call note {"text":"x"}', "say last"];
  const short = ["say hello", "slow 3 1", 'call note {"text":"n"}', "fail oh", "big 3000"];
  const one = short[at % short.length] ?? "";
  return at % 4 === 0 ? [one, "say more"] : [one];
}

/** What a reader shows of a session, with its position. */
const shownBy = (state: SessionState | undefined): unknown =>
  state && { ...project(state), head: state.head };

/** Resumes a session from each position that its viewer had. Resolves to how many there were. */
async function resumeEverywhere(ann: Caller, at: number): Promise<number> {
  const id = await ann.session();
  using viewer = await ann.watch(id);
  await viewer.until(() => true, "the snapshot");
  let last = "";
  for (const text of historyOf(at)) last = (await ann.ran(id, text)).runId ?? "";
  await viewer.until(({ type, runId }) => type === "run_finished" && runId === last, "the end");
  const end = shownBy(viewer.state());
  const [snapshot] = viewer.messages;
  assert(snapshot !== undefined, "there is a snapshot");
  let state = advance(undefined, snapshot);
  for (const message of viewer.messages) {
    if (message !== snapshot) state = advance(state, message);
    const form = at % 2 === 0 ? "form=whole&" : "";
    const path = `/v1/sessions/${id}/events?${form}cursor=${encodeURIComponent(message.id ?? "")}`;
    const headers = { accept: "application/json" };
    const { body, text } = await ann.expect(200, "GET", path, { headers });
    let resumed = state;
    for (const sent of body.messages ?? [])
      resumed = advance(resumed, { ...sent, id: sent.id, line: JSON.stringify(sent.message) });
    const where = `from ${message.id} of ${historyOf(at).join(", ")} by ${text}`;
    assertEqual(shownBy(resumed), end, where);
  }
  return viewer.messages.length;
}

/** Cases of load: run them alone, on one mount. The sizes of some grow with the run's scale. */
export const loadCases: readonly HttpCase[] = [
  casesOf("safety")(80, "H12: a body has 10 MiB at most, to the byte", async ({ person }) => {
    const most = 10 * 1_024 * 1_024;
    const headers = { "content-type": "application/json" };
    for (const unmeasured of [false, true]) {
      const of = (size: number): object => ({
        key: freshKey(),
        bytes: "{}".padEnd(size),
        unmeasured,
      });
      for (const size of [most - 1, most])
        await person().expect(201, "POST", "/v1/sessions", { ...of(size), headers });
      const { body } = await person().refused(413, "too_large", "POST", "/v1/sessions", {
        ...of(most + 1),
        headers,
      });
      assertEqual(body.limit, most, "the answer has the limit");
    }
  }),
  casesOf("sessions")(
    7,
    "a thousand sessions come by pages without gap or double while others change",
    async ({ person }) => {
      const [ann, bob] = [person("ann"), person("bob")];
      const made = new Set<string>();
      const moving: string[] = [];
      await each([...Array(1_050).keys()], 20, async (at) => {
        if (at % 21 === 0) moving.push(await ann.session());
        else made.add(await ann.session());
      });
      const listed: (string | undefined)[] = [];
      let next: string | undefined;
      for (let page = 0; page === 0 || next !== undefined; page += 1) {
        const after = next === undefined ? "" : `&after=${encodeURIComponent(next)}`;
        const { body } = await ann.expect(200, "GET", `/v1/sessions?limit=37${after}`);
        listed.push(...(body.sessions ?? []).map(({ id }) => id));
        ({ next } = body);
        // Some move to the front, one goes, one comes, and others have their own.
        const [first = "", second = ""] = [moving[page], moving[moving.length - 1 - page]];
        if (page < 20)
          await ann.expect(200, "PATCH", `/v1/sessions/${first}`, { body: { title: "x" } });
        if (page < 20) await ann.expect(204, "DELETE", `/v1/sessions/${second}`);
        await Promise.all([ann.session(), bob.session()]);
      }

      assertEqual(made.size, 1_000, "so many stay as they are");
      assertEqual(new Set(listed).size, listed.length, "none is listed twice");
      const seen = new Set(listed);
      const missing = [...made].filter((id) => !seen.has(id));
      assertEqual(missing, [], "none of those that stay is left out");
    },
  ),
  httpInput(13, "posts whose answers are lost are stored once each", async ({ person, scale }) => {
    const ann = person();
    const keys = Array.from({ length: 500 * scale }, () => freshKey());
    const ids = await Promise.all(Array.from({ length: 20 * scale }, () => ann.session()));
    let tries = 0;
    await each([...keys.entries()], 20, async ([at, key]) => {
      const id = ids[at % ids.length] ?? "";
      const used = await postAnyway(ann, id, key, (attempt) => attempt < at % 3);
      tries += used;
    });

    assert(tries > keys.length * 1.5, `half of the answers were lost: ${tries} tries`);
    for (const [at, id] of ids.entries()) {
      const { text } = await ann.expect(200, "GET", `/v1/sessions/${id}/export?format=jsonl`);
      for (const key of keys.filter((_, index) => index % ids.length === at)) {
        const found = text.split(`"inputId":"input_${key}","input":`).length - 1;
        assertEqual(found, 1, `the input of ${key}`);
      }
    }
  }),
  httpInput(
    20,
    "a run completes at whichever byte the connection of its answer is cut",
    async ({ person, target, scale }) => {
      const ann = person();
      const body = { kind: "prompt", text: "slow 2 1" };
      const cutAt = async (id: string, key: string, count: number): Promise<string> => {
        const more = { accept: "text/event-stream", "idempotency-key": key };
        const headers = { ...target.as(ann.who), ...more };
        const path = `/v1/sessions/${id}/inputs`;
        const request = requestText(target.url, "POST", path, { body, headers });
        return await receiveBytes(target.url, request, count);
      };
      const whole = await cutAt(await ann.session(), freshKey(), Infinity);
      assert(whole.includes("stream_ended"), `the answer has its end: ${whole}`);
      // Every byte in a campaign; for each change some, from another one each time.
      const step = scale > 1 ? 1 : 8;
      const first = 1 + Math.floor(Math.random() * step);
      const cuts = [...Array(whole.length).keys()].filter((at) => at % step === first % step);
      await each(cuts, 20, async (cut) => {
        const [id, key] = [await ann.session(), freshKey()];
        // An answer whose numbers have fewer digits may end before.
        const came = await cutAt(id, key, Math.max(1, cut));
        const run = await ann.finished(id, `run_${key}`);
        assertEqual([run.outcome, run.text], ["completed", slowText(2)], `cut after ${came}`);
      });
    },
    "sockets",
  ),
  casesOf("events")(
    39,
    "every cursor of 200 sessions is answered by what leads to the same state",
    async ({ person, scale }) => {
      const ann = person();
      let cursors = 0;
      await each([...Array(200 * Math.min(scale, 5)).keys()], 8, async (at) => {
        const count = await resumeEverywhere(ann, at);
        cursors += count;
      });
      assert(cursors > 2_000, `there were ${cursors} cursors`);
    },
  ),
  casesOf("state")(65, "a blob has 32 MiB at most, to the byte", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const most = 32 * 1_024 * 1_024;
    const path = `/v1/sessions/${id}/blobs`;
    const headers = { "content-type": "application/octet-stream" };
    for (const unmeasured of [false, true]) {
      for (const size of [most - 1, most]) {
        const bytes = Buffer.alloc(size, unmeasured ? 1 : 0);
        const { body } = await ann.expect(201, "POST", path, { bytes, headers, unmeasured });
        const hash = `sha256-${createHash("sha256").update(bytes).digest("hex")}`;
        assertEqual([body.size, body.hash], [size, hash], "it is stored whole");
      }
      const bytes = Buffer.alloc(most + 1, unmeasured ? 1 : 0);
      const above = await ann.expect(413, "POST", path, { bytes, headers, unmeasured });
      assertEqual([above.body.code, above.body.limit], ["too_large", most], "one byte more");
    }
  }),
];
