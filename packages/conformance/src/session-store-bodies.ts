import { packEpoch } from "@millrace/core/ports";
import type { CommitRequest, Epoch, PeopleFact } from "@millrace/core/ports";
import { approvalId, callId, inputId, itemId, partId, runId, turnId } from "@millrace/core/writing";
import type { Fact, InputId, Item, RunId, TurnId } from "@millrace/core";
import type { FactBody, FactOf } from "@millrace/core/writing";

export const run: RunId = runId("run_1");
export const turn: TurnId = turnId("turn_1");

export function epochOf(generation: number, attempt = 1, incarnation = 1): Epoch {
  return packEpoch({ incarnation, generation, attempt });
}

export function textItem(id: string, text = `text of ${id}`): Item {
  const part = { kind: "text", id: partId("part_1"), text } as const;
  return { id: itemId(id), author: "model", parts: [part], stop: "end" };
}

export function committed(
  lane: number,
  epoch: Epoch,
  item: Item = textItem(`item_${lane}`),
): CommitRequest {
  return { fact: { type: "item_committed", item, lane, epoch, runId: run, turnId: turn } };
}

export function prompt(id: string, text = `prompt ${id}`): PeopleFact & { inputId: InputId } {
  const part = { kind: "text", id: partId("part_1"), text } as const;
  return {
    type: "input_accepted",
    inputId: inputId(id),
    input: { kind: "prompt", parts: [part] },
  };
}

export function takenBack(id: string): PeopleFact {
  return { type: "queue_updated", inputId: inputId(id), change: "taken_back" };
}

/** The item of an input. It has no lane. */
export function inputItem(id: string): FactBody {
  const item: Item = { ...textItem(`item_of_${id}`), author: "user" };
  return { type: "item_committed", item, inputId: inputId(id), runId: run };
}

export function asked(id: string): FactBody {
  return {
    type: "approval_requested",
    runId: run,
    turnId: turn,
    approvalId: approvalId(id),
    callId: callId(`call_of_${id}`),
    tool: "delete_file",
    input: { path: "/a" },
    hash: "sha256:0",
  };
}

export function answered(id: string, decision: "allow" | "deny" = "allow"): PeopleFact {
  return {
    type: "approval_resolved",
    approvalId: approvalId(id),
    callId: callId(`call_of_${id}`),
    decision,
  };
}

type Intent = Omit<FactOf<"tool_execution_started">, "v" | "n" | "sessionId" | "time">;

export function intentOf(lane: number, epoch: Epoch): Intent {
  return {
    type: "tool_execution_started",
    runId: run,
    turnId: turn,
    callId: callId(`call_${lane}`),
    tool: "search",
    input: { q: "a" },
    itemId: itemId(`item_${lane}`),
    lane,
    epoch,
  };
}

export function settlementOf(lane: number): NonNullable<CommitRequest["settlement"]> {
  const callOf = callId(`call_${lane}`);
  return [
    {
      type: "tool_execution_finished",
      runId: run,
      turnId: turn,
      callId: callOf,
      tool: "search",
      status: "ok",
    },
  ];
}

export function turnFinished(closes: Epoch): FactBody {
  return { type: "turn_finished", runId: run, turnId: turn, stop: "end", closes };
}

export function runFinished(closes: Epoch): FactBody {
  return { type: "run_finished", runId: run, outcome: "completed", closes };
}

/** A fact without the fields that the store adds. */
export function bodyOf(fact: Fact | undefined): unknown {
  if (fact === undefined) return undefined;
  const { v: _, n: __, sessionId: ___, time: ____, ...body } = fact;
  return body;
}
