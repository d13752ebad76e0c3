import { assert, assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { Caller, HttpAnswer } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";

const httpCase = casesOf("sessions");

const create = (caller: Caller, body: object, key: string = freshKey()): Promise<HttpAnswer> =>
  caller.call("POST", "/v1/sessions", { key, body });

/** Asserts that a session has its first input, once. */
async function hasOneInput(caller: Caller, id: string, key: string): Promise<void> {
  const { text } = await caller.expect(200, "GET", `/v1/sessions/${id}/export?format=jsonl`);
  const inputs = text.split(`"inputId":"input_${key}","input":`).length - 1;
  assertEqual(inputs, 1, `the session ${id} has its input once`);
}

/** Creating, reading and changing sessions. */
export const sessionCases: readonly HttpCase[] = [
  httpCase(1, "a session is created with the id that the request names", async ({ person }) => {
    const ann = person();
    const { status, body, headers } = await create(ann, { id: "refunds", title: "Refund A1" });

    assertEqual(status, 201, "it is created");
    assertEqual(headers["location"], "sessions/refunds", "its address is relative");
    const { id, title, metadata, owner, status: state, head } = body;
    const expected = { id: "refunds", title: "Refund A1", metadata: {}, owner: "ann" };
    assertEqual({ id, title, metadata, owner }, expected, "the answer is the session");
    assertEqual({ state, head }, { state: "idle", head: 0 }, "nothing has happened in it");
    assert((body.createdAt ?? 0) > 0 && body.usage !== undefined, "it has times and usage");
    const found = await ann.expect(200, "GET", "/v1/sessions/refunds");
    assertEqual(found.body, body, "reading it answers the same");
  }),
  httpCase(1, "a session without an id gets one that fits into a path", async ({ person }) => {
    const ann = person();
    const { status, body } = await create(ann, {});

    assertEqual(status, 201, "it is created");
    assert(/^[A-Za-z0-9_][A-Za-z0-9._~-]{0,127}$/.test(body.id ?? ""), `its id is ${body.id}`);
    await ann.expect(200, "GET", `/v1/sessions/${body.id}`);
  }),
  httpCase(2, "a create that is repeated by its key makes one session", async ({ person }) => {
    const ann = person();
    const key = freshKey();
    const first = await create(ann, { title: "once" }, key);
    const second = await create(ann, { title: "once" }, key);

    assertEqual(second.status, 201, "the repeat has the first status");
    assertEqual(second.body, first.body, "the repeat has the first answer");
    assertEqual(first.headers["idempotency-replayed"], undefined, "the first is no repeat");
    assertEqual(second.headers["idempotency-replayed"], "true", "the repeat is marked");
    const { body } = await ann.expect(200, "GET", "/v1/sessions");
    assertEqual(body.sessions?.length, 1, "one session is listed");
  }),
  httpCase(2, "equal keys of two users make two sessions", async ({ person }) => {
    const key = freshKey();
    const first = await create(person("ann"), {}, key);
    const second = await create(person("bob"), {}, key);

    assertEqual([first.status, second.status], [201, 201], "both are created");
    assert(first.body.id !== second.body.id, "they are two");
  }),
  httpCase(3, "a create with a used key and another body is refused", async ({ person }) => {
    const ann = person();
    const key = freshKey();
    await ann.expect(201, "POST", "/v1/sessions", { key, body: { title: "one" } });
    await ann.refused(422, "key_reused", "POST", "/v1/sessions", { key, body: { title: "two" } });
  }),
  httpCase(4, "a taken name is refused alike whether it is one's own or not", async (context) => {
    const ann = context.person("ann");
    const bob = context.person("bob");
    await ann.session({ id: "taken" });
    const own = await create(ann, { id: "taken" });
    const foreign = await create(bob, { id: "taken" });

    assertEqual([own.status, own.body.code], [409, "session_exists"], "one's own name is taken");
    const { instance: _, ...ownBody } = own.body;
    const { instance: __, ...foreignBody } = foreign.body;
    assertEqual(foreignBody, ownBody, "a foreign name gets the same answer");
    const elsewhere = context.person("ann", { tenant: `${context.tenant}-other` });
    assertEqual((await create(elsewhere, { id: "taken" })).status, 201, "tenants share no names");
  }),
  httpCase(5, "a session is created with its first input, and runs it", async ({ person }) => {
    const ann = person();
    const key = freshKey();
    const input = { kind: "prompt", text: "say hello" };
    const { status, body } = await create(ann, { id: "first", input }, key);

    assertEqual(status, 201, "it is created");
    assertEqual(body.inputId, `input_${key}`, "the input's id is made of the key");
    assertEqual(body.runId, `run_${key}`, "the run's id is made of the key");
    const run = await ann.finished("first", `run_${key}`);
    assertEqual([run.outcome, run.text], ["completed", "hello"], "the run completes");
  }),
  httpCase(
    5,
    "a create whose answer was lost has session and input, and its repeat adds none",
    async ({ target, person }) => {
      const ann = person();
      const key = freshKey();
      const body = { id: "lossy", input: { kind: "prompt", text: "say once" } };
      target.setStore("lossy");
      const lost = await create(ann, body, key).finally(() => target.setStore("there"));
      const again = await create(ann, body, key);

      assertEqual(lost.status, 503, "the first answer is lost");
      assertEqual(again.status, 201, `the repeat is answered: ${again.text}`);
      const run = await ann.finished("lossy", `run_${key}`);
      assertEqual(run.text, "once", "its run completes");
      const { body: page } = await ann.expect(200, "GET", "/v1/sessions/lossy/items");
      const people = page.items?.filter(({ item }) => item?.author === "user");
      assertEqual(people?.length, 1, "the input is there once");
    },
    "outage",
  ),
  httpCase(
    5,
    "a create that dies between any two steps has left the session with its input, or nothing",
    async ({ target, person }) => {
      const ann = person();
      const left: number[] = [];
      for (let calls = 0; left.at(-1) !== 201; calls += 1) {
        const [id, key] = [`dies-${calls}`, freshKey()];
        const body = { id, input: { kind: "prompt", text: "say once" } };
        target.setStore(calls);
        const { status } = await create(ann, body, key).finally(() => target.setStore("there"));
        left.push(status);
        assert([201, 503].includes(status) && calls < 20, `after ${calls} calls: ${status}`);
        const found = await ann.call("GET", `/v1/sessions/${id}`);
        if (found.status === 200) await hasOneInput(ann, id, key);
        else assertEqual([found.status, status], [404, 503], "nothing is there");
        const again = await create(ann, body, key);
        assertEqual(again.status, 201, `the repeat is answered: ${again.text}`);
        assertEqual((await ann.finished(id, `run_${key}`)).text, "once", "its run completes");
        await hasOneInput(ann, id, key);
      }
      assert(left.includes(503), `it died in between: ${left.join(", ")}`);
    },
    "outage",
  ),
  httpCase(6, "a session that has not changed is not sent again", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const { headers } = await ann.expect(200, "GET", `/v1/sessions/${id}`);
    const etag = headers["etag"] ?? "";

    assertEqual(headers["cache-control"], "private, no-cache", "it may be kept and asked for");
    assert(/^(W\/)?"[^"]+"$/.test(etag), `its ETag is ${etag}`);
    const match = { headers: { "if-none-match": etag } };
    const same = await ann.expect(304, "GET", `/v1/sessions/${id}`, match);
    assertEqual(same.text, "", "304 has no body");
    await ann.ran(id, "say changed");
    await ann.expect(200, "GET", `/v1/sessions/${id}`, match);
    const head = await ann.expect(200, "HEAD", `/v1/sessions/${id}`);
    assertEqual(head.text, "", "HEAD has no body");
  }),
  httpCase(7, "a list has a user's own sessions, newest activity first", async ({ person }) => {
    const [ann, bob] = [person("ann"), person("bob")];
    const ids = [await ann.session(), await ann.session(), await ann.session()];
    await bob.session();
    await ann.ran(ids[0] ?? "", "say active");
    const { body, headers } = await ann.expect(200, "GET", "/v1/sessions");

    const listed = body.sessions?.map(({ id }) => id);
    assertEqual(listed, [ids[0], ids[2], ids[1]], "the active one comes first");
    assertEqual(headers["cache-control"], "private, no-cache", "it may be kept and asked for");
    const match = { headers: { "if-none-match": headers["etag"] ?? "" } };
    await ann.expect(304, "GET", "/v1/sessions", match);
  }),
  httpCase(
    7,
    "pages have neither gap nor double while others change",
    async ({ person, scale }) => {
      const ann = person();
      const count = 25 * scale;
      const made = new Set<string>();
      for (let at = 0; at < count; at += 1) made.add(await ann.session());
      const changing = await ann.session();
      const listed: (string | undefined)[] = [];
      let next: string | undefined;
      do {
        const after = next === undefined ? "" : `&after=${encodeURIComponent(next)}`;
        const { body } = await ann.expect(200, "GET", `/v1/sessions?limit=7${after}`);
        listed.push(...(body.sessions ?? []).map(({ id }) => id));
        ({ next } = body);
        await ann.ran(changing, "say moving");
      } while (next !== undefined);

      const unchanged = listed.filter((id) => id !== changing);
      assertEqual(unchanged.length, count, "each is listed once");
      assertEqual(new Set(unchanged).size, made.size, "none is listed twice");
      assert(
        unchanged.every((id) => made.has(id ?? "")),
        "all are those that were made",
      );
    },
  ),
  httpCase(8, "a list is narrowed by title, status and parent", async ({ person }) => {
    const ann = person();
    const oslo = await ann.session({ title: "A trip to Oslo" });
    const other = await ann.session({ title: "Refund" });
    await ann.post(other, "call locate {}");
    const by = async (query: string): Promise<readonly (string | undefined)[]> => {
      const { body } = await ann.expect(200, "GET", `/v1/sessions?${query}`);
      return (body.sessions ?? []).map(({ id }) => id);
    };

    assertEqual(await by("q=oslo"), [oslo], "a part of the title finds it, in any case");
    assertEqual(await by("q=100%25"), [], "a percent sign is no wildcard");
    assertEqual(await by("status=idle"), [oslo], "the other one is not idle");
    const run = await ann.ran(oslo, 'call packer {"prompt":"say packed"}');
    assertEqual(run.outcome, "completed", "the sub-agent ran");
    const children = await by(`parent=${oslo}`);
    assertEqual(children.length, 1, "the sub-agent's session is listed below its parent");
    assert(!(await by("")).includes(children[0]), "and nowhere else");
  }),
  httpCase(9, "title and metadata are changed by a merge patch", async ({ person }) => {
    const ann = person();
    const id = await ann.session({ title: "old", metadata: { a: 1, b: 2 } });
    const path = `/v1/sessions/${id}`;
    const { headers } = await ann.expect(200, "GET", path);
    const body = { title: "new", metadata: { a: null, c: 3 } };
    const patched = await ann.expect(200, "PATCH", path, {
      bytes: JSON.stringify(body),
      headers: { "content-type": "application/merge-patch+json" },
    });

    assertEqual(patched.body.title, "new", "the title is changed");
    assertEqual(patched.body.metadata, { b: 2, c: 3 }, "null removes, the others stay");
    const stale = { "if-match": headers["etag"] ?? "" };
    const late = { body: { title: "late" }, headers: stale };
    await ann.refused(412, "precondition_failed", "PATCH", path, late);
    const fresh = { "if-match": patched.headers["etag"] ?? "" };
    await ann.expect(200, "PATCH", path, { body: { title: "in time" }, headers: fresh });
    await ann.expect(200, "PATCH", path, { body: { title: null } });
    const { body: final } = await ann.expect(200, "GET", path);
    assert(typeof final.title !== "string", "null removes the title");
  }),
  httpCase(
    10,
    "a removed session is gone with its sub-agents and its name is free",
    async (context) => {
      const ann = context.person();
      await ann.session({ id: "gone" });
      await ann.ran("gone", 'call packer {"prompt":"say packed"}');
      const { body } = await ann.expect(200, "GET", "/v1/sessions?parent=gone");
      const child = encodeURIComponent(body.sessions?.[0]?.id ?? "");
      const before = await ann.expect(200, "GET", "/v1/sessions/gone/snapshot");
      await ann.expect(204, "DELETE", "/v1/sessions/gone");

      await ann.refused(404, "not_found", "DELETE", "/v1/sessions/gone");
      await ann.refused(404, "not_found", "GET", "/v1/sessions/gone");
      await ann.refused(404, "not_found", "GET", `/v1/sessions/${child}`);
      await ann.session({ id: "gone" });
      const after = await ann.expect(200, "GET", "/v1/sessions/gone/snapshot");
      assert(before.body.snapshot?.uid !== after.body.snapshot?.uid, "the name has another uid");
      assertEqual(after.body.snapshot?.head, 0, "and nothing of the old one");
    },
  ),
  httpCase(10, "removing a session stops its run", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    await ann.post(id, "slow 500 20");
    using viewer = await ann.watch(id);
    await viewer.until(({ type }) => type === "batch", "the run writes");
    await ann.expect(204, "DELETE", `/v1/sessions/${id}`);
    const { message } = await viewer.until(
      ({ type }) => type === "stream_ended",
      "the stream ends",
    );
    assertEqual(message.reason, "removed", "the viewer is told why");
    await viewer.ended();
  }),
  httpCase(11, "ids at the edges of the alphabet work", async ({ person }) => {
    const ann = person();
    for (const id of ["a", "_", "0", "A._~-z", "x".repeat(128)]) {
      await ann.session({ id });
      await ann.expect(200, "GET", `/v1/sessions/${id}`);
    }
    for (const id of ["", ".", "..", "-a", "~a", ".a", "a/b", "a b", "é", "x".repeat(129), "a\n"]) {
      const body = { id };
      await ann.refused(400, "invalid_request", "POST", "/v1/sessions", { key: freshKey(), body });
    }
  }),
  httpCase(11, "a path that could mean two things is refused", async ({ person }) => {
    const ann = person();
    for (const path of ["a%2fb", "a%5cb", "a%00", "a;b", "a%2Fevents", "%ff"]) {
      const { status } = await ann.call("GET", `/v1/sessions/${path}`);
      assertEqual(status, 400, `${path} is refused`);
    }
    // A server that is given a web `Request` never sees these two: its URL is normalised before.
    for (const path of ["/v1//sessions", "/v1/sessions/..", "/v1/sessions/%2e%2e"]) {
      const { status } = await ann.call("GET", path);
      assert([400, 404].includes(status), `${path} is refused with ${status}`);
    }
  }),
];
