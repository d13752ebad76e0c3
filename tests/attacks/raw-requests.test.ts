/** Whether any request ends a server that we ship: the reference app, and the server of each template. */
import { mkdirSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../scripts/temporary.ts";
import { root } from "../../scripts/workspace.ts";
import { knownKeys } from "../create/kit/api-key.ts";
import { projectOnSources } from "../create/kit/on-sources.ts";
import { start } from "../create/kit/started.ts";
import type { Started } from "../create/kit/started.ts";
import { inParallel } from "../kit/in-parallel.ts";
import { patience } from "../kit/patience.ts";
import { Random } from "../kit/random.ts";
import { firstSeed, runs } from "../kit/runs.ts";
import { rawRequests } from "./kit/raw-requests.ts";
import type { RawRoute, RawUser } from "./kit/raw-requests.ts";
import type { JsonSchema } from "./kit/schema-values.ts";
import { sendRaw } from "./kit/send-raw.ts";

const requests = runs(20_000, 100_000, 1_500);

type Header = readonly [name: string, value: string];

interface OpenApi {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly requestBody?: RequestBody }>>>
  >;
}

interface RequestBody {
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

interface Shipped extends AsyncDisposable {
  readonly program: Started;
  /** Headers that sign in: for many users where that is possible. */
  readonly credentials: readonly Header[];
}

const page = "<!doctype html><title>page</title>";
const userCount = Math.ceil(requests / 250);
const guests = Array.from({ length: userCount }, (): Header => ["Cookie", `guest=${randomUUID()}`]);

async function referenceApp(): Promise<Shipped> {
  const folder = temporaryFolder({ "index.html": page, "assets/a.js": "1" });
  const command = [
    "node",
    "--conditions=@millrace/source",
    "apps/chat/src/server/main.ts",
  ] as const;
  const program = start(command, { cwd: root, env: { CHAT_PAGE: folder.path, PORT: "0" } });
  return shipped(program, guests, folder);
}

async function template(name: "web" | "api" | "terminal"): Promise<Shipped> {
  const answers = { template: name, vendor: "none", run: "local", "sign-in": "keys" } as const;
  const project = projectOnSources(answers);
  mkdirSync(join(project.path, "dist"));
  writeFileSync(join(project.path, "dist/index.html"), page);
  const keys = knownKeys(userCount);
  const program = project.start("server.ts", { ...keys[0].env, HOSTS: "127.0.0.1", PORT: "0" });
  const headers = keys.map(({ key }): Header => ["Authorization", `Bearer ${key}`]);
  return shipped(program, headers, project);
}

function shipped(program: Started, credentials: readonly Header[], folder: Disposable): Shipped {
  return {
    program,
    credentials,
    [Symbol.asyncDispose]: async () => {
      await program[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const servers = [
  ["the reference app", referenceApp],
  ["the server of the web template", () => template("web")],
  ["the server of the api template", () => template("api")],
  ["the server of the terminal template", () => template("terminal")],
] as const;

describe.each(servers)("%s", (name, open) => {
  it(
    "answers a target that is no address with 400, and goes on",
    { timeout: patience },
    async () => {
      await using server = await open();
      const { port } = new URL(await server.program.url());
      for (const target of ["//[", "http://[", "//[/agent/v1/health"]) {
        const lines = [`GET ${target} HTTP/1.1`, `Host: 127.0.0.1:${port}`, "Connection: close"];
        const bytes = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
        expect([target, await sendRaw(Number(port), { bytes, isWhole: true })]).toEqual([
          target,
          [400],
        ]);
      }
    },
  );

  it(
    "lives through random requests over sockets, and answers none of them with 500",
    { timeout: patience * 10 },
    async () => {
      await using server = await open();
      const { port } = new URL(await server.program.url());
      const host = `127.0.0.1:${port}`;
      const [first = ["", ""]] = server.credentials;
      const routes = await routesOf(`http://${host}`, first);
      const users = await usersOf(`http://${host}`, server.credentials);
      const random = new Random(firstSeed);
      const statuses = new Map<number, number>();
      const failed: string[] = [];
      let sent = 0;
      const connection = async (): Promise<void> => {
        if (sent >= requests) return;
        const drawn = rawRequests(random, { host, routes, users });
        sent += drawn.count;
        for (const status of await sendRaw(Number(port), drawn)) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status === 500) failed.push(drawn.bytes.toString("latin1"));
        }
      };
      await inParallel(
        Array.from({ length: requests }, () => connection),
        64,
      );

      const health = await fetch(`http://${host}/agent/v1/health`);
      const shown = server.program.lines.slice(-10).join("\n");
      expect(health.status, shown).toBe(200);
      expect(failed, shown).toEqual([]);
      const counted = [...statuses]
        .toSorted(([a], [b]) => a - b)
        .map(([status, count]) => `${status} × ${count}`);
      console.log(`count: random requests to ${name}, ${sent}, 0 failures (${counted.join(", ")})`);
    },
  );
});

/** The routes of a server, by its own document. */
async function routesOf(url: string, [name, value]: Header): Promise<readonly RawRoute[]> {
  const response = await fetch(`${url}/agent/v1/openapi.json`, { headers: { [name]: value } });
  const { paths } = (await response.json()) as OpenApi;
  const own = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, { requestBody }]) => ({
      method: verb.toUpperCase(),
      path: `/agent${path}`,
      schema: requestBody?.content["application/json"]?.schema,
    })),
  );
  expect(own.length).toBeGreaterThan(20);
  const page = ["/", "/index.html", "/config.json"].map((path) => ({ method: "GET", path }));
  return [...own, ...page];
}

/** Makes a session for each user. */
async function usersOf(url: string, headers: readonly Header[]): Promise<readonly RawUser[]> {
  const jobs = headers.map(([name, value], at) => async () => {
    const session = `own-${at}`;
    const key = `0123456789-${session}`;
    const type = { "content-type": "application/json", "idempotency-key": key, origin: url };
    const response = await fetch(`${url}/agent/v1/sessions`, {
      method: "POST",
      headers: { ...type, [name]: value },
      body: JSON.stringify({ id: session }),
    });
    expect(response.status).toBe(201);
    return { header: `${name}: ${value}`, session };
  });
  return await inParallel(jobs, 8);
}
