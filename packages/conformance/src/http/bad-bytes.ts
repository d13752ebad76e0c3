import { assert, assertEqual } from "../case.ts";
import { badInputRow as row } from "./bad-input.ts";
import { freshKey } from "./caller.ts";
import type { HttpCase, HttpContext } from "./http-case.ts";
import { rawExchange, requestText, statusOf } from "./raw.ts";
import { textsOf } from "./reader.ts";

const forged = '\n\nid: 1.x.9\nevent: x\ndata: {"type":"forged"}\n\n';

/** The head of a request by hand, without its end. */
function headOf({ person, target }: HttpContext, method: string, path: string): string {
  const { pathname, host } = new URL(target.url);
  const { authorization = "" } = target.as(person().who);
  const at = `${pathname.replace(/\/$/, "")}${path}`;
  return `${method} ${at} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n`;
}

const answersIn = (text: string): readonly string[] => text.match(/HTTP\/1\.1 \d{3}/g) ?? [];

/** What stands in the bytes of a request, and how they come. */
export const badBytesCases: readonly HttpCase[] = [
  row(
    "H13",
    "a body that trickles is 408",
    async ({ person, open }) => {
      const { served } = await open({ limits: { bodyMs: 400 } });
      const { authorization = "" } = served.as(person().who);
      const headers = { authorization, "idempotency-key": freshKey(), "content-length": "50" };
      const request = requestText(served.url, "POST", "/v1/sessions", { body: {}, headers });
      const answer = await rawExchange(served.url, [request, 150, " ", 150, " ", 150, " "], /408/);
      assertEqual(statusOf(answer), 408, answer.slice(0, 200));
    },
    "sockets",
    "servers",
  ),
  row(
    "H14",
    "a request with two lengths is 400, and its connection is closed",
    async (context) => {
      const head = headOf(context, "POST", "/v1/sessions");
      const both = `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
      const smuggled = `${headOf(context, "GET", "/v1/sessions")}\r\n`;
      // Without a pattern to wait for: it resolves when the server has closed.
      const answer = await rawExchange(context.target.url, [`${both}${smuggled}`]);
      assertEqual(answersIn(answer), ["HTTP/1.1 400"], answer);
    },
    "sockets",
  ),
  row(
    "H23",
    "a frame in a text, a title, a tool's name or an error is text",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session({ title: forged });
      using viewer = await ann.follow(id);
      await viewer.until(() => true, "the snapshot");
      await ann.ran(id, `say a${forged}`);
      await ann.ran(id, `call broken ${JSON.stringify({ message: forged })}`);
      await ann.ran(id, `call ${forged.trim().replaceAll(/\s/g, "\u2028")} {}`);
      const { runId } = await ann.post(id, `fail ${forged}`);
      const last = await ann.finished(id, runId);
      await viewer.until(
        ({ type }) => type === "run_finished",
        "the end",
        viewer.messages.length - 1,
      );

      assertEqual(last.outcome, "failed", "the last one failed");
      assert(
        !viewer.messages.some(({ message }) => message.type === "forged"),
        "no frame is forged",
      );
      assert(textsOf(viewer.state()).includes(`a${forged}`), "the text comes to the letter");
      const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}`);
      assertEqual(body.title, forged, "and so does the title");
    },
  ),
  row("H25", "what a request holds makes no line of a log", async ({ person, target }) => {
    const ann = person();
    const id = await ann.session();
    const evil = `${freshKey()}\n\u001b[31m{"status":200}`;
    const query = `/v1/sessions/${id}?x=${encodeURIComponent(evil)}`;
    await ann.refused(400, "invalid_request", "GET", query);
    await ann.call("GET", `/v1/sessions/${encodeURIComponent(evil)}`);
    const { text } = await ann.call("POST", "/v1/sessions", {
      key: freshKey(),
      body: { [evil]: 1 },
    });
    const isPlain = (lines: string): boolean => !/[^\n\x20-\uffff]/.test(lines);
    assert(isPlain(text) && isPlain(target.logged()), "control characters are escaped");
    for (const line of target
      .logged()
      .split("\n")
      .filter((one) => one !== ""))
      JSON.parse(line);
  }),
  row("H26", "depth, __proto__ and a key twice are 400", async ({ person }) => {
    const deep = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    for (const bytes of [
      `{"metadata":{"x":${deep(10_000)}}}`,
      `{"metadata":{"x":${deep(65)}}}`,
      '{"metadata":{"__proto__":{"admin":true}}}',
      '{"metadata":{"\\u005f_proto__":{"admin":true}}}',
      '{"title":"a","title":"b"}',
      '{"title":"a","t\\u0069tle":"b"}',
    ]) {
      const headers = { "content-type": "application/json" };
      const sent = { key: freshKey(), bytes, headers };
      await person().refused(400, "invalid_request", "POST", "/v1/sessions", sent);
    }
  }),
  row("H27", "a number that is none, and a parameter twice, are 400", async ({ person }) => {
    for (const query of [
      "limit=NaN",
      "limit=-1",
      "limit=1e9",
      "limit=1.5",
      "limit=0x10",
      "limit=",
      "limit=1&limit=1",
      "limit[]=1",
      "limit=1,2",
      "limit=%31%00",
    ])
      await person().refused(400, "invalid_request", "GET", `/v1/sessions?${query}`);
  }),
  row(
    "H28",
    "pipelined requests, an expectation and an early close are handled",
    async (context) => {
      const { target, person } = context;
      const get = `${headOf(context, "GET", "/v1/sessions")}\r\n`;
      const last = `${headOf(context, "GET", "/v1/sessions")}Connection: close\r\n\r\n`;
      const piped = await rawExchange(target.url, [`${get}${get}${last}`]);
      assertEqual(answersIn(piped), Array(3).fill("HTTP/1.1 200"), "three are answered, in order");

      const { authorization = "" } = target.as(person().who);
      const made = (key: string, more: Readonly<Record<string, string>>): string =>
        requestText(target.url, "POST", "/v1/sessions", {
          body: { id: `expect-${key}` },
          headers: { authorization, "idempotency-key": key, ...more },
        });
      const [head = "", body = ""] = made(freshKey(), { expect: "100-continue" }).split("\r\n\r\n");
      const answer = await rawExchange(target.url, [`${head}\r\n\r\n`, 100, body]);
      assert(/^HTTP\/1\.1 (?:201|417)/m.test(answer), `it is made or refused: ${answer}`);

      const key = freshKey();
      await rawExchange(target.url, [made(key, {}).slice(0, -3), 50, null]);
      await person().refused(404, "not_found", "GET", `/v1/sessions/expect-${key}`);
      await person().expect(200, "GET", "/v1/sessions");
    },
    "sockets",
  ),
  row("H29", "a stream is not compressed, and no proxy may do it", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    using viewer = await ann.watch(id, "", { "accept-encoding": "br, gzip;q=1, *;q=1" });
    assertEqual(viewer.headers["content-encoding"], undefined, "it is plain");
    assert((viewer.headers["cache-control"] ?? "").includes("no-transform"), "and stays so");
  }),
  row("H30", "no page of another origin frames or reads an answer", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    await ann.ran(id, "say x");
    for (const path of [
      "",
      "/items",
      "/export?format=html",
      "/export?format=markdown",
      "/nothing",
    ]) {
      const { headers } = await ann.call("GET", `/v1/sessions/${id}${path}`);
      const policy = headers["content-security-policy"] ?? "";
      assert(policy.includes("frame-ancestors 'none'"), `${path} has the policy ${policy}`);
      assertEqual(
        headers["access-control-allow-origin"],
        undefined,
        `${path} is of no other origin`,
      );
    }
  }),
];
