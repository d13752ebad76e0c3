import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEqual } from "../case.ts";
import type { HttpBody } from "./body.ts";
import { freshKey } from "./caller.ts";
import type { HttpAnswer } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { eventually } from "./steps.ts";

const httpCase = casesOf("safety");

const isStreamEnd = ({ type }: HttpBody): boolean => type === "stream_ended";
const withoutInstance = ({ body }: HttpAnswer): string => JSON.stringify({ ...body, instance: "" });

/** Headers of an answer but for those that differ each time. */
function steady({ headers }: HttpAnswer): object {
  const { date: _, "request-id": __, ratelimit: ___, ...others } = headers;
  return others;
}

/** Who may, from where, and with which request. */
export const safetyCases: readonly HttpCase[] = [
  httpCase(71, "a foreign session looks like a missing one to the byte", async ({ person }) => {
    const [ann, bob] = [person("ann"), person("bob")];
    const id = await ann.session();
    const missing = `s-${id.slice(2).split("").toReversed().join("")}`;
    for (const [method, below, body] of [
      ["GET", "", undefined],
      ["GET", "/events", undefined],
      ["GET", "/items", undefined],
      ["PATCH", "", { title: "x" }],
      ["POST", "/inputs", { kind: "prompt", text: "x" }],
      ["POST", "/abort", {}],
      ["DELETE", "", undefined],
    ] as const) {
      const options = { key: freshKey(), ...(body === undefined ? {} : { body }) };
      const foreign = await bob.refused(
        404,
        "not_found",
        method,
        `/v1/sessions/${id}${below}`,
        options,
      );
      const none = await bob.refused(
        404,
        "not_found",
        method,
        `/v1/sessions/${missing}${below}`,
        options,
      );
      assertEqual(withoutInstance(foreign), withoutInstance(none), "the bodies are equal");
      assertEqual(steady(foreign), steady(none), "the headers are equal");
    }
  }),
  httpCase(
    72,
    "with an authoriser that grants everything, tenants stay apart",
    async ({ person, open, tenant }) => {
      const server = await open({ authorize: "any" });
      const ann = server.for(person("ann"));
      const id = await ann.session();
      const stranger = server.for(person("eve", { tenant: `${tenant}-b` }));
      await stranger.refused(404, "not_found", "GET", `/v1/sessions/${id}`);
      await stranger.refused(404, "not_found", "DELETE", `/v1/sessions/${id}`);
      await server.for(person("bob")).expect(200, "GET", `/v1/sessions/${id}`);
    },
    "servers",
  ),
  httpCase(
    73,
    "a right that is taken away ends an open stream",
    async ({ person, open }) => {
      const server = await open({ streams: { recheckMs: 300 } });
      const [ann, bob] = [server.for(person("ann")), server.for(person("bob"))];
      const id = await ann.session({ metadata: { grants: { bob: ["read"] } } });
      using viewer = await bob.watch(id);
      await viewer.until(() => true, "the snapshot");
      await ann.expect(200, "PATCH", `/v1/sessions/${id}`, {
        body: { metadata: { grants: null } },
      });
      const { message } = await viewer.until(isStreamEnd, "the stream ends");

      assertEqual(message.reason, "revoked", "the end names its reason");
      await viewer.ended();
      await bob.refused(404, "not_found", "GET", `/v1/sessions/${id}/events`);
    },
    "servers",
  ),
  httpCase(73, "a stream ends when its credentials do", async ({ person }) => {
    const ann = person("ann", { expiresAt: Date.now() + 1_500 });
    const id = await ann.session();
    using viewer = await ann.watch(id);
    const { message } = await viewer.until(isStreamEnd, "the stream ends");
    assertEqual(message.reason, "expired", "the end names its reason");
  }),
  httpCase(73, "a disconnected user's streams end at once", async ({ person, target, tenant }) => {
    const [ann, bob] = [person("ann"), person("bob")];
    const [of, other] = [await ann.session(), await bob.session()];
    using mine = await ann.watch(of);
    using theirs = await bob.watch(other);
    await mine.until(() => true, "the snapshot");
    await theirs.until(() => true, "the snapshot");
    target.disconnect({ tenant, user: "ann" });
    const { message } = await mine.until(isStreamEnd, "the stream ends");

    assertEqual(message.reason, "revoked", "the end names its reason");
    await bob.ran(other, "say still here");
    assert(!theirs.messages.some((one) => isStreamEnd(one.message)), "another user's goes on");
  }),
  httpCase(74, "an authoriser that throws is no yes", async ({ person }) => {
    const [ann, bob] = [person("ann"), person("bob")];
    const id = await ann.session();
    await ann.expect(200, "PATCH", `/v1/sessions/${id}`, {
      body: { metadata: { authorizer: "throws" } },
    });
    const { status, text } = await bob.call("GET", `/v1/sessions/${id}`);
    assertEqual(status, 503, "it is refused");
    assert(!text.includes("authoriser broke"), "and the error's text stays inside");
  }),
  httpCase(75, "a token in the address is refused and in no log", async ({ person, target }) => {
    const ann = person();
    const id = await ann.session();
    for (const name of ["token", "access_token", "api_key", "auth", "apikey", "jwt"]) {
      const path = `/v1/sessions/${id}?${name}=very-secret-token`;
      const { text } = await ann.refused(400, "token_in_url", "GET", path);
      assert(!text.includes("very-secret"), "the answer does not repeat it");
    }
    assert(!target.logged().includes("very-secret"), "nor does the log");
  }),
  httpCase(82, "ids of another tenant in a body are unknown", async ({ person, tenant }) => {
    const ann = person("ann");
    const eve = person("eve", { tenant: `${tenant}-b`, roles: ["service"] });
    const id = await ann.session();
    await ann.ran(id, "say secret");
    const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}/items`);
    const itemId = body.items?.[0]?.item?.id ?? "";
    const own = await eve.session();

    const ticket = { body: { sessionId: id, use: "events" } };
    await eve.refused(404, "not_found", "POST", "/v1/tickets", ticket);
    const fork = { key: freshKey(), body: { itemId } };
    await eve.refused(422, "unknown_item", "POST", `/v1/sessions/${own}/forks`, fork);
    using reader = await eve.open("/v1/events", { method: "POST", body: { sessions: [{ id }] } });
    const { message } = await reader.until(isStreamEnd, "its end");
    assertEqual(message.reason, "not_found", "it can't be watched");
    const list = await eve.expect(200, "GET", `/v1/sessions?parent=${id}`);
    assertEqual(list.body.sessions, [], "nor listed by its parent");
  }),
  httpCase(
    90,
    "while the store is away nothing is accepted, and afterwards the repeat is",
    async ({ target, person }) => {
      const ann = person();
      const id = await ann.session();
      const key = freshKey();
      const path = `/v1/sessions/${id}/inputs`;
      const body = { kind: "prompt", text: "say later" };
      target.setStore("away");
      const away = await ann.call("POST", path, { key, body });
      const ready = await ann.call("GET", "/v1/ready");
      const events = await ann.call("GET", `/v1/sessions/${id}/events`, {
        headers: { accept: "application/json" },
      });
      target.setStore("there");

      assertEqual([away.status, away.body.code], [503, "store_unavailable"], away.text);
      assert(Number(away.headers["retry-after"]) > 0, "the answer names a time");
      assertEqual([ready.status, events.status], [503, 503], "it is not ready, nor opens streams");
      const again = await eventually(async () => {
        const answer = await ann.call("POST", path, { key, body });
        return answer.status === 202 ? answer : undefined;
      }, "the repeat is accepted");
      assertEqual(again.headers["idempotency-replayed"], undefined, "nothing was stored before");
      assertEqual((await ann.finished(id, `run_${key}`)).text, "later", "it runs");
      await sleep(1);
    },
    "outage",
  ),
];
