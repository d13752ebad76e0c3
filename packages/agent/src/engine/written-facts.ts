import { unpackEpoch } from "@millrace/core/ports";
import type { Epoch } from "@millrace/core/ports";
import { idTail, itemId, runId, runIdOf } from "@millrace/core/writing";
import type {
  CallId,
  Cause,
  Item,
  ItemId,
  RunId,
  SessionState,
  ToolCallPart,
  ToolResultPart,
  Transcript,
  TurnId,
} from "@millrace/core";
import type { FactBody, FactOf } from "@millrace/core/writing";
import { factsFor } from "../loop/facts.ts";
import type { FactContext } from "../loop/fact-context.ts";
import { numberedParts, partIdOf, turnIdOf } from "../loop/ids.ts";
import type { Standing } from "../loop/state.ts";
import { lastOfGeneration } from "./step-epochs.ts";

// The facts of a session that another program writes, reply by reply. One turn holds all replies of its
// run and the results of their calls, as the turn of an agent's own `respond` does.

/** The run and the turn that an item is written in. */
export interface TurnIds {
  readonly runId: RunId;
  readonly turnId: TurnId;
}

/** The id of the item that a program writes in a turn. The numbers are those of its epoch. */
export function programItemIdOf(turn: TurnId, epoch: Epoch, call?: number): ItemId {
  const { incarnation, generation } = unpackEpoch(epoch);
  const below = call === undefined ? "" : `_${call}`;
  return itemId(`item_${idTail(turn)}_p${incarnation}-${generation}${below}`);
}

/**
 * Begins a run with its one turn. Takes the input that waits in the queue, as the loop would. Without one
 * the run begins with what the program itself asked the model: the last words of a user in its request.
 */
export function beginningOf(
  context: FactContext,
  transcript: Transcript,
  epoch: Epoch,
): readonly FactBody[] {
  const { queue } = context.standing;
  const first = queue.find(({ kind, held }) => kind !== "answer" && !held);
  if (first !== undefined) {
    const takes = queue.filter((queued) => queued === first || queued.kind === "steer");
    const run = runIdOf(first.inputId);
    const begin = { do: "begin_turn", runId: run, turnId: turnIdOf(run, 1) } as const;
    const inputs = takes.map(({ inputId }) => inputId);
    return factsFor({ ...begin, startsRun: true, takes: inputs }, context) ?? [];
  }
  const { incarnation, generation } = unpackEpoch(epoch);
  const run = runId(`run_p${incarnation}-${generation}`);
  const ids = { runId: run, turnId: turnIdOf(run, 1) };
  const asked = lastWords(transcript).map((parts, at): FactBody => {
    const id = itemId(`item_${idTail(run)}_${at + 1}`);
    const item: Item = { id, author: "user", parts: numberedParts(id, parts), stop: "end" };
    return { type: "item_committed", item, ...ids };
  });
  return [{ type: "run_started", runId: run }, ...asked, { type: "turn_started", ...ids }];
}

/** What users said since the last reply or result. */
function lastWords(transcript: Transcript): readonly Item["parts"][] {
  const last = transcript.findLastIndex(({ author }) => author !== "user");
  return transcript.slice(last + 1).map(({ parts }) => parts);
}

/** The next turn of a run whose last turn is over. */
export function nextTurnOf({ run }: Standing): readonly FactBody[] {
  if (run === undefined) return [];
  return [{ type: "turn_started", runId: run.runId, turnId: turnIdOf(run.runId, run.turns + 1) }];
}

/** The intents to run the calls of a reply: the program runs them next. Not for calls that have one. */
export function intentsOf(
  { executions, items }: SessionState,
  ids: TurnIds,
  reply: Item,
  epoch: Epoch,
): readonly FactBody[] {
  const calls = reply.parts.filter((part): part is ToolCallPart => part.kind === "tool_call");
  const isStored = (id: ItemId): boolean =>
    executions.some((execution) => execution.itemId === id) ||
    items.toArray().some((item) => item.id === id);
  return calls.flatMap(({ callId, tool, input }, at): FactBody[] => {
    const result = programItemIdOf(ids.turnId, epoch, at + 1);
    if (input === undefined || isStored(result)) return [];
    const answers = { itemId: result, lane: at + 1, epoch: lastOfGeneration(epoch) };
    // Nothing is streamed, as in a call that a client carries out.
    return [{ type: "tool_execution_started", ...ids, callId, tool, input, ...answers }];
  });
}

/** The results that a program hands to the model with its next request, as far as they are not stored. */
export function resultsOf(
  { executions }: SessionState,
  transcript: Transcript,
): readonly FactBody[] {
  if (executions.length === 0) return [];
  const results = new Map<CallId, ToolResultPart>(); // the last one of each id
  for (const { parts } of transcript)
    for (const part of parts) if (part.kind === "tool_result") results.set(part.callId, part);
  return executions.flatMap((execution) => {
    const result = results.get(execution.callId);
    return result === undefined ? [] : settled(execution, result);
  });
}

/** How a program left its run. */
export type ProgramEnding =
  | { readonly outcome: "completed" | "aborted" }
  | { readonly outcome: "failed"; readonly cause: Cause };

/** Ends the turn and the run. A call whose result was not seen gets one that says so. */
export function endingFacts(context: FactContext, ending: ProgramEnding): readonly FactBody[] {
  const { standing, state, closes } = context;
  const { run } = standing;
  if (run === undefined) return [];
  const { runId: of, turn } = run;
  const unseen = state.executions.flatMap((execution) => settled(execution, unknownResult));
  const stop = ending.outcome === "completed" ? "end" : ending.outcome;
  const finishes =
    turn === undefined ? [] : factsFor({ do: "finish_turn", turnId: turn.turnId, stop }, context);
  return [...unseen, ...(finishes ?? []), { type: "run_finished", runId: of, closes, ...ending }];
}

const unknownResult = {
  status: "unknown",
  text: "the program that ran this call ended before its result was seen",
  synthetic: true,
} as const;

function settled(
  { runId: run, turnId, callId, tool, itemId: id }: FactOf<"tool_execution_started">,
  result: Pick<ToolResultPart, "status" | "text" | "output" | "synthetic">,
): readonly FactBody[] {
  const { status, text, output, synthetic } = result;
  const part: ToolResultPart = {
    kind: "tool_result",
    id: partIdOf(id, 1),
    callId,
    tool,
    status,
    text,
    ...(output === undefined ? {} : { output }),
    ...(synthetic === undefined ? {} : { synthetic }),
  };
  const ids = { runId: run, turnId };
  return [
    { type: "item_committed", item: { id, author: "tool", parts: [part], stop: "end" }, ...ids },
    { type: "tool_execution_finished", ...ids, callId, tool, status },
  ];
}
