// With its key, a project asks its vendor: here a server of this machine that stands in for it.
import { createClient } from "@millrace/client";
import { startVendorServer } from "@millrace/providers/testing";
import { expect, test } from "vitest";
import { anthropicReply } from "../../apps/cli/src/testing/anthropic.ts";
import { chatCompletionsReply } from "../../apps/cli/src/testing/chat-completions.ts";
import type { Answers } from "../../apps/create-millrace/src/choices.ts";
import { knownKeys } from "./kit/api-key.ts";
import { projectOnSources } from "./kit/on-sources.ts";

interface Case {
  readonly vendor: Answers["vendor"];
  readonly env: (url: string) => Readonly<Record<string, string>>;
  readonly path: RegExp;
  /** The header that has the key. */
  readonly key: readonly [name: string, value: string];
  /** Left out: the vendor refuses the key, and the person is shown that. */
  readonly reply?: (text: string) => string;
}

const cases: readonly Case[] = [
  {
    vendor: "anthropic",
    env: (url) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url }),
    path: /^\/v1\/messages$/,
    key: ["x-api-key", "k"],
    reply: anthropicReply,
  },
  {
    vendor: "openai",
    env: (url) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: url }),
    path: /^\/responses$/,
    key: ["authorization", "Bearer k"],
  },
  {
    vendor: "gemini",
    env: (url) => ({ GEMINI_API_KEY: "k", GEMINI_BASE_URL: url }),
    path: /\/own-model:streamGenerateContent/,
    key: ["x-goog-api-key", "k"],
  },
  {
    vendor: "compatible",
    env: (url) => ({ MODEL_KEY: "k", MODEL_URL: url }),
    path: /^\/chat\/completions$/,
    key: ["authorization", "Bearer k"],
    reply: chatCompletionsReply,
  },
];

test.for(cases)(
  "a project for $vendor asks it, with the key and the model of .env",
  async (given) => {
    const { vendor, env, path, key, reply } = given;
    const refusal = { status: 401, body: '{"error":{"message":"no such key"}}' };
    await using server = await startVendorServer({
      replies: () => (reply === undefined ? refusal : { body: reply("Hello from the vendor.") }),
    });
    using project = projectOnSources({ template: "api", vendor, run: "local", "sign-in": "keys" });
    const [{ key: token, env: known }] = knownKeys(1);
    const own = { ...env(server.url), ...known, MODEL: "own-model", PORT: "0" };
    await using app = project.start("server.ts", own);
    using client = createClient({ url: await app.url(), token });

    const result = await client.session().send("Hello").result;

    const request = await server.received(1);
    expect(request.path).toMatch(path);
    expect(request.headers[key[0]]).toBe(key[1]);
    expect(`${request.path} ${JSON.stringify(request.json)}`).toContain("own-model");
    expect(JSON.stringify(request.json)).toContain("refund");
    if (reply !== undefined) expect(result).toMatchObject({ text: "Hello from the vendor." });
    else
      expect(result).toMatchObject({
        outcome: "failed",
        error: { message: expect.stringContaining("no such key") as string },
      });
  },
);

test("a project for a vendor plays the script while its key is missing, or empty in .env", async () => {
  using project = projectOnSources({
    template: "api",
    vendor: "anthropic",
    run: "local",
    "sign-in": "keys",
  });
  const [{ key: token, env }] = knownKeys(1);
  await using app = project.start("server.ts", { ...env, ANTHROPIC_API_KEY: "", PORT: "0" });
  using client = createClient({ url: await app.url(), token });
  expect(await client.session().send("Hello").text()).toContain("a script that plays the model");
});
