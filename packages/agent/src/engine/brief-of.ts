import type { LoopSettings, ToolSettings } from "../definition/loop-settings.ts";
import { verdictOf } from "../loop/calls.ts";
import { usual } from "../loop/brief.ts";
import type {
  BriefCall,
  BriefRun,
  BriefSettings,
  BriefStanding,
  BriefTools,
  BriefTurn,
} from "../loop/brief.ts";
import { emptyRun } from "../loop/state.ts";
import type {
  CallStanding,
  CallVerdict,
  LoopState,
  RunStanding,
  Standing,
  TurnStanding,
} from "../loop/state.ts";
import type { StepMemory } from "./step.ts";

/** The settings as an engine needs them. JSON has no `Infinity`: a limit without end is left out. */
export function briefSettings(settings: LoopSettings): BriefSettings {
  const { custom, limits, parallel, retry, compactAbove, approvalSeconds } = settings;
  const { repeats: _, lost: __, ...own } = limits;
  const ends = onlyFinite(own);
  const bounded = onlyFinite({ compactAbove, approvalSeconds });
  return {
    ...(custom ? { custom } : {}),
    ...(isSame(ends, usual.limits) ? {} : { limits: ends }),
    ...(parallel === usual.parallel ? {} : { parallel: finite(parallel) }),
    ...bounded,
    ...(isSame(retry, usual.retry)
      ? {}
      : {
          retry: {
            attempts: finite(retry.attempts),
            baseMs: finite(retry.baseMs),
            capMs: finite(retry.capMs),
          },
        }),
  };
}

/** The tools of open calls that are not as usual. Of a tool that the agent has no more, the safest. */
export function briefTools({ tools }: LoopSettings, { run }: Standing): BriefTools | undefined {
  const open = run?.turn?.reply?.calls.filter(({ settled }) => !settled) ?? [];
  const named = open.flatMap(({ tool }) => {
    const known = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
    const { effect = "effectful", alone, client, queue }: Partial<ToolSettings> = known ?? {};
    const brief = {
      ...(effect === usual.tool.effect ? {} : { effect }),
      ...(alone === true ? { alone } : {}),
      ...(client === true ? { client } : {}),
      ...(queue === undefined ? {} : { queue }),
    };
    return Object.keys(brief).length === 0 ? [] : [[tool, brief] as const];
  });
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

/** The standing as an engine needs it: without what has its usual value, and what it does not look at. */
export function briefStanding({ incarnation, queue, run }: Standing): BriefStanding {
  return {
    incarnation,
    ...(queue.length === 0
      ? {}
      : {
          queue: queue.map(({ inputId, kind, limits, held }) => ({
            inputId,
            kind,
            ...(limits === undefined ? {} : { limits }),
            ...(held ? { held } : {}),
          })),
        }),
    ...(run === undefined ? {} : { run: briefRun(run) }),
  };
}

function briefRun(standing: RunStanding): BriefRun {
  const { calls: _, turn, used, lost: __, lostInRow: ___, released: ____, ...run } = standing;
  const { runId, startedAt } = run;
  const changed = withoutUsual(run, emptyRun({ runId, startedAt, limits: undefined }));
  return {
    ...changed,
    runId,
    startedAt,
    ...(used.tokens === 0 && used.cost === undefined ? {} : { used }),
    ...(turn === undefined ? {} : { turn: briefTurn(turn) }),
  };
}

function briefTurn({ turnId, reply, ...turn }: TurnStanding): BriefTurn {
  const { attempts, droppedReasoning, showsStop, stop } = turn;
  return {
    turnId,
    ...withoutUsual(
      { attempts, droppedReasoning, showsStop, stop },
      { attempts: 0, droppedReasoning: false, showsStop: false },
    ),
    ...(reply === undefined
      ? {}
      : {
          reply: {
            stop: reply.stop,
            ...(reply.cause === undefined ? {} : { cause: reply.cause }),
            ...(reply.calls.length === 0 ? {} : { calls: reply.calls.map(briefCall) }),
          },
        }),
  };
}

function briefCall({ callId, tool, asked, approval, started, settled }: CallStanding): BriefCall {
  const rest = { asked, approval, started, settled };
  return { callId, tool, ...withoutUsual(rest, { asked: 0, settled: false }) };
}

/** What a step found out and did not store, as an engine keeps it: without what has no use any more. */
export function briefMemory(state: LoopState, now: number): StepMemory {
  const { standing, doing } = state;
  const calls = standing.run?.turn?.reply?.calls.filter(({ settled }) => !settled) ?? [];
  const open = new Set(calls.map(({ itemId }) => itemId));
  const verdicts = calls.flatMap((call) => {
    const verdict = verdictOf(state, call); // with labels, which the engine does not know
    return verdict === undefined ? [] : [[call.itemId, withoutHash(verdict)] as const];
  });
  const answers = [...doing.answers].filter(([itemId]) => open.has(itemId));
  const { failed, output } = doing;
  return {
    ...(verdicts.length === 0 ? {} : { verdicts }),
    ...(answers.length === 0 ? {} : { answers }),
    ...(output === "valid" ? {} : { output }),
    ...(failed === undefined ? {} : { failed: withoutTime(failed, now) }),
  };
}

/** The step that runs a call assesses it itself. Only a question's hash is compared by the engine too. */
function withoutHash(verdict: CallVerdict): CallVerdict {
  return verdict.decision === "allow" ? { ...verdict, hash: "" } : verdict;
}

function withoutTime(
  { retryAt, ...failed }: NonNullable<LoopState["doing"]["failed"]>,
  now: number,
): NonNullable<StepMemory["failed"]> {
  return retryAt === undefined ? failed : { ...failed, retryInMs: Math.max(0, retryAt - now) };
}

/** The fields that are set, and not to their usual value. */
function withoutUsual<T extends object>(value: T, usualOf: Partial<T>): Partial<T> {
  const fields = Object.entries(value).filter(
    ([name, field]) => field !== undefined && field !== usualOf[name as keyof T], // a name of `value`
  );
  return Object.fromEntries(fields) as Partial<T>; // some of its fields
}

function onlyFinite<T extends Readonly<Record<string, number | undefined>>>(value: T): Partial<T> {
  const fields = Object.entries(value).filter(([, field]) => Number.isFinite(field));
  return Object.fromEntries(fields) as Partial<T>; // some of its fields
}

function finite(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

function isSame(one: object, other: object): boolean {
  const [left, right] = [Object.entries(one), Object.entries(other)];
  const among = new Map<string, unknown>(right);
  return left.length === right.length && left.every(([name, value]) => among.get(name) === value);
}
