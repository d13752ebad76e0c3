import { isJsonObject } from "@millrace/core/wire";
import type { Limits } from "../definition/limits.ts";
import type { LoopSettings } from "../definition/loop-settings.ts";
import type { CallPrint, LoopState, RunStanding, Spent } from "./state.ts";

/** The longest sequence of calls whose repetition is detected. */
const longestPeriod = 4;
/** A limit of repeats above this counts as this, which bounds the remembered calls. */
const mostRepeats = 64;
/** The most calls that a run remembers under any settings. */
export const rememberedCalls: number = longestPeriod * mostRepeats;

/** How many calls a run remembers under these settings: as many as the longest repetition needs. */
export function callsToRemember({ limits, tools }: Pick<LoopSettings, "limits" | "tools">): number {
  const all = [limits.repeats, ...Object.values(tools).map(({ repeats }) => repeats)];
  return longestPeriod * Math.max(...all.map(timesOf));
}

/** The limits of a run: the lower of the sender's and the agent's. */
export function limitsOf(state: Pick<LoopState, "settings">, run: RunStanding): Limits {
  const asked = run.limits ?? {};
  const own = state.settings.limits;
  return {
    turns: least(asked.turns, own.turns),
    seconds: least(asked.seconds, own.seconds),
    tokens: least(asked.tokens, own.tokens),
    cost: least(asked.cost, own.cost),
    repeats: least(asked.repeats, own.repeats),
    lost: least(asked.lost, own.lost),
  };
}

/** The limit that ends a run at once, also in the middle of a turn. */
export function outOf(state: LoopState, run: RunStanding): "seconds" | "repeats" | undefined {
  const limits = limitsOf(state, run);
  if (limits.seconds !== undefined && state.now >= deadlineOf(run, limits.seconds))
    return "seconds";
  return limits.repeats !== undefined && repeats(state, run.calls, limits.repeats)
    ? "repeats"
    : undefined;
}

/** Whether so many drivers in a row have ended without a trace that the run is to end. */
export function hasLostDrivers(state: LoopState, run: RunStanding): boolean {
  const { lost } = limitsOf(state, run);
  return lost !== undefined && run.lostInRow > 0 && run.lostInRow >= lost;
}

/**
 * The limit that forbids another request to a model. Checked before each request. Lost requests are charged
 * by an estimate. `price_unknown`: there are some, the cost is limited, and no price is known for them.
 */
export function overspent(state: LoopState, run: RunStanding): string | undefined {
  const { tokens, cost } = limitsOf(state, run);
  const { used } = run;
  const lost = lostSpent(state, run);
  if (tokens !== undefined && used.tokens + lost.tokens >= tokens) return "tokens";
  if (cost !== undefined && lost.cost === undefined) return "price_unknown";
  if (cost !== undefined && (used.cost ?? 0) + (lost.cost ?? 0) >= cost) return "cost";
  return state.doing.allowance;
}

/** The least that a request is taken to read, and what it is taken to write. */
const estimatedTokens = 1_000;

/** What the lost requests of a run are taken to have used. The cost is undefined if no price is known. */
function lostSpent({ settings }: LoopState, { lost, contextTokens }: RunStanding): Spent {
  if (lost === 0) return { tokens: 0, cost: 0 };
  const input = Math.max(estimatedTokens, contextTokens);
  const price = settings.models?.[0]?.price;
  const each =
    price === undefined
      ? undefined
      : (input * price.input + estimatedTokens * price.output) / 1_000_000;
  return {
    tokens: lost * (input + estimatedTokens),
    cost: each === undefined ? undefined : lost * each,
  };
}

/** True for a failure that a shorter context may mend: too many tokens, or too many bytes. */
export function isTooLong(code: string | undefined): boolean {
  return code === "context_overflow" || code === "request_too_large";
}

/** The time at which the run's `seconds` end, in milliseconds since 1970. */
export function deadlineOf(run: RunStanding, seconds: number): number {
  return run.startedAt + seconds * 1_000;
}

/** Reads stored limits. A missing or invalid number is no limit. */
export function readLimits(value: unknown): Limits {
  if (!isJsonObject(value)) return {};
  const names = ["turns", "seconds", "tokens", "cost", "repeats", "lost"] as const;
  const sound = names.flatMap((name) => {
    const limit = value[name];
    return typeof limit === "number" && limit >= 0 ? [[name, limit] as const] : [];
  });
  return Object.fromEntries(sound);
}

function least(asked: number | undefined, own: number | undefined): number | undefined {
  if (asked === undefined || own === undefined) return asked ?? own;
  return Math.min(asked, own);
}

/** True if the calls end with a sequence of one to four calls that is repeated up to its limit. */
function repeats(state: LoopState, calls: readonly CallPrint[], limit: number): boolean {
  for (let period = 1; period <= longestPeriod; period += 1) {
    const block = calls.slice(-period);
    if (block.length < period) return false;
    const allowed = block.map(({ tool }) => state.settings.tools[tool]?.repeats ?? limit);
    if (comesAgain(calls, period, timesOf(Math.max(...allowed)))) return true;
  }
  return false;
}

/** How many occurrences in a row reach a limit. At least two, because one call is no repetition. */
function timesOf(limit: number | undefined): number {
  return Math.min(Math.max(2, Math.floor(limit ?? 0)), mostRepeats);
}

function comesAgain(calls: readonly CallPrint[], period: number, times: number): boolean {
  const needed = period * times;
  if (calls.length < needed) return false;
  const recent = calls.slice(-needed);
  return recent.every((call, at) => call.print === recent[at % period]?.print);
}
