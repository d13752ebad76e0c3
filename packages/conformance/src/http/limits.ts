import { assert, assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { Caller, HttpAnswer } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase, HttpContext } from "./http-case.ts";

const httpCase = casesOf("limits");

/** The headers of limits, and the form of answers. */
export const limitCases: readonly HttpCase[] = [
  httpCase(83, "counted answers show what is left", async ({ person }) => {
    const ann = person();
    const first = await ann.expect(200, "GET", "/v1/sessions");
    const second = await ann.expect(200, "GET", "/v1/sessions");
    const left = ({ headers }: HttpAnswer): number =>
      Number(/;r=(\d+)/.exec(headers["ratelimit"] ?? "")?.[1] ?? Number.NaN);

    assert(
      /^"[a-z_-]+";q=\d+;w=\d+/i.test(first.headers["ratelimit-policy"] ?? ""),
      `the policy is ${first.headers["ratelimit-policy"]}`,
    );
    assertEqual(left(second), left(first) - 1, "one less each time");
  }),
  httpCase(
    84,
    "times to come back are spread by a quarter to both sides",
    async ({ person, open }) => {
      const full = (await open({ limits: { requestsPerUser: 1 } })).for(person());
      await full.expect(200, "GET", "/v1/sessions");
      const shares: number[] = [];
      for (let at = 0; at < 100; at += 1) {
        const { headers } = await full.expect(429, "GET", "/v1/sessions");
        const left = Number(/;t=(\d+)/.exec(headers["ratelimit"] ?? "")?.[1]);
        const seconds = Number(headers["retry-after"]);
        assert(Number.isInteger(seconds) && seconds > 0, `${seconds} are whole seconds`);
        assert(
          seconds >= Math.floor(left * 0.75) && seconds <= Math.ceil(left * 1.25),
          `${seconds} s is within a quarter of ${left} s`,
        );
        shares.push(seconds / left);
      }
      // 100 of an even spread: a wrong one fails, and an even one fails once in a million runs.
      const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
      assert(new Set(shares).size >= 15, `they are ${new Set(shares).size} values`);
      assert(Math.min(...shares) < 0.85 && Math.max(...shares) > 1.15, "both sides are used");
      assert(Math.abs(mean - 1) < 0.075, `their mean is ${mean}`);

      const busy = (await open({ limits: { streamsPerProcess: 0 } })).for(person());
      const id = await busy.session();
      const times = new Set<string | undefined>();
      for (let at = 0; at < 100; at += 1) {
        const headers = { accept: "text/event-stream" };
        const path = `/v1/sessions/${id}/events`;
        times.add((await busy.expect(503, "GET", path, { headers })).headers["retry-after"]);
      }
      assert(times.size > 1, `a full process names ${[...times].join(", ")}`);
    },
    "servers",
  ),
  httpCase(85, "an unknown route is a problem like any other", async ({ person, nobody }) => {
    await person().refused(404, "not_found", "GET", "/v1/nothing");
    await person().refused(404, "not_found", "GET", "/v2/sessions");
    const { status } = await nobody().call("GET", "/v1/nothing");
    assert([401, 404].includes(status), "also without credentials");
  }),
  httpCase(85, "health and readiness are empty", async ({ nobody }) => {
    for (const path of ["/v1/health", "/v1/ready"]) {
      const { text, headers } = await nobody().expect(200, "GET", path);
      assertEqual([text, headers["cache-control"]], ["", "no-store"], path);
    }
  }),
  httpCase(87, "an unknown field or parameter of a request is refused", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const refuse = async (method: string, path: string, body?: object): Promise<void> => {
      const options = body === undefined ? {} : { body, key: freshKey() };
      const answer = await ann.refused(400, "invalid_request", method, path, options);
      assert(answer.body.detail !== undefined, "the answer names it");
    };
    await refuse("POST", "/v1/sessions", { titel: "typo" });
    await refuse("PATCH", `/v1/sessions/${id}`, { owner: "eve" });
    await refuse("POST", `/v1/sessions/${id}/inputs`, { kind: "prompt", text: "x", txet: 1 });
    await refuse("POST", `/v1/sessions/${id}/abort`, { run: "x" });
    await refuse("POST", "/v1/events", { sessions: [{ id, cursr: "x" }] });
    await refuse("GET", `/v1/sessions?statsu=idle`);
    await refuse("GET", `/v1/sessions?status=sleeping`);
    await refuse("GET", `/v1/sessions/${id}/events?v=1&v=1`);
    const { status } = await ann.call("GET", `/v1/sessions/${id}/events?v=2`);
    assertEqual(status, 406, "a version that is not spoken");
  }),
  httpCase(87, "an Accept that can't be served is refused", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const headers = { accept: "image/png" };
    await ann.refused(406, "not_acceptable", "GET", `/v1/sessions/${id}/events`, { headers });
    const any = { headers: { accept: "*/*", prefer: "wait=0" } };
    using reader = await ann.open(`/v1/sessions/${id}/events`, any);
    assertEqual(reader.status, 200, "anything is fine");
  }),
  httpCase(89, "links are relative and lead where they should", async (context) => {
    const ann = context.person();
    const { key, body } = { key: freshKey(), body: { id: "linked" } };
    const made = await ann.expect(201, "POST", "/v1/sessions", { key, body });
    await follows(context, ann, "/v1/sessions", made);
    await ann.ran("linked", "say item");
    const items = await ann.expect(200, "GET", "/v1/sessions/linked/items");
    const itemId = items.body.items?.[0]?.item?.id;
    const forks = "/v1/sessions/linked/forks";
    const fork = await ann.expect(201, "POST", forks, { key: freshKey(), body: { itemId } });
    await follows(context, ann, forks, fork);
    const blobs = "/v1/sessions/linked/blobs";
    const bytes = { bytes: "x", headers: { "content-type": "text/plain" } };
    await follows(context, ann, blobs, await ann.expect(201, "POST", blobs, bytes));
  }),
];

/** Resolves an answer's `Location` as a client does, and reads what is there. */
async function follows(
  { target }: HttpContext,
  caller: Caller,
  path: string,
  { headers }: HttpAnswer,
): Promise<void> {
  const { location = "" } = headers;
  assert(!/^(\/|[a-z]+:)/.test(location), `the link ${location} is relative`);
  const base = target.url.replace(/\/$/, "");
  const resolved = new URL(location, `${base}${path}`).href;
  assert(resolved.startsWith(base), `${resolved} is below ${base}`);
  await caller.expect(200, "GET", resolved.slice(base.length));
}
