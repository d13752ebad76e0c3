import { partId } from "@millrace/core/model";
import type { JsonObject, PartId } from "@millrace/core";
import type { PartOpening } from "@millrace/core/writing";
import { failure } from "../../failure.ts";
import { chooseCallId } from "../call-id.ts";
import { objectAt, textAt } from "../read.ts";
import { closing } from "./closing.ts";
import { broken, failed, noOperations, unknown } from "./state.ts";
import type { BedrockConverseState, BlockContent, OpenBlock, Outcome } from "./state.ts";

const maxCalls = 128;
/** The part limit of a draft. */
const maxParts = 1_000;
/** The vendor opens one block at a time. Each open block makes every delta slower. */
const maxOpen = 64;

/** The index of an event's block. */
export function indexOf(data: JsonObject): number | undefined {
  const value = data["contentBlockIndex"];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The open block with this index; the newest one if there is no index. */
export function openBlock(
  { open }: BedrockConverseState,
  index: number | undefined,
): OpenBlock | undefined {
  const last = open.at(-1);
  if (index === undefined || last?.index === index) return last;
  return open.find((block) => block.index === index);
}

/** Starts a block that an event announces. Text and reasoning are not announced: a delta begins them. */
export function startBlock(
  state: BedrockConverseState,
  index: number | undefined,
  start: JsonObject,
): Outcome {
  const [name] = Object.keys(start);
  if (name === undefined) return { state, operations: noOperations };
  const block = objectAt(start, name);
  if (block === undefined)
    return broken(state, "the start of a block is no object", { block: name });
  if (name === "toolUse" && block["type"] !== "server_tool_use")
    return startCall(state, index, block);
  if (name === "image") {
    const mediaType = `image/${textAt(block, "format") ?? "png"}`;
    return begin(state, index, { kind: "media", mediaType }, { kind: "image", bytes: undefined });
  }
  const own = { input: undefined, content: undefined, partial: false } as const;
  const usable = name.length <= 256 && name.isWellFormed();
  if (!usable) return broken(state, "the type of a block can't be one");
  return begin(state, index, { kind: "custom", name }, { kind: "own", name, start: block, ...own });
}

/**
 * Begins a part and its block. A block that is open at the same index has ended, though its stop is
 * missing.
 */
export function begin(
  state: BedrockConverseState,
  index: number | undefined,
  opening: PartOpening,
  content: BlockContent,
): Outcome {
  const place = placeOf(state, index);
  if ("code" in place) return failed(state, place);
  const { before, operations, id } = place;
  const block: OpenBlock = { index: place.index, partId: id, ...content };
  return {
    state: { ...before, parts: before.parts + 1, open: [...before.open, block] },
    operations: [...operations, { op: "begin_part", partId: id, ...opening }],
  };
}

/** The place of a new block, after an open one of its index was closed. */
function placeOf(
  state: BedrockConverseState,
  given: number | undefined,
):
  | {
      readonly before: BedrockConverseState;
      readonly operations: Outcome["operations"];
      readonly index: number;
      readonly id: PartId;
    }
  | ReturnType<typeof failure> {
  const index = given ?? (state.open.at(-1)?.index ?? -1) + 1;
  const old = state.open.find((block) => block.index === index);
  const { state: before, operations } =
    old === undefined ? { state, operations: noOperations } : closeBlock(state, old);
  if (before.parts >= maxParts || before.open.length >= maxOpen) {
    return failure("too_many_parts", "more blocks than a reply has", { index });
  }
  return { before, operations, index, id: partId(`p${before.parts + 1}`) };
}

function startCall(
  state: BedrockConverseState,
  index: number | undefined,
  block: JsonObject,
): Outcome {
  const name = textAt(block, "name") ?? "";
  if (state.calls + state.namelessCalls >= maxCalls) {
    return failed(state, failure("too_many_parts", `more than ${maxCalls} calls in one reply`));
  }
  if (name.length > 256 || !name.isWellFormed()) {
    return broken(state, "the name of a call can't be one", { index: index ?? null });
  }
  const id = block["toolUseId"];
  if (name === "") return startNameless(state, index);
  const callId = chooseCallId(id, state.taken);
  const opening = { kind: "tool_call", callId, tool: name } as const;
  const begun = begin(state, index, opening, { kind: "call", id, filled: false });
  if (begun.failure !== undefined) return begun;
  const taken = new Set(state.taken).add(callId);
  return { ...begun, state: { ...begun.state, taken, calls: state.calls + 1 } };
}

function startNameless(state: BedrockConverseState, index: number | undefined): Outcome {
  const place = placeOf(state, index);
  if ("code" in place) return failed(state, place);
  const { before, operations, id } = place;
  const block: OpenBlock = { index: place.index, partId: id, kind: "nameless" };
  const open = [...before.open, block];
  return { state: { ...before, open, namelessCalls: before.namelessCalls + 1 }, operations };
}

/** Ends a block that the vendor stops. A stop without an open block loses nothing. */
export function stopBlock(state: BedrockConverseState, index: number | undefined): Outcome {
  const block = openBlock(state, index);
  return block === undefined ? unknown(state) : closeBlock(state, block);
}

/** Ends a block. A call without arguments is held until the stop reason arrives. */
function closeBlock(state: BedrockConverseState, block: OpenBlock): Outcome {
  const isHeld = block.kind === "call" && !block.filled;
  return {
    state: {
      ...state,
      open: state.open.filter((open) => open !== block),
      held: isHeld ? [...state.held, block.partId] : state.held,
    },
    operations: isHeld ? noOperations : closing(block),
  };
}
