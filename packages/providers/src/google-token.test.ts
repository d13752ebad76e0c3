import { generateKeyPairSync } from "node:crypto";
import { redact } from "@millrace/core/secrets";
import { afterEach, describe, expect, it, vi } from "vitest";
import { startVendorServer } from "./serve/vendor-server.ts";
import type { VendorReply, VendorRequest } from "./serve/vendor-reply.ts";
import { metadataToken, serviceAccount } from "./service-account.ts";
import { askServer } from "./transport/ask.ts";

afterEach(() => void vi.unstubAllEnvs());

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

const keyAt = (uri: string): Parameters<typeof serviceAccount>[0] => ({
  client_email: "bot@acme.iam.gserviceaccount.com",
  private_key: privateKey,
  token_uri: uri,
});

/** A token of a form that no pattern knows. */
const opaque = "corp-opaque-7f3a9d1c5e8b2460-token";
const assertionOf = ({ body }: VendorRequest): string =>
  new URLSearchParams(body).get("assertion") ?? "";
const json = (value: object, status = 200): VendorReply => ({
  status,
  body: JSON.stringify(value),
});

describe("an error of a token exchange", () => {
  it.each<[string, (request: VendorRequest) => VendorReply]>([
    ["a validity that is no number", () => json({ access_token: opaque, expires_in: "soon" })],
    ["the token under another name", () => json({ token: opaque, id_token: opaque })],
    ["a body that is no JSON", () => ({ body: `access_token=${opaque}` })],
    [
      "the signed claim in a refusal",
      (request) =>
        json({ error: "invalid_grant", error_description: `bad ${assertionOf(request)}` }, 400),
    ],
    ["a token as the name of an error", () => json({ error: opaque }, 401)],
    ["a refusal of another form", () => json({ error: { message: opaque, code: opaque } }, 403)],
    ["a page", () => ({ status: 502, body: `<html>${opaque}</html>` })],
    ["a redirect", () => ({ status: 302, headers: { location: `/${opaque}` }, body: opaque })],
  ])("quotes nothing of the answer: %s", async (_, reply) => {
    await using server = await startVendorServer({ replies: reply });

    const error: unknown = await serviceAccount(keyAt(`${server.url}/token`))().catch(
      (caught: unknown) => caught,
    );

    const shown = JSON.stringify(error, [
      "message",
      "failure",
      "code",
      "evidence",
      "body",
      "status",
    ]);
    const [request] = server.requests;
    expect(String(error)).toMatch(/no token for Google Cloud/);
    expect(shown).not.toContain(opaque);
    expect(shown).not.toContain("html");
    expect(shown).not.toContain(request && assertionOf(request).slice(-40));
  });

  it("names the error by its code, if that is one of OAuth's", async () => {
    await using server = await startVendorServer({
      replies: [json({ error: "invalid_grant", error_description: "Invalid JWT Signature." }, 400)],
    });

    await expect(serviceAccount(keyAt(`${server.url}/token`))()).rejects.toThrow(
      "the token server answered 400 invalid_grant",
    );
  });

  it("and every later one is cleaned of the claim and the token", async () => {
    await using server = await startVendorServer({
      replies: [json({ access_token: opaque, expires_in: 3_600 })],
    });

    await serviceAccount(keyAt(`${server.url}/token`))();

    const [request] = server.requests;
    expect(redact(`sent ${request && assertionOf(request)}, got ${opaque}`)).toBe(
      "sent [redacted], got [redacted]",
    );
  });
});

describe("a token exchange", () => {
  it.each(["http://tokens.example/token", "http://10.0.0.5/token", "file:///etc/passwd", "token"])(
    "at %s is refused at the door",
    (uri) => {
      expect(() => serviceAccount(keyAt(uri))).toThrow(/token_uri.*https:\/\//);
    },
  );

  it("may be unencrypted on this machine, and where that is allowed", () => {
    serviceAccount(keyAt("http://127.0.0.1:1/token"));
    serviceAccount(keyAt("http://tokens.example/token"), { allowPlain: true });
  });

  it("with a metadata server beyond this machine needs the addresses of Google's, or leave", async () => {
    vi.stubEnv("GCE_METADATA_HOST", "metadata.example:8080");

    await expect(metadataToken()()).rejects.toThrow(
      /metadata\.example is not encrypted.*allowPlain/,
    );
  });

  it("ends at 64 KiB of an answer without an end", async () => {
    await using server = await startVendorServer({
      replies: [{ body: "a".repeat(16_384), repeat: Infinity }],
    });

    await expect(serviceAccount(keyAt(`${server.url}/token`))()).rejects.toThrow(
      /the answer is longer than 65536 bytes/,
    );

    expect(await server.requests[0]?.ended).toMatchObject({ by: "client" });
  });

  it.each([
    ["no status line", { body: "{}", headersDelayMs: Infinity }],
    ["a byte now and then", { body: "x".repeat(1_000), chunks: "byte", delayMs: 20 }],
  ] as const)("ends after its time if the server sends %s", async (_, reply) => {
    await using server = await startVendorServer({ replies: [reply] });

    const answer = await askServer({ url: server.url, timeoutMs: 200 });

    expect(answer).toMatchObject({
      cause: { code: "first_byte_timeout", message: "no whole answer within 200 ms" },
    });
  });
});
