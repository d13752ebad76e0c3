import { checkOptions, expects, refusal } from "@millrace/core/checks";
import type { Door, OptionCheck } from "@millrace/core/checks";
import type { RetryPolicy } from "@millrace/core/model";
import { toolNameCheck, toolsCheck } from "./check-tool.ts";
import type { Hooks } from "./hooks.ts";
import type { Limits } from "./limits.ts";
import { checkRules } from "./policy.ts";
import type { AgentSettings, ContextSettings } from "./settings.ts";
import { stallSettings } from "./stall.ts";

const { above0, anything, call, either, having, list, optional, record, text, whole, oneOf } =
  expects;

/** Names of settings in other libraries. */
const hints = {
  system: "write it as instructions",
  prompt: "pass the prompt to agent.run or session.send; what always holds is instructions",
  systemPrompt: "write it as instructions",
  messages: "earlier items are the transcript of agent.open; a prompt goes to agent.run",
  maxSteps: "write limits: { turns: … }",
  maxTurns: "write limits: { turns: … }",
  stopWhen: "write limits: { turns: … }",
  temperature: "pass it to the model: settings: { temperature: … }",
  maxTokens: "pass it to the model: settings: { maxTokens: … }; limits: { tokens: … } bounds a run",
  maxOutputTokens: "pass it to the model: settings: { maxTokens: … }",
  topP: "pass it to the model: settings: { topP: … }",
  seed: "pass it to the model: settings: { seed: … }",
  toolChoice: "pass it to the model: settings: { toolChoice: … }",
  effort: "pass it to the model: settings: { effort: … }",
  thinking: "pass it to the model: settings: { thinking: … }",
  settings: "pass them to the model, such as openai(…, { settings: { … } })",
  modelSettings: "pass them to the model, such as openai(…, { settings: { … } })",
  providerOptions: "pass the vendor's own fields to the model, in its settings",
};

const model: OptionCheck = having(
  ["stream"],
  'pass a model, such as openai("gpt-5") of @millrace/providers/openai',
);

/** The observers of an agent or of a run. */
export const observersCheck: OptionCheck = {
  accepts: (value) => Array.isArray(value) && value.every((each) => typeof each === "function"),
  fix: "use a list of functions, such as [narrateTo(process.stdout)]",
};

/** The settings of both sorts of agents. */
type AnySettings = Omit<AgentSettings<[]>, "respond"> & { readonly respond: unknown };

/** Throws `invalid_definition` for settings that can't work, with what to write instead. */
export function checkSettings(settings: unknown, from: Door["from"]): void {
  const door: Door = { name: "defineAgent", from, hints };
  const custom = (settings as Partial<AnySettings> | undefined)?.respond !== undefined;
  checkOptions<AnySettings>(door, settings, {
    name: optional(text("use a name")),
    model: custom ? anything : model,
    respond: optional(call("pass a function of the run")),
    instructions: optional(
      either(
        { accepts: (value) => typeof value === "string", fix: "" },
        call(),
        "use a text or a function",
      ),
    ),
    notes: optional(call("pass a function that returns a text")),
    tools: optional(toolsCheck),
    policy: optional(list('use a list such as [{ tool: "shell", policy: "ask" }]')),
    limits: optional(record("use an object such as { turns: 20 }")),
    observers: optional(observersCheck),
    hooks: optional(record("use an object with beforeReply or beforeTool")),
    context: optional(record("use an object such as { window: 128_000 }")),
    retry: optional(record("use an object with attempts, baseMs and capMs")),
    stall: optional(
      either(
        record(),
        { accepts: (value) => value === false, fix: "" },
        "use an object such as { giveUpAfterMs: 60_000 }, or false",
      ),
    ),
    price: optional(call("pass a function of the usage that returns US dollars")),
    allLabels: optional(oneOf("ask", "allow")),
    approvalTimeoutMs: optional(above0("a number of milliseconds")),
    parallel: optional(whole(1)),
    trace: optional(call()),
    warnings: optional(expects.flag),
  });
  checkNested(door, settings as AgentSettings<[]>);
}

/** Throws `invalid_definition` for options of `agent.asTool` that can't be used. */
export function checkAsTool(options: unknown, from: Door["from"]): void {
  checkOptions<{ readonly name: string; readonly description: string }>(
    { name: "agent.asTool", from },
    options,
    {
      name: toolNameCheck,
      description: text("describe in a text when the agent is to be called"),
    },
  );
}

function checkNested(door: Door, settings: AgentSettings<[]>): void {
  const { limits, hooks, context, retry, policy = [], stall } = settings;
  if (limits !== undefined) checkLimits(door, limits);
  if (hooks !== undefined) {
    const checks = { beforeReply: optional(call()), beforeTool: optional(call()) };
    checkOptions<Hooks>({ ...door, inside: "hooks" }, hooks, checks);
  }
  if (context !== undefined) {
    checkOptions<ContextSettings>({ ...door, inside: "context" }, context, {
      window: above0("the size of the model's context in tokens, a number"),
      compactAbove: optional({
        accepts: (value) => typeof value === "number" && value > 0 && value <= 1,
        fix: "use a part of the window, such as 0.8",
      }),
      keep: optional(whole(0)),
      instructions: optional(text()),
      model: optional(model),
      compaction: optional(oneOf("auto", "own")),
    });
  }
  if (retry !== undefined) {
    checkOptions<RetryPolicy>({ ...door, inside: "retry" }, retry, {
      attempts: whole(1),
      baseMs: whole(0),
      capMs: whole(0),
    });
  }
  atDoor(door, () => checkRules(policy));
  atDoor(door, () => stallSettings(stall));
}

/** Throws `invalid_definition` for limits of an agent or of a run that can't be kept. */
export function checkLimits(door: Door, limits: unknown): void {
  checkOptions<Limits>({ ...door, inside: "limits" }, limits, {
    // 0 is what may be left of a budget: the run ends before its first request.
    turns: optional(whole(0)),
    seconds: optional(expects.from0("a number of seconds")),
    tokens: optional(expects.from0("a number of tokens")),
    cost: optional(expects.from0("an amount in US dollars")),
    repeats: optional(whole(0)),
    lost: optional(whole(1)),
  });
}

/** Runs a check that has words of its own, and throws its error as one of this door. */
function atDoor(door: Door, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw refusal(door, error instanceof Error ? error.message : String(error));
  }
}
