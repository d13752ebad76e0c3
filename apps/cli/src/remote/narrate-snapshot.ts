import { textOf } from "@millrace/core";
import type { Item, ItemId, Narration, SessionState } from "@millrace/core";

type Lane = SessionState["lanes"][number];
type DraftPart = Lane["draft"]["parts"][number];
type Part = Item["parts"][number];

/**
 * The narration from one state of a session to a later one, where the messages between them did not come:
 * after a long break a server sends a snapshot. What was narrated of a text is not narrated again; a text
 * that was written anew is narrated as another attempt.
 */
export function narrateSnapshot(before: SessionState, after: SessionState): readonly Narration[] {
  const known = new Set<ItemId>([...before.items].map(({ id }) => id));
  const fresh = [...after.items].filter(({ id }) => !known.has(id));
  const written = new Set<ItemId>([...fresh, ...after.lanes.map(laneItem)].map(({ id }) => id));
  const lost = before.lanes.filter(({ itemId }) => !written.has(itemId) && !known.has(itemId));
  return [
    ...lost.map(({ itemId }) => superseded(itemId)),
    ...decisions(before, after),
    ...replaced(before, after),
    ...fresh.flatMap((item) => narrateItem(before, item)),
    ...after.lanes.filter(isReply).flatMap((lane) => narrateLane(before, lane)),
    ...executions(before, after),
    ...ending(before, after),
  ];
}

function laneItem({ itemId }: Lane): { readonly id: ItemId } {
  return { id: itemId };
}

/** A lane with a call id has the output of a tool. */
function isReply({ callId }: Lane): boolean {
  return callId === undefined;
}

function superseded(itemId: ItemId): Narration {
  return { type: "attempt_superseded", itemId };
}

/** Answers to questions that were open. */
function decisions(before: SessionState, after: SessionState): readonly Narration[] {
  return after.approvals.flatMap(({ asked: { approvalId, callId }, answer }): Narration[] => {
    const open = before.approvals.find(({ asked }) => asked.approvalId === approvalId);
    if (answer === undefined || open === undefined || open.answer !== undefined) return [];
    return [{ type: "approval_resolved", approvalId, callId, decision: answer.decision }];
  });
}

/** Items that stand in the place of others, such as after an erasure. A snapshot has copies: only content counts. */
function replaced(before: SessionState, after: SessionState): readonly Narration[] {
  const contents = new Map([...before.items].map(({ id, parts }) => [id, JSON.stringify(parts)]));
  return [...after.items].flatMap((item): readonly Narration[] => {
    const content = contents.get(item.id);
    const isSame = content === undefined || content === JSON.stringify(item.parts);
    return isSame ? [] : [{ type: "item_replaced", item }];
  });
}

function narrateItem(before: SessionState, item: Item): readonly Narration[] {
  const committed: Narration = { type: "item_committed", item };
  if (item.author === "user" || item.author === "tool") return [committed];
  return [...narrateParts(before, item.id, item.parts), committed];
}

function narrateLane(before: SessionState, { itemId, draft, epoch }: Lane): readonly Narration[] {
  const lane = before.lanes.find((open) => open.itemId === itemId);
  const isOther = lane !== undefined && lane.epoch !== epoch;
  return narrateParts(before, itemId, draft.parts.map(asPart), isOther);
}

/** A part of an item, finished or not, as far as it is narrated. */
type Shown = Pick<Part, "id" | "kind"> & {
  readonly text: string;
  readonly call?: Extract<Part, { readonly kind: "tool_call" }>;
};

function asPart(part: DraftPart): Part | Shown {
  if (part.state === "committed") return part.part;
  return { id: part.id, kind: part.begin.kind, text: textOf(part) };
}

/** The parts of an item, without what was narrated of them. All of them if one of their texts was written anew. */
function narrateParts(
  before: SessionState,
  itemId: ItemId,
  parts: readonly (Part | Shown)[],
  isOther = false,
): readonly Narration[] {
  const lane = before.lanes.find((open) => open.itemId === itemId);
  const texts = new Map(lane?.draft.parts.map(asPart).map((part) => [part.id, textIn(part)]));
  const now = new Map(parts.map((part) => [part.id, textIn(part)]));
  const grows = [...texts].every(([id, text]) => (now.get(id) ?? "").startsWith(text));
  const isAnew = lane !== undefined && (isOther || !grows);
  const narrations = parts.flatMap((part): readonly Narration[] => {
    const said = isAnew ? "" : (texts.get(part.id) ?? "");
    return narratePart(itemId, part, textIn(part).slice(said.length));
  });
  return isAnew ? [superseded(itemId), ...narrations] : narrations;
}

function textIn(part: Part | Shown): string {
  return (part.kind === "text" || part.kind === "reasoning") && "text" in part ? part.text : "";
}

function narratePart(itemId: ItemId, part: Part | Shown, text: string): readonly Narration[] {
  const { id: partId, kind } = part;
  if (kind === "tool_call" && "callId" in part && part.input !== undefined) {
    const { callId, tool, input } = part;
    return [{ type: "tool_call_ready", callId, tool, input }];
  }
  if (text === "") return [];
  if (kind === "text") return [{ type: "assistant_text_delta", itemId, partId, text }];
  return kind === "reasoning" ? [{ type: "reasoning_delta", itemId, partId, text }] : [];
}

/** Tools that run, with what they last reported. */
function executions(before: SessionState, after: SessionState): readonly Narration[] {
  return after.executions.flatMap(({ callId, tool, input, itemId }): Narration[] => {
    const isKnown = before.executions.some((each) => each.itemId === itemId);
    const message = after.lanes.find((lane) => lane.callId === callId)?.message;
    return [
      ...(isKnown ? [] : [{ type: "tool_execution_started", callId, tool, input } as const]),
      ...(message === undefined
        ? []
        : [{ type: "tool_execution_update", callId, tool, message } as const]),
    ];
  });
}

/** The end of the run that was on. */
function ending(before: SessionState, { run, ended }: SessionState): readonly Narration[] {
  const was = before.run?.runId;
  if (was === undefined || run?.runId === was || ended?.runId !== was) return [];
  return [{ ...ended, type: "run_finished", runId: was }];
}
