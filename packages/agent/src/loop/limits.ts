import { isJsonObject } from "@millrace/core";
import type { Cause } from "@millrace/core";
import type { CallPrint, LoopState, RunStanding } from "./state.ts";

/** What a run may spend. A limit that is left out is the agent's, and then the default. */
export interface Limits {
  /** Model replies. */
  readonly turns?: number | undefined;
  /** Wall-clock time since the run started, waiting for people included. */
  readonly seconds?: number | undefined;
  /** Input and output tokens of all attempts, sub-agents included. */
  readonly tokens?: number | undefined;
  /** In US dollars, where the price of a reply is known. */
  readonly cost?: number | undefined;
  /** How often the same call, or the same sequence of up to four calls, may come in a row. */
  readonly repeats?: number | undefined;
}

export const defaultLimits: Limits = { turns: 200, seconds: 7_200, repeats: 3 };

/** The longest sequence of calls whose repetition is noticed. */
const longestPeriod = 4;
/** No limit of repeats above this is kept track of. */
const mostRepeats = 64;
/** How many calls a run remembers. */
export const rememberedCalls: number = longestPeriod * mostRepeats;

/** The limits of a run: what its sender asked for, but never more than the agent allows. */
export function limitsOf(state: LoopState, run: RunStanding): Limits {
  const asked = readLimits(run.options?.["limits"]);
  const own = state.settings.limits;
  return {
    turns: least(asked.turns, own.turns),
    seconds: least(asked.seconds, own.seconds),
    tokens: least(asked.tokens, own.tokens),
    cost: least(asked.cost, own.cost),
    repeats: least(asked.repeats, own.repeats),
  };
}

/** The limit that ends a run wherever it is. */
export function outOf(state: LoopState, run: RunStanding): "seconds" | "repeats" | undefined {
  const limits = limitsOf(state, run);
  if (limits.seconds !== undefined && state.now >= deadlineOf(run, limits.seconds))
    return "seconds";
  return limits.repeats !== undefined && repeats(state, run.calls, limits.repeats)
    ? "repeats"
    : undefined;
}

/** The limit that forbids another request to a model. Asked before each one. */
export function overspent(state: LoopState, run: RunStanding): string | undefined {
  const { tokens, cost } = limitsOf(state, run);
  const { used } = run;
  if (tokens !== undefined && used.inputTokens + used.outputTokens >= tokens) return "tokens";
  if (cost !== undefined && (used.cost ?? 0) >= cost) return "cost";
  return state.doing.allowance;
}

/** The vendor would not take so many tokens, or so many bytes: less of it may do. */
export function isTooLong(cause: Cause | undefined): boolean {
  return cause?.code === "context_overflow" || cause?.code === "request_too_large";
}

/** When the run's time is over, in milliseconds since 1970. */
export function deadlineOf(run: RunStanding, seconds: number): number {
  return run.startedAt + seconds * 1_000;
}

/** What is left out, or is no sound number, limits nothing. */
export function readLimits(value: unknown): Limits {
  if (!isJsonObject(value)) return {};
  const read = (name: keyof Limits): number | undefined => {
    const limit = value[name];
    return typeof limit === "number" && limit >= 0 ? limit : undefined;
  };
  return {
    turns: read("turns"),
    seconds: read("seconds"),
    tokens: read("tokens"),
    cost: read("cost"),
    repeats: read("repeats"),
  };
}

function least(asked: number | undefined, own: number | undefined): number | undefined {
  if (asked === undefined || own === undefined) return asked ?? own;
  return Math.min(asked, own);
}

/** Whether the calls end in a sequence of up to four that came so often in a row. */
function repeats(state: LoopState, calls: readonly CallPrint[], limit: number): boolean {
  for (let period = 1; period <= longestPeriod; period += 1) {
    const block = calls.slice(-period);
    if (block.length < period) return false;
    const allowed = Math.max(
      ...block.map(({ tool }) => state.settings.tools[tool]?.repeats ?? limit),
    );
    const times = Math.min(Math.max(1, Math.floor(allowed)), mostRepeats);
    if (comesAgain(calls, period, times)) return true;
  }
  return false;
}

/** A repetition needs at least two: one call alone repeats nothing. */
function comesAgain(calls: readonly CallPrint[], period: number, times: number): boolean {
  const needed = period * Math.max(2, times);
  if (calls.length < needed) return false;
  const recent = calls.slice(-needed);
  return recent.every((call, at) => call.print === recent[at % period]?.print);
}
