import type { JsonObject, RunId, TurnId } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import { guidanceChange } from "../context/guide.ts";
import type { Guidance } from "../context/guide.ts";
import type { WorkHost } from "./host.ts";
import { offeredTools } from "./tools.ts";

interface Turn {
  readonly runId: RunId;
  readonly turnId: TurnId;
}

/**
 * The facts by which requests go by the agent as it is in this process: none if that is what the facts
 * say already. `asks`: whether instructions are made anew, which is done once for each run. Rejects if the
 * agent's instructions throw.
 */
export async function guidanceFacts(
  host: WorkHost,
  { runId, turnId }: Turn,
  asks: boolean,
): Promise<readonly FactBody[]> {
  const { guide, items } = host.journal.context;
  const now = await guidanceNow(host, asks);
  const notes = asks ? await host.agent.notes?.(host.info) : undefined;
  const said: JsonObject = notes === undefined || notes.trim() === "" ? {} : { notes };
  const change = guidanceChange(guide, now);
  if (change === undefined) {
    const isSaid = Object.keys(said).length > 0;
    return isSaid ? [{ type: "guidance_set", runId, turnId, guidance: said }] : [];
  }
  const replies = items.findLastIndex(({ author }) => author === "model") >= 0;
  const reason = replies
    ? breakOf(host, guide.stages.length > 0, change["tools"] !== undefined)
    : undefined;
  const guidance = { ...change, ...said, ...(reason === undefined ? {} : { anew: true }) };
  const set: FactBody = { type: "guidance_set", runId, turnId, guidance };
  if (reason === undefined) return [set];
  const { bindsReasoning = false } = host.agent.model ?? {};
  const through = bindsReasoning ? guide.last : undefined;
  const dropped: FactBody[] =
    through === undefined
      ? []
      : [{ type: "reasoning_dropped", runId, through, reason: "prefix_changed" }];
  return [set, { type: "prefix_broken", runId, reason }, ...dropped];
}

/** Why a change can't stand behind what was sent before. Undefined if it can. */
function breakOf(host: WorkHost, isGuided: boolean, changesTools: boolean): string | undefined {
  const { appends } = host.agent.model ?? {};
  // The session was begun by a version that stored no guidance.
  if (!isGuided) return "upgrade";
  if (appends === undefined)
    return "instructions or tools have changed, and the model takes no updates";
  // A vendor's own tools are declared, and never added.
  const hasOwn = [...host.agent.tools.values()].some(({ vendor }) => vendor !== undefined);
  if (changesTools && (appends !== "tools" || hasOwn))
    return "tools have changed, and the model takes no updates of them";
  return undefined;
}

async function guidanceNow({ agent, info, journal }: WorkHost, asks: boolean): Promise<Guidance> {
  const before = journal.context.guide.stages.at(-1);
  const tools = offeredTools(agent);
  if (!asks && before !== undefined) return { instructions: before.instructions, tools };
  const { instructions } = agent;
  return {
    instructions: typeof instructions === "function" ? await instructions(info) : instructions,
    tools,
  };
}
