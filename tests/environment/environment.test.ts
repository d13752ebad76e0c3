import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { memorySessionStore } from "@millrace/core/memory";
import { scriptedModel } from "@millrace/core/testing";
import { anthropic } from "@millrace/providers/anthropic";
import { azure } from "@millrace/providers/azure";
import { bedrock } from "@millrace/providers/bedrock";
import { metadataToken, vertex } from "@millrace/providers/vertex";
import { createMillrace } from "@millrace/server";
import { postgresBlobs, postgresStore } from "@millrace/stores/postgres";
import { redisCounters, redisLog } from "@millrace/stores/redis";
import { temporalDriver } from "@millrace/temporal/client";
import { afterEach, describe, expect, it, vi } from "vitest";

afterEach(() => void vi.unstubAllEnvs());

/** Values of a variable that the option it stands for would refuse, and what the error says. */
interface Setting {
  readonly bad: readonly string[];
  /** Starts or asks what reads the variable. Throws or rejects if the value is refused. */
  readonly uses: Readonly<Record<string, () => unknown>>;
  readonly fix: RegExp;
  /** Other variables that have to be set. */
  readonly beside?: Readonly<Record<string, string>>;
}

const agent = defineAgent({ model: scriptedModel([]) });
const authenticate = (): undefined => undefined;

/** Rejects with the cause with which a request ends. Fails the test if the request is sent. */
async function ask(
  create: (options: { fetch: typeof fetch; retry: false }) => Model,
): Promise<void> {
  const send = async (input: unknown): Promise<Response> => {
    throw new TypeError(`a request was sent: ${String(input)}`);
  };
  const { cause } = await create({ fetch: send, retry: false }).stream({ transcript: [] }).result;
  throw new Error(cause?.message);
}

const askVertex = (): Promise<void> => ask((own) => vertex("gemini-3-pro", { token: "t", ...own }));
const askBedrock = (): Promise<void> => ask((own) => bedrock("anthropic.claude", own));
const aws = {
  AWS_BEARER_TOKEN_BEDROCK: "",
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "id",
  AWS_SECRET_ACCESS_KEY: "key",
};

const settings: Readonly<Record<string, Setting>> = {
  MILLRACE_SECRET: {
    bad: ["", "x", "thirty-one-characters-are-short"],
    uses: { createMillrace: () => createMillrace({ agent, authenticate }) },
    fix: /MILLRACE_SECRET is a string: use a text of 32 characters or more, such as one of `openssl rand -hex 32`/,
  },
  MILLRACE_TOKEN_FILE: {
    bad: [""],
    uses: { createMillrace: () => createMillrace({ agent }) },
    fix: /MILLRACE_TOKEN_FILE is "": use the path of a file/,
  },
  DATABASE_URL: {
    bad: ["", "localhost/app", "mysql://localhost/app"],
    uses: { postgresStore: () => postgresStore(), postgresBlobs: () => postgresBlobs() },
    fix: /DATABASE_URL is ".*": begin it with postgres:\/\//,
  },
  REDIS_URL: {
    bad: ["", "localhost:6379", "http://localhost:6379"],
    uses: { redisLog: () => redisLog(), redisCounters: () => redisCounters() },
    fix: /REDIS_URL is ".*": begin it with redis:\/\/ or rediss:\/\//,
  },
  TEMPORAL_ADDRESS: {
    bad: [""],
    uses: { temporalDriver: () => temporalDriver({ store: memorySessionStore() }) },
    fix: /TEMPORAL_ADDRESS is "": use a host and a port/,
  },
  GOOGLE_CLOUD_PROJECT: {
    bad: ["a/../b", "a?b", " "],
    uses: { vertex: askVertex },
    fix: /GOOGLE_CLOUD_PROJECT is ".*": use the id of the project/,
  },
  GOOGLE_CLOUD_LOCATION: {
    bad: ["evil.example/", "evil.example#", "us west"],
    uses: { vertex: askVertex },
    fix: /GOOGLE_CLOUD_LOCATION is ".*": use a location such as/,
    beside: { GOOGLE_CLOUD_PROJECT: "acme" },
  },
  GCE_METADATA_HOST: {
    bad: ["evil.example/path", "a b", "user@evil.example", "http://evil.example"],
    uses: { metadataToken: () => metadataToken()() },
    fix: /GCE_METADATA_HOST is ".*": use a host, or a host and a port/,
  },
  AZURE_OPENAI_ENDPOINT: {
    bad: ["acme.example", "ftp://acme.example", "http://acme.example"],
    uses: { azure: () => ask((own) => azure("gpt-5", { apiKey: "k", ...own })) },
    fix: /https:\/\//,
  },
  ANTHROPIC_BASE_URL: {
    bad: ["acme.example", "ftp://acme.example", "http://acme.example"],
    uses: { anthropic: () => ask((own) => anthropic("claude", { apiKey: "k", ...own })) },
    fix: /https:\/\//,
  },
  AWS_ENDPOINT_URL: {
    bad: ["acme.example", "http://acme.example"],
    uses: { bedrock: askBedrock },
    fix: /https:\/\//,
    beside: aws,
  },
  AWS_ENDPOINT_URL_BEDROCK_RUNTIME: {
    bad: ["acme.example", "http://acme.example"],
    uses: { bedrock: askBedrock },
    fix: /https:\/\//,
    beside: aws,
  },
  AWS_REGION: {
    bad: ["evil.example/", "us-east-1.evil.example"],
    uses: { bedrock: askBedrock },
    fix: /is no region: use one such as us-east-1/,
    beside: aws,
  },
  AWS_DEFAULT_REGION: {
    bad: ["evil.example/", "us-east-1.evil.example"],
    uses: { bedrock: askBedrock },
    fix: /is no region: use one such as us-east-1/,
    beside: { ...aws, AWS_REGION: "" },
  },
  AWS_ACCESS_KEY_ID: { bad: ["id\n"], uses: { bedrock: askBedrock }, fix: /trim it/, beside: aws },
  AWS_SECRET_ACCESS_KEY: {
    bad: ["key\n"],
    uses: { bedrock: askBedrock },
    fix: /trim it/,
    beside: aws,
  },
  AWS_SESSION_TOKEN: { bad: ["t\n"], uses: { bedrock: askBedrock }, fix: /trim it/, beside: aws },
  AWS_BEARER_TOKEN_BEDROCK: {
    bad: ["key\r\nx: y"],
    uses: { bedrock: askBedrock },
    fix: /line break/,
    beside: aws,
  },
  ANTHROPIC_API_KEY: {
    bad: ["", "key\r\nx: y"],
    uses: { anthropic: () => ask((own) => anthropic("claude", own)) },
    fix: /line break|set ANTHROPIC_API_KEY/,
  },
  https_proxy: {
    bad: ["socks5://proxy.corp:1080"],
    uses: {
      anthropic: () => ask(({ retry }) => anthropic("claude", { apiKey: "k", retry })),
    },
    fix: /begin its address with http:\/\/ or https:\/\//,
  },
};

/** Variables that are read by the same function as one above. */
const sameFunction: Readonly<Record<string, RegExp>> = {
  ANTHROPIC_API_KEY: /_API_KEY$|^LM_API_TOKEN$/, // keyAuth
  ANTHROPIC_BASE_URL: /_BASE_URL$/, // vendorEndpoint
  https_proxy: /^(?:https?_proxy|HTTPS?_PROXY)$/, // proxyFor
};

/** Variables of which any text is right: lists of hosts and folders, a sign of CGI, and our own mark of a process. */
const free = ["NO_PROXY", "no_proxy", "PATH", "REQUEST_METHOD", "MILLRACE_EXECUTION"];

it("every variable that the packages read has a row here", () => {
  const packages = join(import.meta.dirname, "../../packages");
  const reads = /(?:env|nvironment)[[(]"(\w+)"|ariable(?::| =) "([A-Z_]+)"/g;
  const found = readdirSync(packages, { recursive: true, encoding: "utf8" })
    .filter((file) => /\/src\/.*\.ts$/.test(file) && !/test|providers\/src\/serve/.test(file))
    .flatMap((file) => [...readFileSync(join(packages, file), "utf8").matchAll(reads)])
    .map(([, read, named]) => read ?? named ?? "");
  const covered = (name: string): boolean =>
    Object.hasOwn(settings, name) ||
    free.includes(name) ||
    Object.values(sameFunction).some((names) => names.test(name));

  expect(found).toEqual(expect.arrayContaining(["DATABASE_URL", "OPENAI_API_KEY", "https_proxy"]));
  expect(found.filter((name) => !covered(name))).toEqual([]);
});

describe.each(Object.entries(settings))("%s", (name, { bad, uses, fix, beside = {} }) => {
  const cases = bad.flatMap((value) => Object.keys(uses).map((use) => ({ value, use })));

  it.each(cases)("is refused by $use as its option would be: $value", async ({ value, use }) => {
    for (const [other, set] of Object.entries(beside)) vi.stubEnv(other, set);
    vi.stubEnv(name, value);

    await expect(async () => await uses[use]?.()).rejects.toThrow(fix);
  });
});
