import { isJsonObject, parseJson } from "@millrace/core/json";
import type { JsonObject, ToolCallPart } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import type { NativeTool, Protocol } from "../protocol.ts";
import { objectAt, textAt } from "./read.ts";
import { RequestRefusal } from "./refusal.ts";

/**
 * The offered tools that the vendor has itself, by the names of the tools. A vendor has one tool of each
 * kind: a second one of a kind is an ordinary function.
 */
export function nativeToolsOf(
  tools: readonly ToolDescription[],
  { nativeTool }: Pick<Protocol<never, never>, "nativeTool">,
  model: string,
): ReadonlyMap<string, NativeTool> {
  const found = new Map<string, NativeTool>();
  const kinds = new Set<string>();
  const names = new Set<string>();
  for (const { name, vendor } of tools) {
    const isFirst = !names.has(name);
    names.add(name);
    if (vendor === undefined || !isFirst || kinds.has(vendor.kind)) continue;
    const native = vendor.native === false ? undefined : nativeTool?.(vendor, model);
    if (native === undefined) continue;
    kinds.add(vendor.kind);
    found.set(name, native);
  }
  return found;
}

/** The vendor's own tools by each name that a call of them may have. */
export function byCallName(
  native: ReadonlyMap<string, NativeTool>,
): ReadonlyMap<string, NativeTool> {
  return new Map([...native.values()].flatMap((tool) => tool.names.map((name) => [name, tool])));
}

/** The refusal of a choice of one of the vendor's own tools, for vendors that have no field for it. */
export function refuseChoice(vendor: string, tool: string): RequestRefusal {
  const message = `${vendor} can't be told to call ${tool}, which is its own tool: leave toolChoice out, use "required", or offer the tool with native: false`;
  return new RequestRefusal(message, { setting: "toolChoice" });
}

/** What the vendor wrote for a call of its own tool. */
export interface NativeCall {
  readonly tool: string;
  /** Undefined for a call that can't run. */
  readonly input: JsonObject | undefined;
}

/** The opaque data of a call that keep what the vendor wrote, to the letter. */
export function keptCall(tool: string, raw: string): JsonObject {
  return { native: { tool, raw } };
}

/** Reads what `keptCall` wrote, if the vendor's tool is still offered under that name. */
export function nativeCallOf(
  { opaque, input }: ToolCallPart,
  offered: { readonly has: (name: string) => boolean },
): NativeCall | undefined {
  const kept = isJsonObject(opaque) ? objectAt(opaque, "native") : undefined;
  const tool = textAt(kept, "tool");
  if (tool === undefined || !offered.has(tool)) return undefined;
  // A call with a fault is sent without its input.
  if (input === undefined) return { tool, input };
  const raw = textAt(kept, "raw") ?? "";
  const parsed = parseJson(raw.trim() === "" ? "{}" : raw);
  return { tool, input: parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined };
}
