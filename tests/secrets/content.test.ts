import { memorySessionStore } from "@millrace/core/memory";
import { registerSecret } from "@millrace/core/secrets";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { Fact, RunEvent } from "@millrace/core";
import type { SecretNoticed } from "@millrace/core/reading";
import { defineAgent, defineTool, jsonLines, narrateTo } from "@millrace/agent";
import { expect, it } from "vitest";
import { z } from "zod";
import { runs } from "../kit/runs.ts";
import { encodings, leaked, secretsOf } from "./kit.ts";

const total = runs(2_000, 50_000, 100);
const perRound = 250;

interface Observed {
  readonly facts: readonly Fact[];
  readonly notices: readonly SecretNoticed[];
  /** The lines of observers that show notices. */
  readonly shown: string;
}

/**
 * A session in which these words are everywhere that content is: in the prompt, in the model's text, in
 * the input of a question that a person allows, in what a tool streams and in its progress.
 */
async function converse(words: string): Promise<Observed> {
  const notices: SecretNoticed[] = [];
  let shown = "";
  const keepNotices = (text: string): boolean => {
    if (text.includes("secret_noticed") || text.includes("► notice")) shown += text;
    return true;
  };
  const copy = defineTool({
    name: "copy",
    input: z.object({ words: z.string() }),
    approve: "ask",
    run: (input, { append, progress }) => {
      progress({ message: "at work" });
      for (let at = 0; at < input.words.length; at += 7) append(input.words.slice(at, at + 7));
    },
  });
  const model = scriptedModel([[say(words), call("copy", { words })], [say("done")]], {
    chunk: [3, 7, 5],
  });
  const agent = defineAgent({
    model,
    tools: [copy],
    observers: [
      (event: RunEvent) => void (event.type === "secret_noticed" && notices.push(event)),
      jsonLines({ write: keepNotices }),
      narrateTo({ write: keepNotices }),
    ],
  });
  const store = memorySessionStore();
  const session = await agent.open({ id: "s", store });
  const run = session.send(words);
  const question = await run.until("approval_requested");
  session.allow(question.approvalId);
  const result = await run.result;
  await session.close();
  expect(result.outcome).toBe("completed");
  const record = await store.find("s");
  const facts = record === undefined ? [] : await store.read(record.uid);
  return { facts, notices, shown };
}

/** The contents of the facts that hold the words, in order. */
function contentsOf(facts: readonly Fact[]): readonly unknown[] {
  return facts.flatMap((fact): readonly unknown[] => {
    if (fact.type === "approval_requested" || fact.type === "tool_execution_started")
      return [fact.input["words"]];
    if (fact.type === "input_accepted")
      return "parts" in fact.input ? fact.input.parts.map(textOf) : [];
    return fact.type === "item_committed" ? fact.item.parts.map(textOf) : [];
  });
}

function textOf(part: { readonly kind: string }): unknown {
  if ("text" in part) return part.text;
  return "input" in part ? (part.input as { readonly words: string }).words : undefined;
}

it(
  "a secret in content is left as it is, and each raises its notice for each author",
  { timeout: 600_000 },
  async () => {
    let checked = 0;
    for (let seed = 101; checked < total; seed += 1) {
      const secrets = secretsOf(seed, Math.min(perRound, total - checked));
      const words = secrets
        .map((secret, at) => encodings[at % encodings.length]?.(secret, at))
        .join(" ");
      const releases = secrets.map((value, at) =>
        registerSecret({ name: `secret ${seed}-${at}`, value }),
      );
      const { facts, notices, shown } = await converse(words);
      for (const release of releases) release();

      // The prompt twice, as input and as item; the text and the call; question, intent and result.
      const holding = contentsOf(facts).filter((content) => content !== "done");
      expect(holding).toEqual(Array.from({ length: 7 }, () => words));
      for (const author of ["user", "model", "tool"]) {
        const named = notices.filter((notice) => notice.author === author);
        const names = new Set(named.map(({ secret }) => secret));
        expect(names, author).toEqual(new Set(secrets.map((_, at) => `secret ${seed}-${at}`)));
      }
      expect(leaked(JSON.stringify(notices) + shown, secrets)).toEqual([]);
      expect(shown).toContain(`secret ${seed}-0`);
      checked += secrets.length;
    }
    console.log(`count: secrets ${checked} in content, each with a notice for 3 authors`);
  },
);

it("a secret that a dropped attempt streamed, or that a progress held, raises its notice", async () => {
  const value = "correct-horse-battery";
  const release = registerSecret({ name: "passphrase", value });
  const notices: SecretNoticed[] = [];
  const show = defineTool({
    name: "show",
    input: z.object({}),
    run: (_, { progress }) => progress({ message: `at ${value}` }),
  });
  const lost = {
    end: { stop: "failed", cause: { code: "x", message: "x", retryable: true } },
  } as const;
  const model = scriptedModel([[say(`a ${value}`), lost], [call("show", {})], [say("done")]]);
  const agent = defineAgent({
    model,
    tools: [show],
    retry: { attempts: 2, baseMs: 1, capMs: 1 },
    observers: [(event) => void (event.type === "secret_noticed" && notices.push(event))],
  });
  const session = await agent.open();
  await session.send("go").result;
  await session.close();
  release();

  expect(notices.map(({ author, secret }) => `${author}: ${secret}`)).toEqual([
    "model: passphrase",
    "tool: passphrase",
  ]);
});
