import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { amzDate, sha256, signAws } from "./sigv4.ts";
import type { AwsCredentials, AwsRequest } from "./sigv4.ts";

interface Case {
  readonly name: string;
  readonly region: string;
  readonly service: string;
  readonly timestamp: string;
  readonly normalize: boolean;
  readonly signBody: boolean;
  /** The session token is added after the signature, so it is not signed. */
  readonly omitSessionToken?: boolean;
  readonly credentials: AwsCredentials;
  readonly request: string;
  readonly canonicalRequest: string;
  readonly stringToSign: string;
  readonly signature: string;
}

const file = new URL("../fixtures/sigv4/vectors.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: readonly Case[] };

/** The request of a case, which is a text as HTTP/1.1 has it. */
function requestOf(given: Case): AwsRequest {
  const [head = "", body = ""] = given.request.split("\n\n");
  const [first = "", ...lines] = head.replaceAll(/\n[ \t]+/g, " ").split("\n");
  const [, method = "", target = ""] = /^(\S+) (.*) HTTP\/1\.1$/.exec(first) ?? [];
  const [path = "", query] = target.split("?");
  const headers = lines
    .filter((line) => line !== "")
    .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)] as const);
  const { sessionToken } = given.credentials;
  const signed = sessionToken !== undefined && given.omitSessionToken !== true;
  return {
    method,
    path,
    query,
    body,
    headers: [
      ...headers,
      ["x-amz-date", amzDate(Date.parse(given.timestamp))],
      ...(signed ? ([["x-amz-security-token", sessionToken]] as const) : []),
      ...(given.signBody ? ([["x-amz-content-sha256", sha256(body)]] as const) : []),
    ],
  };
}

describe("AWS's test suite of Signature Version 4", () => {
  test("has 38 cases here", () => {
    expect(cases).toHaveLength(38);
  });

  test.each(cases)("$name is signed as AWS signs it", (given) => {
    const { region, service, normalize, credentials } = given;
    const scope = { region, service, normalize, now: Date.parse(given.timestamp) };

    const signed = signAws(requestOf(given), scope, credentials);

    expect(signed.canonicalRequest).toBe(given.canonicalRequest);
    expect(signed.stringToSign).toBe(given.stringToSign);
    expect(signed.signature).toBe(given.signature);
    const date = given.timestamp.slice(0, 10).replaceAll("-", "");
    expect(signed.authorization).toContain(
      `Credential=${credentials.accessKeyId}/${date}/${region}/${service}/aws4_request, `,
    );
    expect(signed.authorization.endsWith(`Signature=${given.signature}`)).toBe(true);
  });
});

test("a path is encoded a second time, so that a model's colon is signed as AWS reads it", () => {
  const path = "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream";
  const scope = { region: "us-east-1", service: "bedrock", now: 0 };
  const keys = { accessKeyId: "AKID", secretAccessKey: "secret" };

  const { canonicalRequest } = signAws(
    { method: "POST", path, headers: [], body: "" },
    scope,
    keys,
  );

  expect(canonicalRequest.split("\n")[1]).toBe(
    "/model/anthropic.claude-sonnet-4-5-20250929-v1%253A0/converse-stream",
  );
});
