import { MillraceError } from "@millrace/core";
import { refusal } from "@millrace/core/checks";
import { defaultRetryPolicy } from "@millrace/core/model";
import type { RetryPolicy } from "@millrace/core/model";
import type { AnyTools } from "@millrace/core/reading";
import type { Blueprint } from "../definition/blueprint.ts";
import { defaultLimits } from "../definition/limits.ts";
import type { ToolSettings } from "../definition/loop-settings.ts";
import type { AgentSettings, CustomAgentSettings } from "../definition/settings.ts";
import type { Agent } from "./agent.ts";
import type { Observer } from "../definition/observer.ts";
import type { Schema } from "@millrace/core/schema";
import { createSession, sendPrompt } from "../session/create-session.ts";
import type { Content } from "../session/input.ts";
import { openHost } from "../session/open.ts";
import { refuseInWorkflow } from "../session/refuse-in-workflow.ts";
import type { Opening, OpenOptions } from "../session/open.ts";
import { removeStored } from "../session/remove.ts";
import type { RunOptions } from "../session/session.ts";
import { askedModel } from "./asked-model.ts";
import { agentAsTool } from "./sub-agent.ts";
import { checkAsTool, checkSettings } from "../definition/check-settings.ts";
import {
  checkContent,
  checkOpenOptions,
  checkRunOptions,
  runHints,
} from "../session/check-options.ts";
import { stallSettings } from "../definition/stall.ts";
import { readOutputDescription } from "../context/read-output.ts";
import type { AnyTool, Tool } from "../definition/tool.ts";

/**
 * Defines an agent from its settings. Opens nothing and starts nothing; `run` and `open` do. Throws
 * `invalid_definition` for settings that can't work, such as two tools with one name.
 */
export function defineAgent<const Tools extends readonly Tool[] = []>(
  settings: AgentSettings<Tools> | CustomAgentSettings,
): Agent<Tools> {
  checkSettings(settings, defineAgent);
  const agent = blueprintOf(settings);
  const observers = settings.observers ?? [];
  // Only the caller has the exact types of the tools.
  const tools = (settings.tools ?? []) as unknown as Tools;
  const defined: Agent<Tools> = {
    name: agent.name,
    tools,
    run: <S extends Schema | undefined = undefined>(
      content: Content,
      options: RunOptions<Tools, S> = {},
    ) => {
      const door = { name: "agent.run", from: defined.run, hints: runHints };
      checkContent(door, content);
      checkRunOptions(door, options);
      return runOnce<Tools, S>(agent, observers, content, options);
    },
    open: async (options: OpenOptions = {}) => {
      checkOpenOptions(options, defined.open);
      const { host, close } = await openHost({ ...options, agent, observers, ask: "wait" });
      return createSession<Tools>(host, close, options.actor);
    },
    remove: removeStored,
    with: ((changes: Partial<AgentSettings<readonly Tool[]>>) =>
      defineAgent({ ...settings, ...changes } as AgentSettings<
        readonly Tool[]
      >)) as unknown as Agent<Tools>["with"],
    asTool: (options) => {
      checkAsTool(options, defined.asTool);
      return agentAsTool({ agent, observers, ...options });
    },
  };
  definitions.set(defined, { agent, observers });
  return defined;
}

/** What agents were made of, for hosts that open many sessions by themselves. */
const definitions = new WeakMap<object, Pick<Opening, "agent" | "observers">>();

/** The blueprint and the observers of an agent. Throws `invalid_definition` for any other object. */
export function definitionOf(agent: Agent): Pick<Opening, "agent" | "observers"> {
  const definition = definitions.get(agent);
  if (definition !== undefined) return definition;
  throw new MillraceError("invalid_definition", "the agent was not made by defineAgent");
}

/** Runs one prompt in a session in memory. The session is closed when its run ends. */
function runOnce<Tools extends AnyTools, S extends Schema | undefined>(
  agent: Blueprint,
  observers: readonly Observer[],
  content: Content,
  options: RunOptions<Tools, S>,
): ReturnType<typeof sendPrompt<Tools, S>> {
  refuseInWorkflow(); // before anything that is missing there, such as random ids
  const opened = openHost({ agent, observers, ask: "deny", runsOnce: true });
  const host = opened.then((open) => open.host);
  const run = sendPrompt<Tools, S>(host, content, options, agent.warnings);
  const closeAfter = async (): Promise<void> => {
    await run.result;
    await (await opened).close();
  };
  closeAfter().catch(() => undefined); // an error of opening is in the run's result
  return run;
}

/** Fills in the defaults of all settings. */
function blueprintOf(settings: AgentSettings<readonly Tool[]> | CustomAgentSettings): Blueprint {
  // A limit that is set to undefined must not remove the default.
  const given = Object.entries(settings.limits ?? {}).filter(([, limit]) => limit !== undefined);
  const limits = { ...defaultLimits, ...Object.fromEntries(given) };
  const name = settings.name ?? "agent";
  const { trace } = settings;
  const { warnings = true } = settings;
  const stall = stallSettings(settings.stall);
  const common = { name, hooks: {}, rules: [], stall, trace, warnings };
  const nothing = {
    instructions: undefined,
    notes: undefined,
    context: undefined,
    price: undefined,
  };
  if (settings.respond !== undefined) {
    return {
      ...common,
      ...nothing,
      tools: new Map(),
      model: undefined,
      respond: settings.respond,
      settings: loopSettings(limits, new Map(), { custom: true }),
    };
  }
  const tools = toolMap(settings.tools ?? []);
  const rules = settings.policy ?? [];
  const { context } = settings;
  const compactAbove =
    context === undefined ? undefined : Math.floor(context.window * (context.compactAbove ?? 0.8));
  return {
    ...common,
    tools,
    model: settings.model,
    instructions: settings.instructions,
    notes: settings.notes,
    respond: undefined,
    rules,
    hooks: settings.hooks ?? {},
    context,
    price: settings.price,
    settings: loopSettings(limits, tools, {
      custom: false,
      compactAbove,
      approvalTimeoutMs: settings.approvalTimeoutMs,
      allLabels: settings.allLabels,
      parallel: settings.parallel,
      retry: settings.retry,
      models: [askedModel(settings.model, settings.price)],
    }),
  };
}

function loopSettings(
  limits: Blueprint["settings"]["limits"],
  tools: ReadonlyMap<string, AnyTool>,
  options: {
    readonly custom: boolean;
    readonly compactAbove?: number | undefined;
    readonly approvalTimeoutMs?: number | undefined;
    readonly allLabels?: "ask" | "allow" | undefined;
    readonly parallel?: number | undefined;
    readonly retry?: RetryPolicy | undefined;
    readonly models?: Blueprint["settings"]["models"];
  },
): Blueprint["settings"] {
  const entries = [...tools].map(([name, tool]): [string, ToolSettings] => [
    name,
    {
      effect: tool.effect,
      alone: tool.sequence === "alone",
      ...(tool.queue === undefined ? {} : { queue: tool.queue }),
      repeats: tool.limits.repeats,
      client: tool.run === "client",
      labels: tool.labels ?? [],
    },
  ]);
  const { approvalTimeoutMs } = options;
  const plain = { alone: false, repeats: undefined, client: false };
  const reader: ToolSettings = { effect: "pure", ...plain };
  return {
    custom: options.custom,
    limits,
    tools: Object.fromEntries([[readOutputDescription.name, reader], ...entries]),
    parallel: Math.max(1, options.parallel ?? 8),
    compactAbove: options.compactAbove,
    // Facts and briefs have it in seconds.
    approvalSeconds: approvalTimeoutMs === undefined ? undefined : approvalTimeoutMs / 1_000,
    allLabels: options.allLabels ?? "ask",
    retry: options.retry ?? defaultRetryPolicy,
    models: options.models,
  };
}

function toolMap(tools: readonly Tool[]): ReadonlyMap<string, AnyTool> {
  const byName = new Map<string, AnyTool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) {
      throw refusal(
        { name: "defineAgent", from: defineAgent },
        `two tools are called ${tool.name}: a model could not tell them apart; give one another name`,
      );
    }
    byName.set(tool.name, tool);
  }
  return byName;
}
