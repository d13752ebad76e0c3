import { assert, assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { Caller, HttpAnswer } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase, HttpContext } from "./http-case.ts";
import type { EventReader } from "./reader.ts";
import type { HttpNeed } from "./target.ts";

const httpCase = casesOf("safety");

/** A row of the list of bad input to HTTP, by its id there. */
export function badInputRow(
  id: string,
  expected: string,
  run: (context: HttpContext) => Promise<void>,
  ...needs: readonly HttpNeed[]
): HttpCase {
  return httpCase(80, `${id}: ${expected}`, run, ...needs);
}

const bodyOf = ({ body }: HttpAnswer): object => ({ ...body, instance: "" });
const json = { accept: "application/json" };
const inputs = (id: string): string => `/v1/sessions/${id}/inputs`;
const prompt = { kind: "prompt", text: "say x" };

/** The type of the first message that a cursor is answered with. */
async function firstFor(caller: Caller, path: string, headers: object): Promise<string> {
  const { body } = await caller.expect(200, "GET", path, { headers: { ...json, ...headers } });
  return body.messages?.[0]?.message.type ?? "nothing";
}

/** Who asks, from where, and for what. Rows of readers that stall and of browsers are cases 47 to 49 and 60. */
export const badInputCases: readonly HttpCase[] = [
  badInputRow("H01", "no, garbage and expired credentials get one 401", async (context) => {
    const { person, nobody, target } = context;
    const id = await person().session();
    const expired = target.as({ ...person().who, expiresAt: Date.now() - 1 });
    const answers: HttpAnswer[] = [];
    for (const as of [{}, { authorization: "Bearer x" }, { authorization: "x" }, expired])
      answers.push(
        await nobody().refused(401, "unauthenticated", "GET", `/v1/sessions/${id}`, { as }),
      );
    for (const answer of answers)
      assertEqual(bodyOf(answer), bodyOf(answers[0] ?? answer), "the bodies are equal");
  }),
  badInputRow("H02", "a foreign run gets the 404 of a missing one", async ({ person }) => {
    const [ann, bob] = [person("ann"), person("bob")];
    const [id, own] = [await ann.session(), await bob.session()];
    const { runId } = await ann.post(id, "say x");
    await ann.finished(id, runId);
    const answers: HttpAnswer[] = [];
    for (const path of [`${id}/runs/${runId}`, `${own}/runs/${runId}`, `${own}/runs/run_missing`])
      answers.push(await bob.refused(404, "not_found", "GET", `/v1/sessions/${path}`));
    for (const answer of answers)
      assertEqual(bodyOf(answer), bodyOf(answers[0] ?? answer), "the bodies are equal");
  }),
  badInputRow(
    "H03",
    "a member who may read gets 403 for posts, stops and decisions",
    async ({ person }) => {
      const [ann, bob] = [person("ann"), person("bob")];
      const id = await ann.session({ metadata: { grants: { bob: ["read"] } } });
      await bob.expect(200, "GET", `/v1/sessions/${id}`);
      const of = (path: string, body: object): Promise<HttpAnswer> =>
        bob.refused(403, "forbidden", "POST", `/v1/sessions/${id}/${path}`, {
          key: freshKey(),
          body,
        });
      await of("inputs", prompt);
      await of("abort", {});
      await of("approvals/approval_x", { decision: "allow" });
      await of("answers", { callId: "c", output: 1 });
      const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}`);
      assertEqual(body.head, 0, "nothing is stored");
    },
  ),
  badInputRow("H05", "a token in the query is 400 and in no log", async ({ person, target }) => {
    const query = "access_token=never-to-be-logged";
    const { text } = await person().refused(400, "token_in_url", "GET", `/v1/sessions?${query}`);
    assert(!`${text}${target.logged()}`.includes("never-to-be"), "nobody repeats it");
  }),
  badInputRow(
    "H06",
    "an origin that is evil, null or absent is 403",
    async ({ person, target }) => {
      const as = target.asCookie(person().who);
      for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }, {}])
        await person().refused(403, "origin_refused", "POST", "/v1/sessions", {
          as,
          key: freshKey(),
          body: {},
          headers,
        });
    },
  ),
  badInputRow(
    "H07",
    "a rebound host is 421",
    async ({ person, open }) => {
      const ann = (await open({ hosts: ["127.0.0.1", "localhost"] })).for(person());
      const headers = { host: "attacker.example" };
      await ann.refused(421, "wrong_host", "GET", "/v1/sessions", { headers });
    },
    "servers",
  ),
  badInputRow("H08", "JSON as plain text or as a form is 415", async ({ person }) => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "text/json"]) {
      const headers = { "content-type": type };
      const sent = { key: freshKey(), bytes: "{}", headers };
      await person().refused(415, "unsupported_media_type", "POST", "/v1/sessions", sent);
    }
  }),
  badInputRow(
    "H09",
    "a cursor of anything is answered by a snapshot, never by an error",
    async (context) => {
      const ann = context.person();
      const [id, other] = [await ann.session(), await ann.session()];
      await ann.ran(other, "say other");
      const path = `/v1/sessions/${id}/events`;
      const foreign = await ann.expect(200, "GET", `/v1/sessions/${other}/snapshot`);
      for (const cursor of ["x", "-1", "0", "'; DROP TABLE facts; --", "1.".repeat(1_000)])
        assertEqual(await firstFor(ann, path, { "last-event-id": cursor }), "snapshot", cursor);
      for (const cursor of ["\r\n\r\ndata: x", "\u0000", "😀", foreign.body.cursor ?? ""]) {
        const asked = `${path}?cursor=${encodeURIComponent(cursor)}`;
        assertEqual(await firstFor(ann, asked, {}), "snapshot", JSON.stringify(cursor));
      }
    },
  ),
  badInputRow("H10", "a cursor of the future is answered by a snapshot", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}/snapshot`);
    for (const head of ["zzz", "zzzzzzzzzz", "999999999999999999999"]) {
      const cursor = (body.cursor ?? "").replace(/\.0$/, `.${head}`);
      const path = `/v1/sessions/${id}/events`;
      assertEqual(await firstFor(ann, path, { "last-event-id": cursor }), "snapshot", cursor);
    }
  }),
  badInputRow("H11", "of two cursors the header's counts", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    await ann.ran(id, "say one");
    const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}/snapshot`);
    const headers = { "last-event-id": body.cursor ?? "" };
    const path = `/v1/sessions/${id}/events?cursor=garbage`;
    assertEqual(await firstFor(ann, path, headers), "nothing", "nothing is new to it");
  }),
  badInputRow("H12", "a packed body is 415", async ({ person }) => {
    for (const encoding of ["gzip", "br", "deflate", "gzip, identity"]) {
      const headers = { "content-type": "application/json", "content-encoding": encoding };
      const sent = { key: freshKey(), bytes: "x", headers };
      await person().refused(415, "unsupported_media_type", "POST", "/v1/sessions", sent);
    }
  }),
  badInputRow("H15", "an Accept without a form of the answer is 406", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    for (const accept of ["image/png", "text/html", "text/event-stream;q=0, application/json;q=0"])
      await ann.refused(406, "not_acceptable", "GET", `/v1/sessions/${id}/events`, {
        headers: { accept },
      });
    const headers = { accept: "application/json" };
    const body = { sessions: [{ id }] };
    await ann.refused(406, "not_acceptable", "POST", "/v1/events", { body, headers });
  }),
  badInputRow("H16", "a wrong verb is 405, and a path of two meanings 400", async ({ person }) => {
    const ann = person();
    const { headers } = await ann.refused(405, "method_not_allowed", "PUT", "/v1/sessions");
    assert((headers["allow"] ?? "").includes("POST"), `the others are named: ${headers["allow"]}`);
    for (const path of ["a;b", "a%00", "a%2Fb", "a%5Cb", "a%zz"])
      await ann.refused(400, "invalid_request", "GET", `/v1/sessions/${path}`);
  }),
  badInputRow(
    "H17",
    "a key of another body is 422, a bad or missing one 400",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      const key = freshKey();
      await ann.expect(202, "POST", inputs(id), { key, body: prompt });
      const other = { key, body: { ...prompt, text: "say y" } };
      await ann.refused(422, "key_reused", "POST", inputs(id), other);
      for (const bad of ["x".repeat(10_240), undefined])
        await ann.refused(400, "invalid_key", "POST", inputs(id), { key: bad, body: prompt });
    },
  ),
  badInputRow("H18", "the 51st stream of a user is 429, and the 50 go on", async ({ person }) => {
    const ann = person();
    const ids = [await ann.session(), await ann.session(), await ann.session()];
    const readers: EventReader[] = [];
    try {
      for (let at = 0; at < 50; at += 1) readers.push(await ann.watch(ids[at % 3] ?? ""));
      for (const reader of readers) await reader.until(() => true, "each of 50 is served");
      const path = `/v1/sessions/${ids[0]}/events`;
      const headers = { accept: "text/event-stream" };
      const refused = await ann.refused(429, "quota_exceeded", "GET", path, { headers });
      assert(Number(refused.headers["retry-after"]) > 0, "it names a time");
      for (const id of ids) await ann.ran(id, "say still here");
      for (const reader of readers)
        await reader.until(({ type }) => type === "run_finished", "nobody was evicted");
    } finally {
      for (const reader of readers) reader.close();
    }
  }),
];
