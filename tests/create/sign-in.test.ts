// Who may use a project: nobody in production until that is chosen, and then nobody who was not let in.
import {
  createHash,
  createHmac,
  generateKeyPairSync,
  randomBytes,
  randomUUID,
  sign,
} from "node:crypto";
import type { KeyObject } from "node:crypto";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApiKey } from "@millrace/server";
import { startVendorServer } from "@millrace/providers/testing";
import { expect, test, vi } from "vitest";
import { anthropicReply } from "../../apps/cli/src/testing/anthropic.ts";
import { questions } from "../../apps/create-millrace/src/choices.ts";
import type { Answers } from "../../apps/create-millrace/src/choices.ts";
import { inParallel } from "../kit/in-parallel.ts";
import { knownKeys } from "./kit/api-key.ts";
import { projectOnSources } from "./kit/on-sources.ts";
import type { ProjectOnSources } from "./kit/on-sources.ts";

vi.setConfig({ testTimeout: 120_000 }); // several programs are started

type SignIn = Answers["sign-in"];

const templates = questions.template.choices.map(({ name }) => name);

function projectWith(template: Answers["template"], signIn: SignIn): ProjectOnSources {
  const answers = { template, vendor: "none", run: "local", "sign-in": signIn } as const;
  const project = projectOnSources(answers);
  mkdirSync(join(project.path, "dist"));
  writeFileSync(join(project.path, "dist/index.html"), "<!doctype html>");
  return project;
}

type Headers = Readonly<Record<string, string>>;

/** The answer to a completion that costs money, asked with these headers from a page of the server. */
async function complete(url: string, headers: Headers): Promise<number> {
  const { origin } = new URL(url);
  const response = await fetch(`${origin}/agent/ai-sdk`, {
    method: "POST",
    headers: { origin, "content-type": "application/json", ...headers },
    body: JSON.stringify({
      id: `s-${randomUUID()}`,
      messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Hello" }] }],
    }),
  });
  await response.body?.cancel();
  return response.status;
}

/** How many of them the server let in. */
async function admitted(url: string, attempts: readonly Headers[]): Promise<number> {
  const statuses = await inParallel(
    attempts.map((headers) => () => complete(url, headers)),
    8,
  );
  expect(new Set(statuses).difference(new Set([200, 401]))).toEqual(new Set());
  return statuses.filter((status) => status !== 401).length;
}

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** What anybody can make up: guests, and sessions, keys and tokens of nobody. */
const invented: readonly Headers[] = [
  {},
  ...Array.from({ length: 100 }, () => ({ cookie: `guest=${randomUUID()}` })),
  { cookie: `guest=${randomUUID()}.${randomBytes(32).toString("base64url")}` },
  { cookie: `guest=${randomUUID()}.` },
  { cookie: "session=ann|9999999999999" },
  { cookie: `session=ann|9999999999999.${randomBytes(32).toString("base64url")}` },
  { cookie: "session=" },
  bearer(""),
  bearer("secret"),
  bearer("undefined"),
  bearer(createApiKey().key),
  bearer(`${encode({ alg: "none" })}.${encode({ sub: "ann", exp: 9_999_999_999 })}.`),
];

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** A text with one character changed at each of some places. */
function altered(text: string): readonly string[] {
  return [0, Math.floor(text.length / 2), text.length - 2].map((at) => {
    const other = text[at] === "A" ? "B" : "A";
    return `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
  });
}

test.each(templates)(
  "in production the %s template refuses to start with one sentence until people can sign in",
  async (template) => {
    const sentences = {
      later:
        'To run this in production, choose how people sign in: see "Who may use it" in README.md.',
      keys: "Set API_KEYS in .env to run this in production: `npm run user -- <name>` makes a key and its entry.",
      jwt: "Set JWT_ISSUER, JWT_AUDIENCE and JWT_KEYS in .env to run this in production: they name your identity provider.",
      session:
        "Set USERS and a SESSION_SECRET of 32 characters or more in .env to run this in production: `npm run user -- <name>` makes a user.",
    };
    for (const { name } of questions["sign-in"].choices) {
      using project = projectWith(template, name);
      await using server = project.start("server.ts", { PORT: "0" });
      await expect(server.url()).rejects.toThrow("it ended");
      expect([server.lines, await server.terminate()]).toEqual([[sentences[name]], 1]);
    }
  },
);

test.each([{ HOST: "0.0.0.0" }, { HOSTS: "app.example.com" }])(
  "a project that others may reach refuses to start without sign-in, also outside production: %j",
  async (reachable) => {
    for (const template of templates) {
      using project = projectWith(template, "later");
      const env = { NODE_ENV: "", ...reachable, PORT: "0" };
      await using server = project.start("server.ts", env);
      await expect(server.url()).rejects.toThrow("choose how people sign in");
    }
  },
);

test("in development a browser that loads the page is a guest, and invented guests are none", async () => {
  using project = projectWith("web", "later");
  await using server = project.start("server.ts", { NODE_ENV: "", PORT: "0" });
  const url = await server.url();
  expect(await admitted(url, invented)).toBe(0);
  const page = await fetch(url, { headers: { accept: "text/html" } });
  const [cookie = ""] = page.headers.get("set-cookie")?.split(";") ?? [];
  expect(await admitted(url, [{ cookie }])).toBe(1);
  expect(
    await admitted(
      url,
      altered(cookie).map((each) => ({ cookie: each })),
    ),
  ).toBe(0);
});

test("with API keys only keys that were made are let in, until their entry is gone", async () => {
  const [first, second] = knownKeys(2);
  for (const template of templates) {
    using project = projectWith(template, "keys");
    const [own = ""] = first.env.API_KEYS.split(" ");
    await using server = project.start("server.ts", { API_KEYS: own, PORT: "0" });
    const url = await server.url();
    const [, id, hash] = own.split(":");
    const wrong = [...altered(first.key), second?.key ?? "", hash, `millrace.${id}.${hash}`];
    expect(await admitted(url, [...invented, ...wrong.map((key) => bearer(key ?? ""))])).toBe(0);
    expect(await complete(url, bearer(first.key))).toBe(200);
  }
});

test("with tokens of a provider only its valid tokens for this server are let in", async () => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...pair.publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256" };
  const provider = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })));
  await once(provider.listen(0, "127.0.0.1"), "listening");
  const { port } = provider.address() as AddressInfo; // of a port
  const issuer = "https://login.example.com/";
  const make = (changes: object, key: KeyObject | string = pair.privateKey): string => {
    const isShared = typeof key === "string";
    const header = encode({ alg: isShared ? "HS256" : "ES256", kid: "k" });
    const claims = { sub: "ann", iss: issuer, aud: "shop", exp: 9_999_999_999, ...changes };
    const text = `${header}.${encode(claims)}`;
    const signature = isShared
      ? createHmac("sha256", key).update(text).digest("base64url")
      : sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url");
    return `${text}.${signature}`;
  };
  const own = make({});
  const forged = [
    ...altered(own),
    make({ iss: "https://evil.example.com/" }),
    make({ aud: "other" }),
    make({ exp: 1 }),
    make({ exp: undefined }),
    make({ sub: undefined }),
    make({ nbf: 9_999_999_998 }),
    make({ org_id: 7 }),
    make({}, stranger.privateKey),
    make({}, JSON.stringify(jwk)), // the public key, taken for a shared secret
    make({}, pair.publicKey.export({ type: "spki", format: "pem" }).toString()),
  ];
  for (const template of templates) {
    using project = projectWith(template, "jwt");
    const env = { JWT_ISSUER: issuer, JWT_AUDIENCE: "shop", JWT_KEYS: `http://127.0.0.1:${port}/` };
    await using server = project.start("server.ts", { ...env, PORT: "0" });
    const url = await server.url();
    expect(await admitted(url, [...invented, ...forged.map(bearer)])).toBe(0);
    expect(await complete(url, bearer(own))).toBe(200);
  }
  provider.close();
});

test("with sessions only who signed in with a password is let in, for as long as that is valid", async () => {
  const secret = randomBytes(32).toString("hex");
  const password = randomBytes(24).toString("base64url");
  const USERS = `ann:${createHash("sha256").update(password).digest("hex")}`;
  const sessionOf = (text: string, purpose = "session", key = secret): string => {
    const code = createHmac("sha256", key).update(`${purpose}\0${text}`).digest("base64url");
    return `${text}.${code}`;
  };
  for (const template of templates) {
    using project = projectWith(template, "session");
    const env = { SESSION_SECRET: secret, USERS, PORT: "0" };
    await using server = project.start("server.ts", env);
    const url = await server.url();
    const { origin } = new URL(url);
    const post = (path: string, body: string): Promise<Response> =>
      fetch(`${origin}${path}`, { method: "POST", body });
    const wrong = ["", "user=ann", "user=ann&password=", "user=bob&password=x", "user=&password="];
    wrong.push(`user=ann&password=${password}x`, `user=Ann&password=${password}`, USERS);
    wrong.push(`user=ann&password=${USERS.slice(4)}`, `user=__proto__&password=${password}`);
    for (const form of wrong) {
      const response = await post("/sign-in", form);
      expect([form, response.status, response.headers.get("set-cookie")]).toEqual([
        form,
        401,
        null,
      ]);
    }
    expect((await post("/sign-in", "x".repeat(100_000))).status).toBe(413);

    const signedIn = await post("/sign-in", `user=ann&password=${password}`);
    const cookie = signedIn.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/);
    const [session = ""] = cookie.slice("session=".length).split(";");
    const far = Date.now() + 1e9;
    const forged = [
      ...altered(session),
      sessionOf(`ann|${far}`, "session", "0".repeat(64)),
      sessionOf(`ann|${far}`, "guest"),
      sessionOf(`ann|${Date.now() - 1}`),
      sessionOf("ann|"),
      sessionOf(`bob|${far}`),
    ];
    const both = forged.flatMap((each) => [{ cookie: `session=${each}` }, bearer(each)]);
    expect(await admitted(url, [...invented, ...both])).toBe(0);
    const valid = [{ cookie: `session=${session}` }, bearer(session)];
    expect(await admitted(url, valid)).toBe(2);
    const out = (await post("/sign-out", "")).headers.get("set-cookie");
    expect(out).toMatch(/^session=; .*Max-Age=0/);
  }
});

test("the commands that make users print entries that let these users in", async () => {
  for (const signIn of ["keys", "session"] as const) {
    using project = projectWith("api", signIn);
    const maker = project.start("make-user.ts", {}, "ann");
    await using _ = maker;
    await vi.waitUntil(() => maker.lines.length === 4, { timeout: 30_000 });
    const [, given = "", , entry = ""] = maker.lines;
    const env = { API_KEYS: entry, USERS: entry, SESSION_SECRET: randomUUID(), PORT: "0" };
    await using server = project.start("server.ts", env);
    const { origin } = new URL(await server.url());
    const form = new URLSearchParams({ user: "ann", password: given });
    const response = await fetch(`${origin}/sign-in`, { method: "POST", body: form });
    const [cookie = ""] = response.headers.get("set-cookie")?.split(";") ?? [];
    expect(await complete(origin, signIn === "keys" ? bearer(given) : { cookie })).toBe(200);
  }
});

test("what all users of a project spend in a day is limited unless it is set otherwise", async () => {
  const costly = anthropicReply("Hello").replace('"output_tokens":7', '"output_tokens":9000000');
  await using vendor = await startVendorServer({ replies: () => ({ body: costly }) });
  const answers = { template: "api", vendor: "anthropic", run: "local" } as const;
  using project = projectOnSources({ ...answers, "sign-in": "keys" });
  const [first, second] = knownKeys(2);
  const env = { ...first.env, ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: vendor.url, PORT: "0" };
  await using server = project.start("server.ts", env);
  const url = await server.url();
  expect(await complete(url, bearer(first.key))).toBe(200);
  const ask = async (): Promise<unknown> => {
    const json = { "content-type": "application/json", "idempotency-key": randomUUID() };
    const headers = { ...bearer(second?.key ?? ""), ...json };
    const body = JSON.stringify({ input: { kind: "prompt", text: "Hello" } });
    const response = await fetch(`${url}/v1/sessions`, { method: "POST", headers, body });
    return await response.json();
  };
  // It counts once the reply is over.
  await expect
    .poll(ask, { timeout: 10_000, interval: 500 })
    .toMatchObject({ code: "quota_exceeded", policy: "spendPerTenant" });
});
