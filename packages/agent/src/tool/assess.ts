import type {
  ItemId,
  Json,
  JsonObject,
  ResultStatus,
  RunId,
  SessionUid,
  ToolCallPart,
} from "@millrace/core";
import type { PolicyRule } from "../definition/settings.ts";
import type { Hooks } from "../definition/hooks.ts";
import { describeIssues } from "@millrace/core/schema";
import type { Schema } from "@millrace/core/schema";
import { frozen, twinOf } from "./assess-copy.ts";
import { approvalHash } from "./hash.ts";
import type { ParsedForm } from "./hash.ts";
import { capText } from "./output-tail.ts";
import { messageOf } from "./output.ts";
import { parsedForm } from "./parsed-json.ts";
import { isPolicy, ruleFor } from "../definition/policy.ts";
import type { AnyTool, Policy, SessionInfo } from "../definition/tool.ts";
import type { ArgumentFault } from "@millrace/core/writing";

/** What a call is assessed against. */
export interface AssessContext {
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly rules: readonly PolicyRule[];
  readonly beforeTool?: Hooks["beforeTool"];
  readonly session: SessionInfo;
  readonly uid: SessionUid;
  readonly runId: RunId;
  /** The reserved id of the call's answer. */
  readonly itemId: ItemId;
}

/** Whether a call may run. The hash is of exactly what would run. */
export type Assessment =
  | {
      readonly decision: "allow" | "ask";
      readonly hash: string;
      /** What the tool would get, where its schema changes the input. */
      readonly parsed?: Json;
    }
  | { readonly decision: "refuse"; readonly status: ResultStatus; readonly message: string };

/** Whether a call may run, and what would run then. */
export interface Assessed {
  readonly verdict: Assessment;
  /** Left out for a call that is refused. */
  readonly tool?: AnyTool;
  /** What the schema made of the arguments. Policies and hooks get copies, never this object. */
  readonly input?: unknown;
}

/** Longer lists of issues are cut: a model that makes more mistakes can mend the first ones. */
const issueBytes = 8 * 1024;
const maxNames = 100;

/**
 * Checks a call before it runs: is there such a tool, are the arguments sound, may it run? Tools are
 * found by their exact name. The strictest of the rules, the tool's own policy and the hook decides;
 * one that throws, or answers none of the three policies, denies. Nothing is ever repaired. Never
 * throws. A policy or hook that never settles is waited for: the caller has the run's limits for that.
 */
export async function assessCall(part: ToolCallPart, context: AssessContext): Promise<Assessed> {
  try {
    return await assess(part, context);
  } catch (error) {
    // Whatever is not foreseen below stops the call: a guard that breaks is closed.
    return { verdict: refusal("denied", `not run: it could not be assessed: ${messageOf(error)}`) };
  }
}

/** What would run for a call, and its hash, without asking any policy. */
export type Prepared =
  | {
      readonly tool: AnyTool;
      readonly input: unknown;
      readonly parsed: ParsedForm;
      readonly hash: string;
    }
  | { readonly refusal: Extract<Assessment, { readonly decision: "refuse" }> };

/**
 * Finds the tool of a call and checks its arguments, as assessing does first. What runs a call prepares
 * it again and compares the hash, so that it needs nothing of the process that assessed it. The process
 * that did hands over what the schema made then: a schema that makes another value each time, such as a
 * default of the current time, would never run otherwise. Never throws.
 */
export async function prepareCall(
  part: ToolCallPart,
  context: AssessContext,
  assessed?: AssessedInput,
): Promise<Prepared> {
  try {
    return await prepare(part, context, assessed);
  } catch (error) {
    return { refusal: refusal("denied", `not run: it could not be assessed: ${messageOf(error)}`) };
  }
}

/** What a schema made of the arguments when the call was assessed. */
export interface AssessedInput {
  readonly value: unknown;
}

async function prepare(
  part: ToolCallPart,
  context: AssessContext,
  assessed?: AssessedInput,
): Promise<Prepared> {
  const tool = context.tools.get(part.tool);
  if (tool === undefined) {
    return { refusal: refusal("denied", unknownTool(part.tool, context.tools)) };
  }
  if (part.input === undefined) return { refusal: refusal("failed", describeFault(part.fault)) };
  const checked = assessed ?? (await check(tool.input, part.input));
  if ("problem" in checked) return { refusal: refusal("failed", checked.problem) };
  // A client gets what the model sent.
  const parsed = tool.run === "client" ? "same" : parsedForm(part.input, checked.value);
  const hash = await approvalHash({
    uid: context.uid,
    runId: context.runId,
    callId: part.callId,
    itemId: context.itemId,
    tool: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    input: part.input,
    parsed,
  });
  return { tool, input: checked.value, parsed, hash };
}

async function assess(part: ToolCallPart, context: AssessContext): Promise<Assessed> {
  // The hash is made before any policy is asked: its answer is about what was there then.
  const prepared = await prepare(part, context);
  if ("refusal" in prepared) return { verdict: prepared.refusal };
  const { tool, input, parsed, hash } = prepared;
  let decision: "allow" | "ask" = "allow";
  for (const { name, decide } of decidersOf(prepared, part, context)) {
    const { policy, problem } = await policyOf(decide);
    if (policy === "deny") {
      return { verdict: refusal("denied", `not run: ${problem ?? "denied"} by ${name}`) };
    }
    if (policy === "ask") decision = "ask";
  }
  if (decision === "ask" && parsed === "unshown") return { verdict: refusal("denied", unshown) };
  const changed = typeof parsed === "string" ? {} : parsed;
  return { verdict: { decision, hash, ...changed }, tool, input };
}

/** A person can't be asked about what nobody can show. */
const unshown =
  "not run: a person has to allow it, and what the tool's schema made of the arguments can't be shown. Let the schema make JSON, or give its class a toJSON";

interface Decider {
  readonly name: string;
  readonly decide: () => unknown;
}

/** The deciders of a call, in this order. The first that denies ends it; later ones are not called. */
function decidersOf(
  { tool, input: value, parsed }: Extract<Prepared, { readonly hash: string }>,
  part: ToolCallPart,
  { rules, beforeTool, session }: AssessContext,
): readonly Decider[] {
  const { approve } = tool;
  const input = part.input ?? {}; // a call without sound input is refused before any policy is asked
  return [
    { name: "a rule of the agent", decide: () => ruleFor(rules, tool.name) },
    {
      name: "the tool's own policy",
      decide: async () =>
        typeof approve === "function"
          ? // The schema's value is what this tool's policy takes, as a definition's types guarantee.
            approve((await twin(tool, input, value)) as never, session)
          : (approve ?? "allow"),
    },
    {
      name: "a hook of the agent",
      decide: () => {
        const changed = typeof parsed === "string" ? {} : { parsed: frozen(parsed.parsed) };
        const call = { callId: part.callId, tool: tool.name, input: frozen(input), ...changed };
        return beforeTool === undefined ? "allow" : beforeTool(call, session);
      },
    },
  ];
}

/** The policy that a decider gives. No answer, an invalid one and an exception count as `deny`. */
async function policyOf(
  decide: Decider["decide"],
): Promise<{ readonly policy: Policy; readonly problem?: string }> {
  try {
    const policy = await decide();
    if (isPolicy(policy)) return { policy };
    return { policy: "deny", problem: "an answer that is no policy was given" };
  } catch (error) {
    return { policy: "deny", problem: `an error (${messageOf(error)}) was thrown` };
  }
}

/**
 * The checked input once more, for the policy to look at: what it changes there does not reach the
 * tool. A value of classes can't be copied, so the schema makes a second one of the same arguments.
 */
async function twin(tool: AnyTool, input: JsonObject, value: unknown): Promise<unknown> {
  const copy = twinOf(value);
  if (copy !== undefined) return copy.value;
  const again = await check(tool.input, input);
  if ("problem" in again) throw new Error(again.problem);
  return again.value;
}

type CheckedInput = AssessedInput | { readonly problem: string };

async function check(schema: Schema, input: JsonObject): Promise<CheckedInput> {
  try {
    // A copy: a schema may change what it checks, and the call must stay what the model sent.
    const checked: unknown = await schema["~standard"].validate(structuredClone(input));
    if (!isAnswer(checked)) throw new TypeError("it answered neither a value nor issues");
    if (checked.issues === undefined) return { value: checked.value };
    const issues = describeIssues(checked.issues as Parameters<typeof describeIssues>[0]);
    return { problem: `not run: the arguments don't fit the tool's schema:\n${capped(issues)}` };
  } catch (error) {
    return {
      problem: `not run: the tool's schema failed to check the arguments: ${messageOf(error)}`,
    };
  }
}

/** True for a result of Standard Schema. Checked, because schemas are foreign code. */
function isAnswer(
  value: unknown,
): value is { readonly value?: unknown; readonly issues?: unknown } {
  if (typeof value !== "object" || value === null) return false;
  return "value" in value || ("issues" in value && Array.isArray(value.issues));
}

function unknownTool(name: string, tools: AssessContext["tools"]): string {
  const names = [...tools.keys()];
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : "";
  const offer =
    names.length === 0
      ? "there are no tools"
      : `the tools are: ${names.slice(0, maxNames).join(", ")}${more}`;
  return `not run: there is no tool ${shown(name)}; ${offer}`;
}

/** A name from a model, with all that can't be seen or looks like something else spelled out. */
function shown(name: string): string {
  const spelled = Array.from(name.slice(0, 100), (letter) =>
    /^[ -~]$/.test(letter) ? letter : `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return `"${spelled.join("")}"`;
}

function capped(text: string): string {
  return capText(text.toWellFormed(), issueBytes);
}

function refusal(
  status: "failed" | "denied",
  message: string,
): Extract<Assessment, { readonly decision: "refuse" }> {
  return { decision: "refuse", status, message };
}

/** What is wrong with the arguments, and how the model can mend it. */
const meanings: Readonly<Record<ArgumentFault["code"], string>> = {
  bad_json: "they are not JSON. Send one JSON object",
  truncated: "they end in the middle. Send the whole object, or ask for less at once",
  trailing_data: "something follows the object. Send one JSON object and nothing else",
  duplicate_key: "a key is there twice. Send each key once",
  forbidden_key: "a key is not allowed. Leave it out",
  too_deep: "they are nested too deeply. Send a flatter object",
  too_large: "they are too large. Send less at once",
  inexact_number: "a number can't be held exactly. Send it as a string",
  malformed_text: "a text has half a character. Send whole characters",
  not_json: "they are not JSON. Send one JSON object",
  not_an_object: "they are JSON, but no object. Send one JSON object",
  double_encoded: "they are a string with JSON in it. Send the object itself",
};

/** The answer to a call whose arguments can't be used. */
function describeFault({ code, at, key }: ArgumentFault): string {
  const place = at === undefined ? "" : ` (at character ${at})`;
  // Keys are the model's text: quoted, and not at any length.
  const name =
    key === undefined ? "" : ` (key ${JSON.stringify(key.slice(0, 100).toWellFormed())})`;
  return `not run: the arguments can't be used (${code}): ${meanings[code]}${name}${place}`;
}
