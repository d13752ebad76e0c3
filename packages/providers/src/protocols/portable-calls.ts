import { isJsonObject, isWellFormed, parseJson } from "@millrace/core/json";
import type { PartId } from "@millrace/core";
import type { ClosePart, NativeTool, Operation } from "../protocol.ts";
import { isSameJson } from "../reply.ts";
import type { Reading } from "../reply.ts";
import { keptCall } from "./native-tools.ts";

/** The state of the protocol, and the calls of the vendor's own tools that are being written. */
export interface PortableState<State> {
  readonly inner: State;
  readonly open: ReadonlyMap<PartId, OpenCall>;
}

interface OpenCall {
  readonly name: string;
  readonly tool: NativeTool;
  readonly raw: string;
}

/** A longer input is no call of these tools. It is passed on as it is. */
const longest = 1_000_000;

/**
 * Reads calls of the vendor's own tools into the input that all vendors share. Such a call is held until
 * it is whole, because its input can't be read before. What the vendor wrote is kept in the call's opaque
 * data. A call that is cut, or can't be read, stays as the vendor wrote it: the tool's schema refuses it,
 * and the model gets the reason.
 */
export function withPortableCalls<Event, State>(
  reading: Reading<Event, State>,
  native: ReadonlyMap<string, NativeTool>,
): Reading<Event, PortableState<State>> {
  return {
    initial: (context) => ({ inner: reading.initial(context), open: new Map() }),
    ...(reading.whole === undefined ? {} : { whole: reading.whole }),
    step: ({ inner, open }, event) => {
      const stepped = reading.step(inner, event);
      const read = portable(stepped.operations, open, native);
      return {
        ...stepped,
        state: { inner: stepped.state, open: read.open },
        operations: read.operations,
      };
    },
    halt: ({ inner, open }, end) => {
      const halted = reading.halt(inner, end);
      const read = portable(halted.operations, open, native);
      // The reply reader cuts these, with what had come of them.
      const left = [...read.open].map(([partId, { raw }]) => appended(partId, raw));
      return { ...halted, operations: [...read.operations, ...left] };
    },
  };
}

interface Portable {
  readonly open: ReadonlyMap<PartId, OpenCall>;
  readonly operations: readonly Operation[];
}

function portable(
  operations: readonly Operation[],
  before: ReadonlyMap<PartId, OpenCall>,
  native: ReadonlyMap<string, NativeTool>,
): Portable {
  const isTouched = (operation: Operation): boolean =>
    operation.op === "begin_part"
      ? operation.kind === "tool_call" && native.get(operation.tool)?.read !== undefined
      : before.has(operation.partId);
  // Nearly all operations have nothing to do with these tools.
  if (!operations.some(isTouched)) return { open: before, operations };
  const open = new Map(before);
  const read = operations.flatMap((operation): readonly Operation[] => {
    if (operation.op === "begin_part") {
      const tool = operation.kind === "tool_call" ? native.get(operation.tool) : undefined;
      if (tool?.read !== undefined && operation.kind === "tool_call") {
        open.set(operation.partId, { name: operation.tool, tool, raw: "" });
      }
      return [operation];
    }
    const call = open.get(operation.partId);
    if (call === undefined) return [operation];
    if (operation.op === "append_text") {
      const raw = call.raw + operation.chunk;
      if (raw.length <= longest) {
        open.set(operation.partId, { ...call, raw });
        return [];
      }
      open.delete(operation.partId);
      return [appended(operation.partId, raw)];
    }
    if (operation.op !== "close_part") return [operation];
    open.delete(operation.partId);
    return closed(call, operation);
  });
  return { open, operations: read };
}

function closed({ name, tool, raw }: OpenCall, close: ClosePart): readonly Operation[] {
  const { partId, whole = raw } = close;
  const { opaque } = close;
  const kept = { ...(isJsonObject(opaque) ? opaque : {}), ...keptCall(name, whole) };
  const asWritten = [appended(partId, raw), { ...close, opaque: kept }];
  const isContradicted = raw !== "" && !whole.startsWith(raw) && !isSameJson(raw, whole);
  if (close.fault !== undefined || isContradicted || !isWellFormed(whole)) return asWritten;
  // Vendors leave out the arguments of a function without parameters.
  const parsed = parseJson(whole.trim() === "" ? "{}" : whole);
  if (!parsed.ok || !isJsonObject(parsed.value)) return asWritten;
  const input = tool.read?.(parsed.value, name);
  if (input === undefined) return asWritten;
  const { whole: _, ...rest } = close;
  return [appended(partId, JSON.stringify(input)), { ...rest, opaque: kept }];
}

function appended(partId: PartId, chunk: string): Operation {
  return { op: "append_text", partId, chunk };
}
