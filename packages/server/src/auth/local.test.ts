import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defineAgent } from "@millrace/agent";
import { scriptedModel } from "@millrace/core/testing";
import { createMillrace } from "../serve/create-millrace.ts";
import type { Millrace, MillraceOptions } from "../serve/millrace.ts";

let file: string;
let printed: string[];

beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), "millrace-")), "own", "token");
  printed = [];
  vi.stubEnv("MILLRACE_TOKEN_FILE", file);
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

function local(options: Partial<MillraceOptions> = {}): Millrace {
  return createMillrace({ agent: defineAgent({ model: scriptedModel([]) }), ...options });
}

interface Asked {
  readonly host?: string;
  readonly token?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(millrace: Millrace, path: string, asked: Asked = {}): Promise<number> {
  const { host = "127.0.0.1:3000", token, method = "GET", headers } = asked;
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const init = { method, headers: { ...credentials, ...headers } };
  return (await millrace.fetch(new Request(`http://${host}${path}`, init))).status;
}

const tokenIn = (): string => readFileSync(file, "utf8").trim();

describe("local mode", () => {
  it("makes a token once, prints it once, and keeps it for its user alone", async () => {
    await using first = local();
    await using second = local();
    expect(printed).toEqual([`Authorization: Bearer ${tokenIn()}\n`]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
    for (const each of [first, second]) {
      expect(await ask(each, "/v1/sessions", { token: tokenIn() })).toBe(200);
    }
  });

  it("needs the token for all, health included, and takes it from no address", async () => {
    await using millrace = local();
    for (const path of ["/v1/sessions", "/v1/health", "/v1/ready", "/v1/openapi.json"]) {
      expect(await ask(millrace, path)).toBe(401);
      expect(await ask(millrace, path, { token: `${tokenIn()}x` })).toBe(401);
      expect(await ask(millrace, path, { token: tokenIn() })).toBe(200);
      expect(await ask(millrace, `${path}?token=${tokenIn()}`)).toBe(400);
    }
  });

  it("answers loopback names alone, whatever a proxy says", async () => {
    await using millrace = local({ trustProxy: true });
    const token = tokenIn();
    for (const host of ["localhost", "127.0.0.1:80", "[::1]:3000"]) {
      expect(await ask(millrace, "/v1/sessions", { token, host })).toBe(200);
    }
    for (const host of ["attacker.example", "127.0.0.1.evil.example", "10.0.0.1"]) {
      const headers = { "x-forwarded-host": "localhost" };
      expect(await ask(millrace, "/v1/sessions", { token, host, headers })).toBe(421);
    }
  });

  it("lets in pages of its own origin alone, also if others are listed", async () => {
    await using millrace = local({ origins: ["https://app.example"] });
    const token = tokenIn();
    const from = (origin: string): Promise<number> =>
      ask(millrace, "/v1/sessions", { token, headers: { origin } });
    expect(await from("http://127.0.0.1:3000")).toBe(200);
    for (const origin of ["https://app.example", "null", "http://127.0.0.1:9999"]) {
      expect(await from(origin)).toBe(403);
    }
  });

  it("has no tickets", async () => {
    await using millrace = local();
    const headers = { "content-type": "application/json" };
    const asked = { token: tokenIn(), method: "POST", headers };
    expect(await ask(millrace, "/v1/tickets", asked)).toBeGreaterThanOrEqual(400);
    expect(await ask(millrace, "/v1/sessions/s/events?ticket=x.y")).toBe(401);
  });

  it("closes a token file that others could read, and refuses one that holds no token", async () => {
    await using first = local();
    expect(await ask(first, "/v1/health", { token: tokenIn() })).toBe(200);
    chmodSync(file, 0o644);
    await using second = local();
    expect(await ask(second, "/v1/health", { token: tokenIn() })).toBe(200);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, "");
    expect(() => local()).toThrow("holds no token");
  });
});
