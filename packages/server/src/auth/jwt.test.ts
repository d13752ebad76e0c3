import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import type { CryptoKey, JWK } from "jose";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Served } from "../testing/served.ts";
import { jwt } from "./jwt.ts";
import type { JwtOptions } from "./jwt.ts";

const issuer = "https://id.example";
const audience = "millrace";

interface Pair {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

async function keyPair(kid: string, alg = "ES256"): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

const first = await keyPair("first");
const second = await keyPair("second");
const stranger = await keyPair("first");

interface Claims {
  readonly issuer?: string;
  readonly audience?: string | string[];
  readonly expires?: number | undefined;
  readonly notBefore?: number;
  readonly sub?: string;
  readonly tenant?: string | undefined;
}

const now = (): number => Math.floor(Date.now() / 1_000);

function claims({ expires = now() + 600, ...given }: Claims): SignJWT {
  const { tenant = "acme", sub = "ann" } = given;
  const made = new SignJWT(tenant === "" ? {} : { tenant, roles: ["admin", 7] })
    .setIssuer(given.issuer ?? issuer)
    .setAudience(given.audience ?? audience);
  if (sub !== "") made.setSubject(sub);
  if (expires > 0) made.setExpirationTime(expires);
  if (given.notBefore !== undefined) made.setNotBefore(given.notBefore);
  return made;
}

function token({ privateKey, jwk }: Pair, given: Claims = {}): Promise<string> {
  return claims(given)
    .setProtectedHeader({ alg: jwk.alg ?? "", kid: jwk.kid ?? "" })
    .sign(privateKey);
}

/** What a request with this token is answered, by a server whose tokens are checked like this. */
async function status(bearer: string, options: Partial<JwtOptions> = {}): Promise<number> {
  const keys = { keys: [first.jwk] };
  const authenticate = jwt({ issuer, audience, keys, ...options });
  await using served = new Served(undefined, { authenticate });
  const authorization = bearer === "" ? bearer : `Bearer ${bearer}`;
  return (await served.request("/v1/sessions", { headers: { authorization } })).status;
}

describe("a token", () => {
  it("of the issuer for this audience is admitted as its tenant, user and roles", async () => {
    const authenticate = jwt({ issuer, audience, keys: { keys: [first.jwk] } });
    const lines: unknown[] = [];
    const onRequest = (line: unknown): void => void lines.push(line);
    await using served = new Served(undefined, { authenticate, onRequest });
    const headers = { authorization: `Bearer ${await token(first)}` };
    const answer = await served.request("/v1/sessions?owner=bob", { headers });
    expect(answer.status).toBe(200); // lists of others are for admins
    expect(lines).toMatchObject([{ tenant: "acme", user: "ann" }]);
  });

  it.each([
    ["is expired", { expires: now() - 10 }],
    ["has no expiry", { expires: -1 }],
    ["is not valid yet", { notBefore: now() + 60 }],
    ["is for another audience", { audience: "other" }],
    ["is of another issuer", { issuer: "https://evil.example" }],
    ["has no subject", { sub: "" }],
    ["has no tenant", { tenant: "" }],
  ])("that %s is 401", async (_, given: Claims) => {
    expect(await status(await token(first, given))).toBe(401);
  });

  it("for several audiences is admitted if this one is among them", async () => {
    expect(await status(await token(first, { audience: ["other", audience] }))).toBe(200);
  });

  it("signed by nobody, by another key, or by a public key as a secret is 401", async () => {
    const unsigned = new UnsecuredJWT({ tenant: "acme", sub: "ann" })
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime("10m")
      .encode();
    const asSecret = await claims({})
      .setProtectedHeader({ alg: "HS256", kid: "first" })
      .sign(new TextEncoder().encode(JSON.stringify(first.jwk)));
    expect(await status(unsigned)).toBe(401);
    expect(await status(await token(stranger))).toBe(401);
    expect(await status(asSecret)).toBe(401);
  });

  it("that was changed, or is none, is 401", async () => {
    const [head = "", , signature = ""] = (await token(first)).split(".");
    const forged = { tenant: "acme", sub: "eve", iss: issuer, aud: audience, exp: now() + 60 };
    const body = Buffer.from(JSON.stringify(forged)).toString("base64url");
    for (const bearer of [`${head}.${body}.${signature}`, "x", "a.b.c", "...", ""]) {
      expect(await status(bearer)).toBe(401);
    }
  });

  it("of a shared secret is admitted by that secret alone", async () => {
    const keys = new Uint8Array(32).fill(7);
    const signed = (secret: Uint8Array): Promise<string> =>
      claims({}).setProtectedHeader({ alg: "HS256" }).sign(secret);
    expect(await status(await signed(keys), { keys })).toBe(200);
    expect(await status(await signed(new Uint8Array(32)), { keys })).toBe(401);
    expect(await status(await token(first), { keys })).toBe(401);
  });

  it("is refused where the application's identity is nothing", async () => {
    expect(await status(await token(first), { identity: () => undefined })).toBe(401);
    const identity: JwtOptions["identity"] = () => ({ tenant: "x", user: "y" });
    expect(await status(await token(first), { identity })).toBe(200);
  });
});

describe("clocks that differ", () => {
  it("by up to the tolerance are forgiven", async () => {
    const late = await token(first, { expires: now() - 20 });
    const early = await token(first, { notBefore: now() + 20 });
    const skewed = await token(first, { expires: now() - 2, notBefore: now() + 2 });
    expect([await status(late), await status(early), await status(skewed)]).toEqual([
      401, 401, 200,
    ]);
    expect(await status(late, { toleranceMs: 30_000 })).toBe(200);
    expect(await status(early, { toleranceMs: 30_000 })).toBe(200);
    expect(await status(late, { toleranceMs: 10_000 })).toBe(401);
  });
});

describe("a key set at an address", () => {
  it("is read again for a key that it did not have, and drops one that was taken out", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    let [published, reads] = [[first.jwk], 0];
    const server = createServer((_, response) => {
      reads += 1;
      response.end(JSON.stringify({ keys: published }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const keys = `http://127.0.0.1:${port}/keys`;
    const authenticate = jwt({ issuer, audience, keys });
    await using served = new Served(undefined, { authenticate });
    const ask = async (bearer: string): Promise<number> => {
      const headers = { authorization: `Bearer ${bearer}` };
      return (await served.request("/v1/sessions", { headers })).status;
    };

    expect([await ask(await token(first)), await ask(await token(first))]).toEqual([200, 200]);
    expect(reads).toBe(1);
    expect(await ask(await token(second))).toBe(401);
    published = [second.jwk];
    expect(await ask(await token(second))).toBe(401); // strangers can't make it read at every request
    expect(reads).toBeLessThanOrEqual(2);
    vi.setSystemTime(Date.now() + 31_000);
    expect(await ask(await token(second))).toBe(200);
    expect(await ask(await token(first))).toBe(401);

    await new Promise((resolve) => server.close(resolve).closeAllConnections());
    vi.setSystemTime(Date.now() + 31_000);
    // That nobody could be asked is no refusal: the caller repeats.
    expect(await ask(await token(stranger))).toBe(503);
  });

  it.each([
    ["has no end", () => "a".repeat(65_536), /longer than 1048576 bytes/],
    [
      "is no JSON",
      (sent: number) => (sent === 0 ? "key-of-another-kind" : undefined),
      /is no JSON/,
    ],
  ] as const)("that %s is an error without a part of it", async (_, next, message) => {
    let sent = 0;
    const server = createServer((__, response) => {
      const write = (): void => {
        for (let piece = next(sent); ; piece = next(sent)) {
          if (piece === undefined) return void response.end();
          sent += piece.length;
          if (!response.write(piece)) return void response.once("drain", write);
        }
      };
      write();
    });
    onTestFinished(() => server.close().closeAllConnections());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const authenticate = jwt({ issuer, audience, keys: `http://127.0.0.1:${port}/keys` });
    const bearer = `Bearer ${await token(first)}`;

    const error: unknown = await Promise.resolve(authenticate.fromHeaders?.(() => bearer)).catch(
      (caught: unknown) => caught,
    );

    expect(inspect(error)).toMatch(message);
    expect(inspect(error)).not.toContain("key-of");
    expect(sent).toBeLessThan(32 * 1024 * 1024); // with what sockets hold
  });

  it("beyond this machine is read by https alone", () => {
    expect(() => jwt({ issuer, audience, keys: "http://id.example/keys" })).toThrow("https://");
  });
});

it.each(["issuer", "audience", "keys"])(
  "a missing or empty %s is refused before a token is read",
  (name) => {
    const options = { issuer, audience, keys: { keys: [first.jwk] }, [name]: undefined };
    expect(() => jwt(options)).toThrow(name);
    expect(() => jwt({ ...options, [name]: "" })).toThrow(name);
  },
);
