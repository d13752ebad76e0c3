import { createVerify, generateKeyPairSync } from "node:crypto";
import { manualClock } from "@millrace/core/testing";
import { afterEach, expect, test, vi } from "vitest";
import { startVendorServer } from "./serve/vendor-server.ts";
import type { VendorServer } from "./serve/vendor-server.ts";
import { bytesOf } from "./testing/fixtures.ts";
import { startForwardProxy } from "./testing/forward-proxy.ts";
import { metadataToken, serviceAccount } from "./service-account.ts";
import { vertex } from "./vertex.ts";

afterEach(() => void vi.unstubAllEnvs());

const { publicKey, privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

const keyFor = ({ url }: VendorServer): Parameters<typeof serviceAccount>[0] => ({
  client_email: "bot@acme.iam.gserviceaccount.com",
  private_key: privateKey,
  private_key_id: "key-1",
  token_uri: `${url}/token`,
});

const json = { "content-type": "application/json" };
const answer = (token: string, seconds = 3_600): { body: string; headers: typeof json } => ({
  body: JSON.stringify({ access_token: token, expires_in: seconds, token_type: "Bearer" }),
  headers: json,
});

/** The parts of a signed claim, as a server that has the account's public key reads it. */
function verified(body: string): { readonly header: unknown; readonly claims: unknown } {
  const form = new URLSearchParams(body);
  expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
  const [header = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
  const verify = createVerify("RSA-SHA256").update(`${header}.${claims}`);
  expect(verify.verify(publicKey, signature, "base64url")).toBe(true);
  const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
  return { header: read(header), claims: read(claims) };
}

test("the exchanged claim is signed by the account's key and names the server it is for", async () => {
  await using server = await startVendorServer({ replies: [answer("ya29.first")] });
  const clock = manualClock();

  expect(await serviceAccount(keyFor(server), { clock })()).toBe("ya29.first");

  const { header, claims } = verified(server.requests[0]?.body ?? "");
  expect(header).toEqual({ alg: "RS256", typ: "JWT", kid: "key-1" });
  const iat = Math.floor(clock.now() / 1_000);
  expect(claims).toEqual({
    iss: "bot@acme.iam.gserviceaccount.com",
    scope: "https://www.googleapis.com/auth/cloud-platform",
    aud: `${server.url}/token`,
    iat,
    exp: iat + 3_600,
  });
});

test("a token serves until five minutes before its end, and one exchange serves all who wait", async () => {
  await using server = await startVendorServer({ replies: [answer("first"), answer("second")] });
  const clock = manualClock();
  const token = serviceAccount(keyFor(server), { clock });

  expect(await Promise.all([token(), token(), token()])).toEqual(["first", "first", "first"]);
  await clock.advance(3_600_000 - 300_000 - 1);
  expect(await token()).toBe("first");
  expect(server.requests).toHaveLength(1);
  await clock.advance(1);
  expect(await Promise.all([token(), token()])).toEqual(["second", "second"]);
  expect(server.requests).toHaveLength(2);
});

test("a failed renewal is not seen while the old token is valid, and is tried again", async () => {
  const down = { status: 503, body: "down" };
  await using server = await startVendorServer({
    replies: [answer("first"), down, down, answer("second")],
  });
  const clock = manualClock();
  const token = serviceAccount(keyFor(server), { clock });

  await token();
  await clock.advance(3_400_000);
  expect(await token()).toBe("first");
  await clock.advance(200_000);
  await expect(token()).rejects.toMatchObject({ failure: { code: "overloaded", retryable: true } });
  expect(await token()).toBe("second");
});

test("a reply waits for a token server that is down for a moment", async () => {
  await using tokens = await startVendorServer({
    replies: [{ status: 503, body: "down" }, answer("ya29.later")],
  });
  await using server = await startVendorServer({ replies: [{ body: bytesOf("gemini", "text") }] });
  const model = vertex("gemini-3-pro", {
    project: "acme",
    token: serviceAccount(keyFor(tokens)),
    baseUrl: server.url,
    retry: { baseMs: 1 },
  });

  expect((await model.stream({ transcript: [] }).result).stop).toBe("end");
  expect(server.requests[0]?.headers["authorization"]).toBe("Bearer ya29.later");
});

test.each([
  [
    "refuses the account",
    { status: 400, body: '{"error":"invalid_grant","error_description":"Invalid JWT Signature."}' },
    "bad_request",
    /no token for Google Cloud.*invalid_grant/,
  ],
  ["answers without a token", { body: "{}", headers: json }, "protocol", /has no access_token/],
  ["is not there", { raw: "", end: "reset" as const }, "connection_reset", /at http:.*\/token/],
] as const)(
  "a request fails with what happened if the server %s",
  async (_, reply, code, message) => {
    await using server = await startVendorServer({ replies: [reply] });
    const token = serviceAccount(keyFor(server));
    const model = vertex("gemini-3-pro", { project: "acme", token, retry: false });

    const { cause } = await model.stream({ transcript: [] }).result;

    expect(cause).toMatchObject({ code });
    expect(cause?.message).toMatch(message);
    expect(JSON.stringify(cause)).not.toContain("PRIVATE KEY");
  },
);

test("the exchange goes through the network that is given", async () => {
  await using server = await startVendorServer({ replies: [answer("through")] });
  await using proxy = await startForwardProxy();
  const token = serviceAccount(keyFor(server), { network: { proxy: proxy.url } });

  expect(await token()).toBe("through");
  expect(proxy.passed).toEqual([`${server.url}/token`]);
});

test("a machine's own token comes from its metadata server", async () => {
  await using server = await startVendorServer({ replies: [answer("of-the-machine")] });
  vi.stubEnv("GCE_METADATA_HOST", `${server.host}:${server.port}`);

  expect(await metadataToken()()).toBe("of-the-machine");

  expect(server.requests[0]).toMatchObject({
    method: "GET",
    path: "/computeMetadata/v1/instance/service-accounts/default/token",
    headers: { "metadata-flavor": "Google" },
  });
});

test.each([
  ["a path instead of the key", "/etc/key.json"],
  ["a key that is none", { client_email: "a@b", private_key: "secret-text" }],
])("%s is refused at the door without its value", (_, key) => {
  // @ts-expect-error -- A program without types.
  const make = (): unknown => serviceAccount(key);
  expect(make).toThrow(/pass the parsed JSON of the key's file/);
  expect(make).not.toThrow(/secret-text|etc/);
});
