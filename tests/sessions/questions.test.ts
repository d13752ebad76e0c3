// Questions to people: what is rendered is what is hashed, stored and run.
import { defineAgent } from "@millrace/agent";
import type { Schema, Tool } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { showQuestion } from "@millrace/core/reading";
import { memorySessionStore } from "@millrace/core/memory";
import { parseJsonText } from "@millrace/core/wire"; // the engine's parser may confuse escaped keys
import type { Fact, Json, JsonObject, SessionUid, ViewApproval } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { approvalHash, canonicalJson } from "../../packages/agent/src/tool/hash.ts";
import { forgingInputs } from "../kit/forging-inputs.ts";
import { runs } from "../kit/runs.ts";

/** Calls of one reply, so that a run asks many questions. */
const perRun = 50;
const inputSchema = { type: "object" };

const piece = fc.oneof(
  fc.constantFrom(...forgingInputs.flatMap((input) => Object.keys(input))),
  fc.constantFrom(
    "\u001b[2J",
    "\r",
    "\u202e",
    "\u200b",
    "\u05d0",
    "  ",
    "►",
    "$date",
    '"',
    "\\",
    "\n",
  ),
  fc.string({ maxLength: 4 }),
  fc.string({ unit: "grapheme", maxLength: 4 }),
);
const text = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join("").toWellFormed());
const { json, object } = fc.letrec<{ json: Json; object: JsonObject }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    text,
    fc.constantFrom<Json>(null, true, 0, 5, 500, 1e21, 0.1),
    fc.maxSafeInteger(),
    fc.array(tie("json"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc
    .dictionary(text, tie("json"), { maxKeys: 3, noNullPrototype: true })
    .filter((record) => !["__proto__", "constructor"].some((key) => Object.hasOwn(record, key))),
}));
/** What a schema does: nothing, add a default, convert, drop a key, or make another value of it. */
const change = fc.constantFrom("nothing", "default", "convert", "drop", "other");
const generated = fc.record({ input: object, change, made: json });

type Generated = typeof generated extends fc.Arbitrary<infer One> ? One : never;

function parse({ input, change: how, made }: Generated): Json {
  const [first] = Object.keys(input);
  const { [first ?? ""]: _, ...rest } = input;
  switch (how) {
    case "default":
      return { limit: made, ...input };
    case "convert":
      return first === undefined ? input : { ...input, [first]: made };
    case "drop":
      return rest;
    case "other":
      return made;
    default:
      return input;
  }
}

/** A tool that asks, whose schema makes of each call what was generated for it. */
function askingTool(all: readonly Generated[], ran: Map<string, unknown>): Tool {
  const input: Schema<object, unknown> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => {
        const { at } = value as { readonly at: number };
        return { value: { at, value: parse(all[at] as Generated) } };
      },
      jsonSchema: { input: () => inputSchema, output: () => inputSchema },
    },
  };
  const tool: Tool<string, unknown> = {
    name: "act",
    description: undefined,
    input,
    inputSchema,
    output: undefined,
    effect: "effectful",
    sequence: "parallel",
    approve: "ask",
    limits: { repeats: 1_000_000 },
    run: (value, { callId }) => {
      ran.set(callId, structuredClone(value));
      return "done";
    },
  };
  return tool;
}

/** Undoes the escapes of the rendering, and leaves those of JSON itself. */
function unescaped(shown: string): string {
  return shown.replaceAll(/\\(?:u([0-9a-f]{4})|.)/g, (found, digits?: string) => {
    const code = Number.parseInt(digits ?? "0", 16);
    return code < 0x20 ? found : String.fromCharCode(code);
  });
}

async function checkQuestions(all: readonly Generated[]): Promise<void> {
  const ran = new Map<string, unknown>();
  const asked = new Map<string, ViewApproval>();
  const calls = all.map(({ input }, at) => call("act", { at, value: input }, { callId: `c${at}` }));
  const store = memorySessionStore();
  const agent = defineAgent({
    model: scriptedModel([calls, [say("Done.")]]),
    tools: [askingTool(all, ran)],
  });
  await using session = await agent.open({ id: "s", store });
  const ask = (approval: unknown): "allow" => {
    const question = approval as ViewApproval;
    asked.set(question.callId, question);
    return "allow";
  };
  expect(await session.send("go", { ask }).result).toMatchObject({ outcome: "completed" });
  const uid = (await store.find("s"))?.uid as SessionUid;
  const facts = await store.read(uid);
  const intents = facts.filter(
    (fact: Fact): fact is FactOf<"tool_execution_started"> =>
      fact.type === "tool_execution_started",
  );
  expect(intents).toHaveLength(all.length);

  for (const intent of intents) {
    const question = asked.get(intent.callId) as ViewApproval;
    const shown = showQuestion(question);
    const sent = unescaped(shown.input.text);
    const made = shown.parsed === undefined ? undefined : unescaped(shown.parsed.text);
    const input = parseJsonText(sent) as JsonObject;
    const parsed = made === undefined ? undefined : (parseJsonText(made) as Json);
    const { runId, callId, itemId } = intent;
    const subject = { uid, runId, callId, itemId, tool: shown.tool, description: undefined };
    const hash = await approvalHash({
      ...subject,
      inputSchema,
      input,
      parsed: parsed === undefined ? "same" : { parsed },
    });

    expect(sent).toBe(JSON.stringify(question.input));
    expect(made).toBe(JSON.stringify(question.parsed));
    expect(hash).toBe(question.hash);
    expect(intent.hash).toBe(question.hash);
    expect(canonicalJson(intent.input)).toBe(canonicalJson(input));
    const runsWith = parsed === undefined ? input : unmarked(parsed);
    expect(canonicalJson(ran.get(callId) as Json)).toBe(canonicalJson(runsWith));
  }
}

/** Undoes the form in which an object with one key that begins with `$` is shown. */
function unmarked(value: Json): Json {
  if (Array.isArray(value)) return value.map(unmarked);
  if (typeof value !== "object" || value === null) return value;
  const record = value as JsonObject;
  const inner = Object.keys(record).length === 1 ? (record["$object"] as JsonObject) : undefined;
  const fields = Object.entries(inner ?? record).map(([key, field]) => [key, unmarked(field)]);
  return Object.fromEntries(fields) as JsonObject;
}

it("P25: 10,000 questions: what is rendered, un-escaped, is what is hashed and what runs", async () => {
  const times = runs(10_000, 1_000_000) / perRun;
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(generated, { minLength: perRun, maxLength: perRun }),
      async (questions) => {
        await checkQuestions(questions);
        count += questions.length;
      },
    ),
    { numRuns: times, endOnFailure: true },
  );
  console.log(`count: ${count} questions, 0 that show something else than runs`);
}, 600_000);
