import type { RetryPolicy } from "@millrace/core/model";
import type { Limits } from "../definition/limits.ts";
import type { LoopSettings, ToolSettings } from "../definition/loop-settings.ts";
import { laneItemIdOf } from "./ids.ts";
import { emptyRun } from "./state.ts";
import type {
  CallStanding,
  Queued,
  ReplyStanding,
  RunStanding,
  Standing,
  TurnStanding,
} from "./state.ts";

// What an engine is told of a session, as short as a history needs it. Whatever has its usual value is
// left out. The loop of an engine decides which step comes next; what a step does is decided again over
// whole facts. So repeats, labels and lost attempts, which change what a step records, are left to it.

/** The settings that an engine decides by. A field that is left out has the value in `usual`. */
export interface BriefSettings {
  readonly custom?: true | undefined;
  readonly limits?: Omit<Limits, "repeats" | "lost"> | undefined;
  readonly parallel?: number | undefined;
  readonly compactAbove?: number | undefined;
  readonly approvalSeconds?: number | undefined;
  readonly retry?: RetryPolicy | undefined;
}

/** By name, the tools of open calls that are not as usual: pure, at any worker, beside others. */
export type BriefTools = Readonly<Record<string, BriefTool>>;
type BriefTool = Partial<Omit<ToolSettings, "repeats" | "labels">>;

/** A standing without what has its usual value, and without ids that follow from others. */
export interface BriefStanding {
  readonly incarnation: number;
  readonly queue?: readonly Brief<Queued, "inputId" | "kind">[];
  readonly run?: BriefRun;
}

type Brief<Whole, Kept extends keyof Whole> = Pick<Whole, Kept> & Partial<Whole>;

export type BriefRun = Brief<
  Omit<RunStanding, "calls" | "turn" | "lost" | "lostInRow" | "released">,
  "runId" | "startedAt"
> & {
  readonly turn?: BriefTurn;
};

export type BriefTurn = Brief<Omit<TurnStanding, "reply">, "turnId"> & {
  readonly reply?: BriefReply;
};

interface BriefReply extends Pick<ReplyStanding, "stop"> {
  readonly cause?: string;
  readonly calls?: readonly BriefCall[];
}

export type BriefCall = Brief<Omit<CallStanding, "itemId" | "lane" | "client">, "callId" | "tool">;

/** A part of stored histories: another value here would change what an old one means. */
export const usual: Pick<LoopSettings, "limits" | "parallel" | "retry"> & {
  readonly tool: ToolSettings;
} = {
  limits: { turns: 200, seconds: 7_200 },
  parallel: 8,
  retry: { attempts: 3, baseMs: 500, capMs: 60_000 },
  tool: { effect: "pure", alone: false, client: false, repeats: undefined },
};

/** The settings that the brief ones stand for, with the tools of the calls in this standing. */
export function settingsOfBrief(
  brief: BriefSettings,
  tools: BriefTools,
  { run }: Standing,
): LoopSettings {
  const { custom = false, limits = usual.limits, parallel = usual.parallel } = brief;
  const { retry = usual.retry, compactAbove, approvalSeconds } = brief;
  const named = Object.fromEntries(
    (run?.turn?.reply?.calls ?? []).map(({ tool }) => {
      const known = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
      return [tool, { ...usual.tool, ...known }];
    }),
  );
  return { custom, limits, parallel, retry, compactAbove, approvalSeconds, tools: named };
}

/** The standing that a brief one stands for. It remembers no calls and no names of tools. */
export function standingOfBrief({ incarnation, queue = [], run }: BriefStanding): Standing {
  return {
    incarnation,
    queue: queue.map((queued) => ({ limits: undefined, held: false, ...queued })),
    ran: [],
    contextTokens: 0,
    run: run && { ...emptyRun({ limits: undefined, ...run }), ...run, turn: turnOf(run.turn) },
  };
}

function turnOf(brief: BriefTurn | undefined): TurnStanding | undefined {
  if (brief === undefined) return undefined;
  const { turnId, reply } = brief;
  const calls = reply?.calls?.map((call, at) => ({
    asked: 0,
    approval: undefined,
    started: undefined,
    client: false,
    settled: false,
    ...call,
    itemId: laneItemIdOf(turnId, at + 1),
    lane: at + 1,
  }));
  return {
    attempts: 0,
    droppedReasoning: false,
    showsStop: false,
    stop: undefined,
    ...brief,
    reply: reply && {
      cause: undefined,
      ...reply,
      itemId: laneItemIdOf(turnId, 0),
      calls: calls ?? [],
    },
  };
}
