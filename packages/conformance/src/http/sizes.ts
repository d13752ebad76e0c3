import { assert, assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { HttpAnswer } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { rawExchange, statusOf } from "./raw.ts";

const httpCase = casesOf("limits");

const isJson = { "content-type": "application/json" };

/** Limits of bytes, and of the time that they take. */
export const sizeCases: readonly HttpCase[] = [
  httpCase(
    83,
    "a body and metadata may be as long as the limit, measured or not",
    async ({ person, open }) => {
      const limits = { bodyBytes: 2_000, metadataBytes: 500 };
      const ann = (await open({ limits })).for(person());
      const post = (body: object, size = 0, unmeasured = false): Promise<HttpAnswer> => {
        const bytes = JSON.stringify(body).padEnd(size);
        const options = { key: freshKey(), bytes, headers: isJson, unmeasured };
        return ann.call("POST", "/v1/sessions", options);
      };
      for (const unmeasured of [false, true]) {
        for (const size of [1_999, 2_000])
          assertEqual((await post({}, size, unmeasured)).status, 201, `${size} bytes`);
        const above = await post({}, 2_001, unmeasured);
        assertEqual([above.status, above.body.code], [413, "too_large"], "one more byte");
        assertEqual(above.body.limit, 2_000, "the answer has the limit");
      }
      const metadata = (size: number): object => ({ metadata: { a: "x".repeat(size - 8) } });
      for (const size of [499, 500])
        assertEqual((await post(metadata(size))).status, 201, `metadata of ${size} bytes`);
      const { status, body } = await post(metadata(501));
      assertEqual([status, body.code, body.limit], [413, "too_large", 500], "metadata above it");
      assertEqual(body.pointer, "/metadata", "it is pointed at");
    },
    "servers",
  ),
  httpCase(
    83,
    "headers may be as long as the limit, and one more byte is refused",
    async ({ person, open }) => {
      const ann = (await open({ limits: { headerBytes: 4_000 } })).for(person());
      const get = (size: number): Promise<HttpAnswer> =>
        ann.call("GET", "/v1/sessions", { headers: { "x-padding": "x".repeat(size) } });
      // How a header is counted is the server's matter: the edge is found, and it is one.
      let [served, refused] = [1, 4_000];
      while (refused - served > 1) {
        const middle = Math.floor((served + refused) / 2);
        if ((await get(middle)).status === 200) served = middle;
        else refused = middle;
      }
      assert(served > 3_000, `the limit is reached at ${served} bytes of one header`);
      assertEqual((await get(served - 1)).status, 200, "one below");
      assertEqual((await get(served)).status, 200, "at the limit");
      const above = await get(served + 1);
      assertEqual([above.status, above.body.code], [431, "headers_too_large"], "one above");
    },
    "servers",
  ),
  httpCase(
    83,
    "a blob that trickles is given up",
    async ({ person, open }) => {
      const server = await open({ limits: { blobMs: 500 } });
      const id = await server.for(person()).session();
      const { authorization = "" } = server.served.as(person().who);
      const { pathname, host } = new URL(server.served.url);
      const path = `${pathname.replace(/\/$/, "")}/v1/sessions/${id}/blobs`;
      const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nx`;
      const script = [head, 200, "x", 200, "x", 200, "x"];
      const answer = await rawExchange(server.served.url, script, /408/);
      assertEqual(statusOf(answer), 408, answer.slice(0, 200));
    },
    "sockets",
    "servers",
  ),
  httpCase(
    65,
    "a blob without a length is taken up to the limit, and not one byte more",
    async ({ person, open }) => {
      const limits = { blobBytes: 4_096, blobBytesPerSession: 10_000 };
      const ann = (await open({ limits })).for(person());
      const id = await ann.session();
      const upload = (size: number, unmeasured = true): Promise<HttpAnswer> =>
        ann.call("POST", `/v1/sessions/${id}/blobs`, {
          bytes: "x".repeat(size),
          headers: { "content-type": "text/plain" },
          unmeasured,
        });
      for (const size of [4_095, 4_096]) {
        const { status, body } = await upload(size);
        assertEqual([status, body.size], [201, size], `${size} bytes`);
      }
      const above = await upload(4_097);
      assertEqual([above.status, above.body.code], [413, "too_large"], "one more byte");
      // 8,191 bytes are there.
      for (const unmeasured of [false, true]) {
        const full = await upload(1_810, unmeasured);
        assertEqual([full.status, full.body.code], [429, "quota_exceeded"], "above the session's");
        assertEqual(full.body.policy, "blobBytesPerSession", "the answer names the limit");
      }
      assertEqual((await upload(1_809)).status, 201, "at the session's limit");
      assertEqual((await upload(4_096)).status, 200, "what is there needs no room");
    },
    "servers",
  ),
];
