import { checkJson, isJsonObject } from "@millrace/core/json";
import { partId } from "@millrace/core/model";
import type { CallId, Json, JsonObject, PartId } from "@millrace/core";
import type { ArgumentFault } from "@millrace/core/writing";
import type { Operation } from "../../protocol.ts";
import { failure } from "../../failure.ts";
import { chooseCallId } from "../call-id.ts";
import { appended, closing, labelled } from "./closing.ts";
import { listAt, pick, textAt } from "../read.ts";
import { broken, failed, noOperations } from "./state.ts";
import type {
  AnthropicMessagesState,
  BlockContent,
  CallBlock,
  Citations,
  Outcome,
} from "./state.ts";

const maxCalls = 128;
/** The part limit of a draft. */
const maxParts = 1_000;
/**
 * The vendor opens one block at a time. A limit, because each open block makes every delta slower.
 */
const maxOpen = 64;

/**
 * Starts a block and its part. A block that is open at the same index has ended, though its stop is
 * missing: some servers give every block one index.
 */
export function startBlock(
  state: AnthropicMessagesState,
  given: number | undefined,
  block: Json | undefined,
): Outcome {
  const index = given ?? state.next;
  const type = isJsonObject(block) ? nameAt(block, "type") : undefined;
  if (!isJsonObject(block) || type === undefined)
    return broken(state, "a block has no type", { index });
  const open = state.open.find((each) => each.index === index);
  if (open?.kind === "tool_use" && open.id !== undefined && open.id === block["id"]) {
    return { state, operations: noOperations }; // the same start again
  }
  if (open !== undefined) {
    const operations = closing(open, "left_open");
    const stopped = { ...state, open: state.open.filter((each) => each !== open) };
    const started = startBlock(stopped, index, block);
    return { ...started, operations: [...operations, ...started.operations] };
  }
  if (state.restarted && state.closed.has(index)) {
    const message = `block ${index} came again after a second start`;
    return failed(state, failure("contradiction", message, { index, type }));
  }
  if (state.parts >= maxParts || state.open.length >= maxOpen) {
    return failed(state, failure("too_many_parts", "more blocks than a reply has", { index }));
  }
  const id = partId(`p${state.parts + 1}`);
  const next = { ...state, parts: state.parts + 1, next: Math.max(state.next, index + 1) };
  if (type === "tool_use") return startCall(next, { index, partId: id }, block);
  const { content, operations } = contentOf(type, block, id);
  return {
    state: { ...next, open: [...state.open, { index, partId: id, ...content }] },
    operations,
  };
}

interface Opening {
  readonly content: BlockContent;
  readonly operations: readonly Operation[];
}

function contentOf(type: string, block: JsonObject, id: PartId): Opening {
  switch (type) {
    case "text": {
      let citations: Citations | undefined;
      for (const citation of listAt(block, "citations"))
        citations = { citation, before: citations };
      return {
        content: { kind: "text", citations },
        operations: [
          { op: "begin_part", partId: id, kind: "text" },
          ...appended(id, textAt(block, "text")),
        ],
      };
    }
    case "thinking":
      return {
        content: { kind: "thinking", signature: textAt(block, "signature") ?? "" },
        operations: [
          { op: "begin_part", partId: id, kind: "reasoning" },
          ...appended(id, textAt(block, "thinking")),
        ],
      };
    case "redacted_thinking":
      return {
        content: { kind: "redacted_thinking", data: textAt(block, "data") },
        operations: [{ op: "begin_part", partId: id, kind: "reasoning" }],
      };
    default: {
      const labels = pick(block, ["id", "name", "server_name", "caller"]);
      return {
        content: { kind: "other", block, labels, added: {}, partial: false },
        operations: [
          { op: "begin_part", partId: id, kind: "custom", name: type },
          ...labelled(id, labels),
        ],
      };
    }
  }
}

function startCall(
  state: AnthropicMessagesState,
  place: { readonly index: number; readonly partId: PartId },
  block: JsonObject,
): Outcome {
  const tool = nameAt(block, "name");
  if (state.calls + state.namelessCalls >= maxCalls) {
    return failed(state, failure("too_many_parts", `more than ${maxCalls} calls in one reply`));
  }
  if (tool === undefined && (textAt(block, "name") ?? "") !== "") {
    return broken(state, "the name of a call can't be one", { index: place.index });
  }
  if (tool === undefined) {
    const open = [...state.open, { ...place, kind: "nameless" } as const];
    // The part's number stays free for the next block.
    const next = { ...state, parts: state.parts - 1, open };
    return { state: { ...next, namelessCalls: state.namelessCalls + 1 }, operations: [] };
  }
  const callId: CallId = chooseCallId(block["id"], state.taken);
  const preset = presetOf(block["input"]);
  const content: CallBlock = { kind: "tool_use", id: block["id"], ...preset, filled: false };
  return {
    state: {
      ...state,
      calls: state.calls + 1,
      taken: new Set(state.taken).add(callId),
      open: [...state.open, { ...place, ...content }],
    },
    operations: [
      { op: "begin_part", partId: place.partId, kind: "tool_call", callId, tool },
      ...labelled(place.partId, pick(block, ["caller", "toolset_name"])),
    ],
  };
}

/** The type of a block or the name of a tool, or undefined if it is not valid. */
function nameAt(block: JsonObject, key: string): string | undefined {
  const name = textAt(block, key);
  const usable = name !== undefined && name !== "" && name.length <= 256 && name.isWellFormed();
  return usable ? name : undefined;
}

/** Input in the start of a block. The empty object is a placeholder for deltas. */
function presetOf(input: Json | undefined): Pick<CallBlock, "preset" | "fault"> {
  const nothing = input === undefined || input === null || input === "";
  if (nothing || (typeof input === "object" && Object.keys(input).length === 0)) {
    return { preset: undefined, fault: undefined };
  }
  const code = checkJson(input)?.code;
  // A value beyond the limits can't even be serialised.
  if (code === "too_deep" || code === "too_large") return { preset: undefined, fault: { code } };
  const fault: ArgumentFault | undefined = isExact(input) ? undefined : { code: "inexact_number" };
  return { preset: JSON.stringify(input), fault: code === undefined ? fault : { code } };
}

/**
 * True if no number was rounded when the event was parsed. Only needed here: streamed text is
 * exact.
 */
function isExact(value: Json): boolean {
  if (typeof value === "number") return !Number.isInteger(value) || Number.isSafeInteger(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every(isExact);
}
