import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import {
  learnSecrets,
  pairHeaders,
  redactHeaders,
  redactPath,
  withoutHops,
} from "./recorded-head.ts";
import type { HeaderList } from "./recorded-head.ts";
import { Redactor } from "./redact.ts";

describe("text", () => {
  test.each([
    ["OpenAI", "sk-proj-AbCd1234EfGh5678IjKl"],
    ["Anthropic", "sk-ant-api03-abcDEF123_456-xyz"],
    ["Google", `AIza${"Sy1_-".repeat(7)}`],
    ["Google OAuth", "ya29.a0AfH6SMBx1234567890"],
    ["Groq", "gsk_abcdefghij0123456789"],
    ["xAI", "xai-abcdefghij0123456789"],
    ["AWS", "AKIAIOSFODNN7EXAMPLE"],
    ["GitHub", "ghp_abcdefghijklmnopqrst0123456789"],
    ["Hugging Face", "hf_abcdefghijklmnopqrst0123456789"],
    ["a web token", "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK"],
  ])("loses what looks like a key of %s, and nothing else", (_, key) => {
    const clean = new Redactor().text(`{"a":"${key}","b":2}`);

    expect(clean).toBe(`{"a":"${"REDACTED".repeat(9).slice(0, key.length)}","b":2}`);
  });

  test("loses a bearer and a private key", () => {
    const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----";

    const clean = new Redactor().text(`Bearer abcdefghij123456 ${pem}.`);

    expect(clean).not.toMatch(/abcdefghij|MIIabc/);
    expect(clean).toMatch(/^Bearer REDACTEDREDACTED (?:REDACTED)+\w*\.$/);
  });

  test.each([
    "sk-learn-is-a-library-for-models",
    "the task-1234567890123456789",
    "risk-AbCd1234EfGh5678IjKl",
    "ErUBCkYIBRgCIkDsk/AIzaSy1_Sy1_Sy1_Sy1_Sy1_Sy1_Sy1_Sy1_x==",
    "Bearer tokens",
  ])("keeps %j", (text) => {
    expect(new Redactor().text(text)).toBe(text);
  });

  test("loses a secret of any look, also in a URL and in JSON", () => {
    const redactor = new Redactor(['pass word/ünter"x']);

    for (const form of [
      'pass word/ünter"x',
      "pass%20word%2F%C3%BCnter%22x",
      'pass word/ünter\\"x',
    ]) {
      const clean = redactor.text(`<${form}>`);
      expect(clean).toMatch(/^<[REDACT]+>$/);
      expect(clean.length).toBe(Buffer.from(form).length + 2);
    }
  });

  test("loses a secret that begins with another one as a whole", () => {
    expect(new Redactor(["abcdefgh", "abcdefgh-rest"]).text("<abcdefgh-rest>")).toBe(
      "<REDACTEDREDAC>",
    );
  });

  test("loses what a pattern of the caller finds, each time", () => {
    expect(new Redactor([/user-\d+/]).text("user-1 user-22")).toBe("REDACT REDACTE");
  });

  test("has one stand-in for each id, of the same length and with its prefix", () => {
    const redactor = new Redactor();
    const first = "req_011CSabcdefghijkLMNOP";

    expect(redactor.name(first)).toBe("req_000000000000000000001");
    expect(redactor.name("8f3a2b1c-dead-beef")).toBe("000000000000000002");
    expect(redactor.name(first)).toBe("req_000000000000000000001");
    expect(redactor.text(`"${first}"`)).toBe('"req_000000000000000000001"');
    expect(redactor.text("org-abcdefghijklmnop1")).toBe("org-00000000000000003");
    expect(redactor.name("x")).toBe("4");
  });

  test("keeps its length in bytes and every byte that is not part of a secret", () => {
    const count = runs(2_000, 200_000);
    const secret = "S3cr3t-S3cr3t";
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), (pieces) => {
        const joined = Buffer.concat(pieces.flatMap((piece) => [piece, Buffer.from(secret)]));
        const expected = Buffer.concat(
          pieces.flatMap((piece) => [piece, Buffer.from("REDACTEDREDAC")]),
        );
        expect(Buffer.from(new Redactor([secret]).bytes(joined)).equals(expected)).toBe(true);
      }),
      { numRuns: count },
    );
    console.log(`count: a redacted body differs in its secrets alone, ${count} bodies, 0 failures`);
  });
});

describe("heads", () => {
  test("are kept without keys, cookies and hops", () => {
    const keys = ["Authorization", "Bearer abcdefghijk", "X-Api-Key", "k", "api-key", "k"];
    const more = ["x-goog-api-key", "k", "Cookie", "a=b", "Set-Cookie", "a=b"];
    const hops = ["Host", "localhost:1", "Connection", "close"];
    const kept = ["Content-Type", "application/json", "X-Two", "1", "x-two", "2"];
    const headers = pairHeaders([...keys, ...more, ...hops, ...kept]);

    expect(redactHeaders(new Redactor(), headers)).toEqual({
      "content-type": ["application/json"],
      "x-two": ["1", "2"],
    });
    expect(withoutHops(headers).map(([name]) => name)).not.toContain("Connection");
  });

  test("have stand-ins for ids, and true numbers of limits", () => {
    const headers: HeaderList = [
      ["request-id", "req_abc123"],
      ["CF-Ray", "8f0a1b2c3d"],
      ["openai-organization", "acme-inc"],
      ["x-ratelimit-limit-project-tokens", "150000"],
    ];

    expect(redactHeaders(new Redactor(), headers)).toEqual({
      "request-id": ["req_000001"],
      "cf-ray": ["0000000002"],
      "openai-organization": ["acme-003"],
      "x-ratelimit-limit-project-tokens": ["150000"],
    });
  });

  test("teach what is secret in a body", () => {
    const redactor = new Redactor();

    learnSecrets(
      redactor,
      [
        ["authorization", "Bearer my own key 1"],
        ["x-api-key", "plain-old-key"],
        ["cookie", "session=cookie-one; other=cookie-two"],
        ["set-cookie", "cf=cookie-three; HttpOnly; SameSite=Lax"],
        ["x-request-id", "request-77"],
      ],
      "/v1?alt=sse&key=query-key&x=visible-word",
    );

    expect(
      redactor.text("plain-old-key cookie-one cookie-two cookie-three query-key request-77"),
    ).toBe("REDACTEDREDAC REDACTEDRE REDACTEDRE REDACTEDREDA REDACTEDR request-01");
    expect(redactor.text("HttpOnly SameSite visible-word")).toBe("HttpOnly SameSite visible-word");
  });

  test.each([
    ["/v1/models/x:stream?alt=sse&key=AIzaSecret", "/v1/models/x:stream?alt=sse"],
    ["/v1?key=secret", "/v1"],
    ["/v1?api-key=a&api_key=b&access_token=c&token=d&q=1", "/v1?q=1"],
    ["/v1/chat", "/v1/chat"],
    ["/v1?monkey=1", "/v1?monkey=1"],
  ])("keep of the path %s only %s", (path, kept) => {
    expect(redactPath(new Redactor(), path)).toBe(kept);
  });
});
