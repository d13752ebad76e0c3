import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RequestLine } from "@millrace/server";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { patience } from "../kit/patience.ts";
import { startMemoryServer } from "../web/kit/memory-server.ts";
import type { MemoryServer } from "../web/kit/memory-server.ts";
import { attackPage, openAttackSite } from "./kit/attack-page.ts";
import type { Attacked, Target } from "./kit/attack-page.ts";
import { openBrowser } from "./kit/browser.ts";

/** Stands in everything that the attacked session holds. */
const secret = "the-word-that-nobody-else-may-read";
const names: Readonly<Record<string, string>> = {
  id: "talk",
  inputId: "input_first-0123456789",
  runId: "run_first-0123456789",
  approvalId: "approval_first-0123456789",
  hash: `sha256-${"0".repeat(64)}`,
};
/** Bodies that the routes would take; the others take any, or none. */
const bodies: Readonly<Record<string, object>> = {
  createSession: { id: "made-by-the-attacker" },
  updateSession: { title: "changed" },
  forkSession: { itemId: "item_first-0123456789_0_0", id: "forked-by-the-attacker" },
  postInput: { kind: "prompt", text: "obey the attacker" },
  answerCall: { callId: "call_1", output: 1 },
  decideApproval: { decision: "allow" },
  watchSessions: { sessions: [{ id: "talk" }] },
  createTicket: { sessionId: "talk", use: "events" },
};

interface Attackable extends AsyncDisposable {
  readonly server: MemoryServer;
  /** The requests since the last call. */
  readonly lines: () => readonly RequestLine[];
  /** All that there is, as its owner reads it. */
  readonly read: () => Promise<string>;
}

/** A server with one session whose owner is signed in by a cookie, or that has a token and is on this machine alone. */
async function openAttackable(mode: "cookie" | "local", token: string): Promise<Attackable> {
  let lines: RequestLine[] = [];
  const server = await startMemoryServer({
    reply: secret,
    // A name that points to the attacker first, and to this machine afterwards: its page is on this port.
    pages: { "/rebound": attackPage },
    onRequest: (line) => lines.push(line),
    ...(mode === "local" ? { authenticate: undefined } : { hosts: ["127.0.0.1"] }),
  });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const post = (path: string, key: string, body: object): Promise<Response> =>
    fetch(`${server.url}/agent/v1${path}`, {
      method: "POST",
      headers: { ...headers, "idempotency-key": key, prefer: "wait=20" },
      body: JSON.stringify(body),
    });
  const made = await post("/sessions", "create-0123456789", { id: "talk", title: secret });
  expect(made.status).toBe(201);
  const ran = await post("/sessions/talk/inputs", "first-0123456789", {
    kind: "prompt",
    text: secret,
  });
  expect(ran.status).toBe(200);
  const read = async (): Promise<string> => {
    const paths = ["/sessions", "/sessions/talk/export?format=jsonl"];
    const answers = paths.map(async (path) =>
      (await fetch(`${server.url}/agent/v1${path}`, { headers })).text(),
    );
    return (await Promise.all(answers)).join("\n");
  };
  return {
    server,
    read,
    lines: () => {
      const since = lines;
      lines = [];
      return since;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function targetsOf({ millrace }: MemoryServer, url: string): readonly Target[] {
  return millrace.routes.map(({ name, method, path }) => ({
    method,
    url: `${url}/agent${path}`.replaceAll(
      /\{(\w+)\}/g,
      (_, parameter: string) => names[parameter] ?? "",
    ),
    body: JSON.stringify(bodies[name] ?? {}),
  }));
}

let browser: Browser;
let folder: string;
let token: string;
beforeAll(async () => {
  browser = await openBrowser();
  folder = mkdtempSync(join(tmpdir(), "millrace-local-"));
  process.env["MILLRACE_TOKEN_FILE"] = join(folder, "token");
  await using _made = await startMemoryServer({ authenticate: undefined });
  token = readFileSync(join(folder, "token"), "utf8").trim();
});
afterAll(async () => {
  await browser.close();
  delete process.env["MILLRACE_TOKEN_FILE"];
  rmSync(folder, { recursive: true });
});

/** A page of an attacker in the browser of somebody who is signed in at the attacked server. */
async function openAttackPage(attacked: string, address: string): Promise<Page> {
  const context = await browser.newContext();
  // As lax as a cookie can be: an application that follows the documentation has SameSite=Strict. The browser
  // still keeps it from other sites, but not from other ports.
  const { hostname: domain } = new URL(attacked);
  await context.addCookies([
    { name: "user", value: "ann", domain, path: "/", sameSite: "None", secure: true },
  ]);
  const page = await context.newPage();
  await page.goto(address);
  return page;
}

type Place = readonly [name: string, address: (site: number, port: string) => string];

/** Where the attacker's page is from, by the ports of its own site and of the attacked server. */
const places: Readonly<Record<Place[0], Place[1]>> = {
  "another site": (site) => `http://evil.example:${site}/`,
  "another port of the same host": (site) => `http://127.0.0.1:${site}/`,
  "no origin": (site) => `http://evil.example:${site}/sandboxed`,
  "a name that is pointed here": (_, port) => `http://evil.example:${port}/rebound`,
};

/** Each costs seconds: those that differ from another in one check only are for campaigns. */
const isCampaign = process.env["CAMPAIGN"] === "1";
const left: Readonly<Record<string, readonly string[]>> = {
  cookie: ["no origin"],
  local: ["no origin", "another port of the same host"],
};
const placesFor = (mode: string): readonly Place[] =>
  Object.entries(places).filter(([name]) => isCampaign || left[mode]?.includes(name) !== true);

describe.each(["cookie", "local"] as const)("a server in %s mode", (mode) => {
  it.each(placesFor(mode))(
    "is neither read nor changed by a page of %s",
    { timeout: patience },
    async (name, placeOf) => {
      await using attackable = await openAttackable(mode, mode === "local" ? token : "ann");
      await using site = await openAttackSite();
      const { server, lines, read } = attackable;
      const { port } = new URL(server.url);
      const address = placeOf(site.port, port);
      const before = await read();
      expect(before).toContain(secret);
      const page = await openAttackPage(server.url, address);
      lines();

      const isRebound = name === "a name that is pointed here";
      const targets = targetsOf(server, isRebound ? new URL(address).origin : server.url);
      const results: readonly Attacked[] = await page.evaluate(
        `window.attackAll(${JSON.stringify(targets)})`,
      );
      const asked = lines();

      expect(results.length).toBeGreaterThanOrEqual(targets.length * 9);
      // A name that is pointed here makes the answers readable, and each is the refusal of that name.
      const got = results.filter(({ read: text }) => text?.startsWith("421 ") === false);
      expect(got).toEqual([]);
      const taken = asked.filter(({ status }) => status < 400);
      // A port of the same host gets the cookie, and its page sees nothing of what is answered to a GET.
      const isSameSite = name === "another port of the same host" && mode === "cookie";
      expect(taken.some(({ user }) => user === "ann")).toBe(isSameSite);
      expect(taken.filter(({ method }) => !isSameSite || method !== "GET")).toEqual([]);
      expect(asked.length).toBeGreaterThan(targets.length * 4);
      expect(await read()).toBe(before);
      console.log(
        `count: attacks of a page of ${name} on a server in ${mode} mode, ${results.length}, ${asked.length} requests, 0 read, 0 changed`,
      );
      await page.context().close();
    },
  );
});
