import { assert, assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { Caller, HttpAnswer } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { rawExchange, statusOf } from "./raw.ts";

const httpCase = casesOf("safety");

/** Where a request comes from, and whether its bytes mean one thing. */
export const requestCases: readonly HttpCase[] = [
  httpCase(77, "a request of another origin is refused", async ({ person, target }) => {
    const ann = person();
    const id = await ann.session();
    const path = `/v1/sessions/${id}/abort`;
    const post = (
      caller: Caller,
      origin?: string,
      as?: Readonly<Record<string, string>>,
    ): Promise<HttpAnswer> =>
      caller.call("POST", path, { body: {}, as, headers: origin === undefined ? {} : { origin } });
    const own = new URL(target.url).origin;
    const cookie = target.asCookie(ann.who);

    assertEqual((await post(ann)).status, 200, "a header without an origin: curl");
    assertEqual((await post(ann, own)).status, 200, "a header from the own origin");
    assertEqual((await post(ann, own, cookie)).status, 200, "a cookie from the own origin");
    for (const evil of ["https://evil.example", "null", "http://127.0.0.1:1", "garbage"]) {
      for (const as of [undefined, cookie]) {
        const answer = await post(ann, evil, as);
        assertEqual([answer.status, answer.body.code], [403, "origin_refused"], evil);
        assertEqual(answer.headers["access-control-allow-origin"], undefined, "no CORS for it");
      }
    }
    const absent = await post(ann, undefined, cookie);
    assertEqual(
      [absent.status, absent.body.code],
      [403, "origin_refused"],
      "a cookie without an origin",
    );
    const read = { as: cookie, headers: { "sec-fetch-site": "cross-site" } };
    await ann.refused(403, "origin_refused", "GET", `/v1/sessions/${id}`, read);
    await ann.expect(200, "GET", `/v1/sessions/${id}`, { as: cookie });
  }),
  httpCase(77, "forms and plain text reach no handler", async ({ person, target }) => {
    const ann = person();
    const id = await ann.session();
    const origin = new URL(target.url).origin;
    const as = { ...target.asCookie(ann.who), origin };
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
    ]) {
      const sent = { bytes: "{}", as, headers: { "content-type": type } };
      await ann.refused(415, "unsupported_media_type", "POST", `/v1/sessions/${id}/abort`, sent);
    }
  }),
  httpCase(
    77,
    "a listed origin gets CORS for itself, never for all",
    async ({ person, open }) => {
      const origin = "https://app.example";
      const server = await open({ origins: [origin], cookies: true });
      const ann = server.for(person());
      const id = await ann.session();
      const { headers } = await ann.expect(200, "GET", `/v1/sessions/${id}`, {
        headers: { origin },
      });
      const asked = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "idempotency-key",
      };
      const preflight = await ann.call("OPTIONS", `/v1/sessions/${id}/inputs`, {
        as: {},
        headers: { origin, ...asked },
      });

      assertEqual(headers["access-control-allow-origin"], origin, "exactly the listed one");
      assertEqual(headers["access-control-allow-credentials"], "true", "with cookies");
      assert(
        (headers["access-control-expose-headers"] ?? "").includes("Request-Id"),
        "it may read",
      );
      assert([200, 204].includes(preflight.status), "the preflight needs no credentials");
      assertEqual(preflight.headers["access-control-max-age"], "7200", "it is kept for two hours");
    },
    "servers",
  ),
  httpCase(
    78,
    "a host that is not on the list is refused",
    async ({ person, open }) => {
      const server = await open({ hosts: ["app.example"] });
      const ann = server.for(person());
      const at = (host: string): Promise<HttpAnswer> =>
        ann.call("GET", "/v1/sessions", { headers: { host } });

      assertEqual((await at("app.example")).status, 200, "the listed one is served");
      for (const host of ["attacker.example", "app.example.evil", "127.0.0.1"]) {
        const { status, body } = await at(host);
        assertEqual([status, body.code], [421, "wrong_host"], host);
      }
    },
    "servers",
  ),
  httpCase(
    78,
    "local mode needs its token and a loopback host, and gives no tickets",
    async ({ person, open }) => {
      const server = await open({ local: true });
      const ann = server.for(person());
      const id = await ann.session();
      const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}`);
      assertEqual(body.owner, "local", "there is one user");
      const foreign = { headers: { host: "attacker.example" } };
      await ann.refused(421, "wrong_host", "GET", "/v1/sessions", foreign);
      const as = {};
      await ann.refused(401, "unauthenticated", "GET", "/v1/sessions", { as });
      await ann.refused(401, "unauthenticated", "GET", "/v1/health", { as });
      const ticket = await ann.call("POST", "/v1/tickets", {
        body: { sessionId: id, use: "events" },
      });
      assert(ticket.status >= 400, `there are no tickets: ${ticket.status}`);
    },
    "servers",
  ),
  httpCase(
    81,
    "a request with two lengths is refused",
    async ({ person, target }) => {
      const { authorization = "" } = target.as(person().who);
      const { pathname, host } = new URL(target.url);
      const head = `POST ${pathname.replace(/\/$/, "")}/v1/sessions HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n`;
      const both = `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
      const answer = await rawExchange(target.url, [both], /\r\n\r\n/);
      assertEqual(statusOf(answer), 400, answer.slice(0, 200));
    },
    "sockets",
  ),
  httpCase(
    81,
    "a body that trickles is given up",
    async ({ person, open }) => {
      const { served } = await open({ limits: { bodyMs: 500 } });
      const { authorization = "" } = served.as(person().who);
      const { pathname, host } = new URL(served.url);
      const head = `POST ${pathname.replace(/\/$/, "")}/v1/sessions HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\nIdempotency-Key: ${freshKey()}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
      const answer = await rawExchange(served.url, [head, 200, " ", 200, " ", 200, " "], /408/);
      assertEqual(statusOf(answer), 408, answer.slice(0, 200));
    },
    "sockets",
    "servers",
  ),
  httpCase(81, "a body that could mean two things is refused", async ({ person }) => {
    const ann = person();
    const send = (bytes: string | Uint8Array, headers = {}): Promise<HttpAnswer> =>
      ann.call("POST", "/v1/sessions", {
        key: freshKey(),
        bytes,
        headers: { "content-type": "application/json", ...headers },
      });
    for (const bytes of [
      "",
      "{",
      "[]",
      "null",
      '"x"',
      '{"title":"a","title":"b"}',
      '{"metadata":{"__proto__":{"x":1}}}',
      `{"metadata":{"x":${"[".repeat(10_000)}${"]".repeat(10_000)}}}`,
      '{"title":"\\ud800"}',
      '{"title":NaN}',
      "{'title':1}",
    ]) {
      const { status, body } = await send(bytes);
      assertEqual([status, body.code], [400, "invalid_request"], bytes.slice(0, 40));
    }
    const invalid = await send(Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
    assertEqual(invalid.status, 400, "bytes that are no UTF-8");
    const zipped = await send("x", { "content-encoding": "gzip" });
    assertEqual(
      [zipped.status, zipped.body.code],
      [415, "unsupported_media_type"],
      "a packed body",
    );
  }),
];
