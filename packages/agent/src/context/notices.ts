import type { Fact, RunId, TurnId } from "@millrace/core";
import type { BodyOf } from "@millrace/core/writing";

/** What the requests of a session show about its cost, by the facts. */
export interface CostWatch {
  /** Whether the vendor has reported of a cache. */
  readonly caches: boolean;
  /** The input tokens of the latest request, its time, and how often requests had stopped to begin alike. */
  readonly input: number;
  readonly at: number;
  readonly breaks: number;
  /** How many requests in a row read less than half of what the one before them had. */
  readonly missed: number;
  /** Of the latest five requests: whether they came too late for a cache of five minutes. */
  readonly late: readonly boolean[];
  /** The runs so far, the latest that began with other instructions, and how many in a row did. */
  readonly runs: number;
  readonly changedIn: number;
  readonly changedRuns: number;
  /** The codes of the notices that the session has. */
  readonly given: readonly string[];
}

export const emptyWatch: CostWatch = {
  caches: false,
  input: 0,
  at: 0,
  breaks: 0,
  missed: 0,
  late: [],
  runs: 0,
  changedIn: 0,
  changedRuns: 0,
  given: [],
};

const minute = 60_000;
/** Below this vendors keep nothing. */
const leastTokens = 4_096;

/** A fact, or a report of usage that is about to be stored. */
type WatchedFact = Fact | Reported;
type Reported = Pick<
  Extract<Fact, { readonly type: "usage_reported" }>,
  "type" | "usage" | "time"
> & {
  readonly turnId?: TurnId | undefined;
};

/** The watch after one more fact. `breaks`: how often requests have stopped to begin as those before. */
export function watchAfter(watch: CostWatch, fact: WatchedFact, breaks: number): CostWatch {
  switch (fact.type) {
    case "run_started":
      return { ...watch, runs: watch.runs + 1 };
    case "guidance_set": {
      if (fact.guidance?.["instructions"] === undefined) return watch;
      const { runs, changedIn, changedRuns } = watch;
      if (changedIn === runs) return watch;
      return {
        ...watch,
        changedIn: runs,
        changedRuns: changedIn === runs - 1 ? changedRuns + 1 : 1,
      };
    }
    case "usage_reported":
      return fact.turnId === undefined ? watch : afterRequest(watch, fact, breaks);
    case "notice":
      return { ...watch, given: [...watch.given, fact.code] };
    default:
      return watch;
  }
}

function afterRequest(watch: CostWatch, { usage, time }: Reported, breaks: number): CostWatch {
  const { inputTokens, cachedTokens, cacheWriteTokens = 0 } = usage;
  if (inputTokens === 0) return watch; // it was refused or cut
  const pause = time - watch.at;
  const isLater = watch.input >= leastTokens && watch.breaks === breaks;
  const isLate = isLater && cachedTokens === 0 && pause >= 5 * minute && pause <= 60 * minute;
  const isMissed = isLater && !isLate && pause < 5 * minute && cachedTokens < watch.input / 2;
  return {
    ...watch,
    caches: watch.caches || cachedTokens + cacheWriteTokens > 0,
    input: inputTokens,
    at: time,
    breaks,
    missed: isMissed ? watch.missed + 1 : 0,
    late: [...watch.late, isLate].slice(-5),
  };
}

/** The notices that are due and were not given yet. */
export function dueNotices(watch: CostWatch, runId: RunId): readonly BodyOf<"notice">[] {
  const { caches, missed, late, changedRuns, given } = watch;
  const due: Readonly<Record<string, string | undefined>> = {
    cache_missed:
      caches && missed >= 2
        ? "two requests in a row read less than half of the one before from the vendor's cache, though nothing before it changed"
        : undefined,
    cache_expired:
      caches && late.filter(Boolean).length >= 2
        ? 'requests come later than the vendor keeps its cache: set cache: { ttl: "1h" } on the model'
        : undefined,
    instructions_changed_often:
      changedRuns >= 3
        ? "the instructions differ in three runs in a row: each change stays in the conversation. Put what changes into the prompt"
        : undefined,
  };
  return Object.entries(due).flatMap(([code, message]) =>
    message === undefined || given.includes(code) ? [] : [{ type: "notice", runId, code, message }],
  );
}
