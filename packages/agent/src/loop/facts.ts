import { abortedCause } from "@millrace/core/model";
import type { TraceContext } from "@millrace/core/ports";
import type {
  Cause,
  InputId,
  Item,
  ItemId,
  RunId,
  RunOutcome,
  SessionState,
  ToolCallPart,
  TurnId,
} from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import type { ActionOf, RecordAction, RunEnding } from "./action.ts";
import {
  approvalIdOf,
  inputItemIdOf,
  laneItemIdOf,
  numberedParts,
  partIdOf,
  stopItemIdOf,
} from "./ids.ts";
import { answerFacts } from "./answers.ts";
import type { FailedFacts, FactContext } from "./fact-context.ts";
import type { RunStanding, TurnStanding } from "./state.ts";

/**
 * The facts that an action stores. Pure; used by the driver, by activities of engines and by the
 * simulation. Undefined if the action no longer fits the session: an earlier attempt stored its facts,
 * or its run or turn is over. Then nothing is stored, and the driver decides again.
 */
export function factsFor(
  action: RecordAction,
  context: FactContext,
): readonly FactBody[] | undefined {
  if (action.do === "begin_turn") return beginTurn(action, context);
  const { run } = context.standing;
  if (run === undefined || ("runId" in action && action.runId !== run.runId)) return undefined;
  switch (action.do) {
    case "start_compaction":
      return run.compacting ? undefined : [{ type: "compaction_started", runId: run.runId }];
    case "end_compaction":
      return run.compacting ? endCompaction(run, context) : undefined;
    case "schedule_retry":
      return scheduleRetry(action, run, context);
    case "finish_run": {
      const { runId } = run;
      const outcome = outcomeOf(action.ending, run, context);
      return [{ type: "run_finished", runId, closes: context.closes, ...outcome }];
    }
    case "give_up":
      return giveUp(action, run, context);
    case "correct":
      return correct(action, run, context);
    case "show_stop":
      return showStop(action, run, context);
    default:
      return run.turn === undefined ? undefined : turnFacts(action, run, run.turn, context);
  }
}

type TurnAction = ActionOf<
  "end_reply" | "abandon_reply" | "ask" | "await_client" | "settle" | "finish_turn"
>;

function turnFacts(
  action: TurnAction,
  { runId }: RunStanding,
  turn: TurnStanding,
  context: FactContext,
): readonly FactBody[] | undefined {
  const { turnId } = turn;
  if (turn.stop !== undefined || ("turnId" in action && action.turnId !== turnId)) return undefined;
  switch (action.do) {
    case "end_reply":
    case "abandon_reply":
      return turn.reply === undefined ? endReply(action, { runId, turnId }, context) : undefined;
    case "finish_turn": {
      const { stop } = action;
      const mark = stop === "aborted" && !turn.showsStop ? [stopItem({ runId, turnId })] : [];
      return [...mark, { type: "turn_finished", runId, turnId, stop, closes: context.closes }];
    }
    case "ask":
      return ask(action, { runId, turn }, context);
    case "await_client":
      return awaitClient(action, { runId, turn }, context);
    case "settle":
      return answerFacts(action, { runId, turn }, context);
    default:
      action satisfies never;
      return undefined;
  }
}

function beginTurn(
  { runId, turnId, startsRun, takes }: ActionOf<"begin_turn">,
  { standing, state }: FactContext,
): readonly FactBody[] | undefined {
  const { run } = standing;
  const fits = startsRun
    ? run === undefined
    : run?.runId === runId && run.turn?.turnId !== turnId && run.turn?.stop !== undefined;
  const inputs = takes.map((inputId) => inputOf(state, inputId));
  if (!fits || inputs.includes(undefined)) return undefined;
  const items = inputs.flatMap((queued): FactBody[] => {
    if (queued === undefined) return [];
    const { inputId, parts } = queued;
    const id = inputItemIdOf(inputId);
    const item: Item = { id, author: "user", parts: numberedParts(id, parts), stop: "end" };
    return [{ type: "item_committed", item, runId, turnId, inputId }];
  });
  const trace = inputs[0]?.trace;
  const began = trace === undefined ? {} : { trace };
  const started: FactBody[] = startsRun ? [{ type: "run_started", runId, ...began }] : [];
  return [...started, ...items, { type: "turn_started", runId, turnId }];
}

interface QueuedParts {
  readonly inputId: InputId;
  readonly parts: Item["parts"];
  readonly trace: TraceContext | undefined;
}

function inputOf({ queue }: SessionState, inputId: InputId): QueuedParts | undefined {
  const { input, trace } = queue.find((queued) => queued.inputId === inputId) ?? {};
  return input !== undefined && "parts" in input
    ? { inputId, parts: input.parts, trace }
    : undefined;
}

/** Stores the usage of the failed attempt now, because a later driver would not have it. */
function scheduleRetry(
  action: ActionOf<"schedule_retry">,
  { runId, turn }: RunStanding,
  { failed, state }: FactContext,
): readonly FactBody[] | undefined {
  if (failed === undefined || failed.reported) return undefined;
  const ofTurn = action.of === "reply" && turn !== undefined;
  const report = reportOf(failed, ofTurn ? { runId, turnId: turn.turnId } : { runId });
  // A summary is stored last, but stands first in requests.
  const newest = state.items.findLastIndex(({ author }) => author !== "agent");
  const through = newest < 0 ? undefined : state.items.at(newest)?.id;
  if (action.dropsReasoning !== true || through === undefined) return report;
  return [...report, { type: "reasoning_dropped", runId, through, reason: "refused" }];
}

function endCompaction({ runId }: RunStanding, { failed }: FactContext): readonly FactBody[] {
  return [...reportOf(failed, { runId }), { type: "compaction_finished", runId }];
}

/** The usage of a failed attempt, unless `schedule_retry` has stored it already. */
function reportOf(
  failed: FailedFacts | undefined,
  ids: { readonly runId: RunId; readonly turnId?: TurnId },
): readonly FactBody[] {
  if (failed === undefined || failed.reported) return [];
  const { epoch, usage } = failed;
  return [{ type: "usage_reported", ...ids, epoch, usage }];
}

/** The item of a reply that no attempt finished. It has no parts; it ends as failed or as aborted. */
function endReply(
  { do: how, itemId }: ActionOf<"end_reply" | "abandon_reply">,
  ids: { readonly runId: RunId; readonly turnId: TurnId },
  { failed }: FactContext,
): readonly FactBody[] {
  const head = { id: itemId, author: "model", parts: [] } as const;
  const used = failed === undefined ? {} : { usage: failed.usage };
  const item: Item =
    how === "abandon_reply"
      ? { ...head, stop: "aborted", cause: stoppedBeforeReply }
      : { ...head, ...used, stop: "failed", cause: failed?.cause ?? lostCause };
  return [{ type: "item_committed", item, ...ids }, ...reportOf(failed, ids)];
}

function giveUp(
  { answers }: ActionOf<"give_up">,
  run: RunStanding,
  context: FactContext,
): readonly FactBody[] {
  const { runId, turn, lostInRow } = run;
  const { closes } = context;
  const cause = driverLost(lostInRow);
  const finished = { type: "run_finished", runId, closes, outcome: "failed", cause } as const;
  if (turn === undefined || turn.stop !== undefined) return [finished];
  const { turnId, reply } = turn;
  const stop = reply?.stop ?? "failed";
  const id = laneItemIdOf(turnId, 0);
  const item: Item = { id, author: "model", parts: [], stop: "failed", cause };
  const before: readonly FactBody[] =
    reply === undefined
      ? [{ type: "item_committed", item, runId, turnId }]
      : (answerFacts({ do: "settle", answers }, { runId, turn }, context) ?? []);
  return [...before, { type: "turn_finished", runId, turnId, stop, closes }, finished];
}

/** The whole turn in one transaction, so that no reader sees it open. */
function showStop(
  { turnId }: ActionOf<"show_stop">,
  { runId, turn }: RunStanding,
  { closes }: FactContext,
): readonly FactBody[] | undefined {
  if (turn !== undefined && (turn.stop === undefined || turn.turnId === turnId)) return undefined;
  return [
    { type: "turn_started", runId, turnId },
    stopItem({ runId, turnId }),
    { type: "turn_finished", runId, turnId, stop: "aborted", closes },
  ];
}

/** The item without parts that marks a stop. It has no lane, so it closes none. */
function stopItem(ids: { readonly runId: RunId; readonly turnId: TurnId }): FactBody {
  const id = stopItemIdOf(ids.turnId);
  const item: Item = { id, author: "model", parts: [], stop: "aborted", cause: stoppedHere };
  return { type: "item_committed", item, ...ids };
}

interface OpenTurn {
  readonly runId: RunId;
  readonly turn: TurnStanding;
}

function ask(
  { questions, seconds }: ActionOf<"ask">,
  { runId, turn }: OpenTurn,
  { state, parsed }: FactContext,
): readonly FactBody[] {
  const { turnId } = turn;
  const waits = seconds === undefined ? {} : { seconds };
  return questions.flatMap(({ call, hash }): FactBody[] => {
    const { callId, tool, lane, asked } = call;
    const input = callPart(state, turn, call)?.input;
    if (input === undefined) return [];
    const made = parsed(call.itemId);
    const ids = {
      runId,
      turnId,
      approvalId: approvalIdOf(turnId, lane, asked + 1),
      callId,
      tool,
    };
    const changed = made === undefined ? {} : { parsed: made };
    return [{ type: "approval_requested", ...ids, input, ...changed, hash, ...waits }];
  });
}

/** Stores the intent only. No lane is opened, because a client streams nothing. */
function awaitClient(
  { calls }: ActionOf<"await_client">,
  { runId, turn }: OpenTurn,
  { state, closes: epoch }: FactContext,
): readonly FactBody[] {
  const { turnId } = turn;
  return calls.flatMap((call): FactBody[] => {
    const { callId, tool, itemId, lane, hash } = call;
    const input = callPart(state, turn, call)?.input;
    if (input === undefined) return [];
    const ids = { runId, turnId, callId, tool, itemId, lane, epoch, hash };
    return [{ type: "tool_execution_started", ...ids, input, client: true }];
  });
}

function correct(
  { itemId, turnId }: ActionOf<"correct">,
  { runId, turn }: RunStanding,
  { outputProblem = "it is not one JSON value" }: FactContext,
): readonly FactBody[] | undefined {
  if (turn?.turnId === turnId) return undefined;
  const text = `Your answer has not the shape that was asked for. Answer again, with one JSON value and nothing else.\n${outputProblem}`;
  const item: Item = {
    id: itemId,
    author: "user",
    parts: [{ kind: "text", id: partIdOf(itemId, 1), text }],
    stop: "end",
    metadata: { author: "millrace" },
  };
  return [
    { type: "item_committed", item, runId, turnId },
    { type: "turn_started", runId, turnId },
  ];
}

function outcomeOf(ending: RunEnding, { turn }: RunStanding, context: FactContext): RunOutcome {
  if (ending.outcome !== "failed") return ending;
  const { outcome, why } = ending;
  if (why === "filtered") return { outcome, cause: filteredCause };
  if (why === "output") {
    return {
      outcome,
      cause: { code: "invalid_output", message: context.outputProblem ?? "it is not valid" },
    };
  }
  const reply = itemOf(context.state, turn?.reply?.itemId);
  return { outcome, cause: reply?.cause ?? lostCause };
}

/** The part of the reply that has the call and its arguments. */
export function callPart(
  state: SessionState,
  turn: TurnStanding,
  call: { readonly callId: string },
): ToolCallPart | undefined {
  const reply = itemOf(state, turn.reply?.itemId);
  return reply?.parts.find(
    (part): part is ToolCallPart => part.kind === "tool_call" && part.callId === call.callId,
  );
}

function itemOf({ items }: SessionState, id: ItemId | undefined): Item | undefined {
  const at = id === undefined ? -1 : items.findLastIndex((item) => item.id === id);
  return at < 0 ? undefined : items.at(at);
}

const stoppedBeforeReply: Cause = {
  ...abortedCause,
  message: "the run was stopped before the model had answered",
};
const stoppedHere: Cause = { ...abortedCause, message: "the run was stopped here" };
/** The cause of a run that keeps losing its drivers. */
function driverLost(count: number): Cause {
  const ended = count === 1 ? "once" : `${count} times in a row`;
  return {
    code: "driver_lost",
    message: `the process that had this run ended ${ended} before it stored anything: look for a crash in its log, such as memory that ran out, and send again`,
  };
}

const filteredCause: Cause = {
  code: "filtered",
  message: "the vendor's filter ended the reply: ask in other words, or another model",
};
const lostCause: Cause = { code: "reply_failed", message: "the reply failed, and left no cause" };
