import { isJsonObject } from "@millrace/core/json";
import type { Item, Json, JsonObject, Part } from "@millrace/core";
import type { ModelRequest, RequestSettings, ToolDescription } from "@millrace/core/ports";
import type { DeltaSink } from "../reply.ts";
import type { NativeTool } from "../protocol.ts";
import { legalName } from "./call-names.ts";

/** The names that a vendor is given for tools, both ways. Other names stay as they are. */
export interface WireNames {
  readonly toWire: ReadonlyMap<string, string>;
  readonly fromWire: ReadonlyMap<string, string>;
}

const longest = 64;

/**
 * Gives each tool whose name some vendor refuses, such as `fs.read_file` or `3d_render`, one that all
 * take: `fs_read_file`, `_3d_render`. Names that are alike then, or like another tool's own name, or
 * cut, end in a hash of the tool's own name. So a wire name depends on which tools there are, and not
 * on their order. `former` tools are in the transcript and no longer offered. They get names by the
 * same rule, and give way: the names of offered tools do not change with what was called before.
 * `native` tools have the vendor's names, and other tools give way to them.
 */
export function wireNames(
  tools: readonly string[],
  former: readonly string[] = [],
  native: ReadonlyMap<string, NativeTool> = new Map(),
): WireNames {
  const toWire = new Map<string, string>();
  const fromWire = new Map<string, string>();
  for (const [name, { names }] of native) {
    toWire.set(name, names[0] ?? name);
    for (const wire of names) fromWire.set(wire, name);
  }
  const reserved = new Set(fromWire.keys());
  const ordinary = tools.filter((name) => !native.has(name));
  const own = new Set(ordinary.filter((name) => legalName.test(name) && !reserved.has(name)));
  const odd = [...new Set(ordinary)].filter((name) => !own.has(name));
  const plain = Map.groupBy(odd, plainName);
  for (const name of odd.toSorted()) {
    const wanted = plainName(name);
    const isAlone = plain.get(wanted)?.length === 1 && !own.has(wanted) && !reserved.has(wanted);
    const isFree = isAlone && wanted.length <= longest;
    const isTaken = (wire: string): boolean =>
      fromWire.has(wire) || own.has(wire) || plain.has(wire);
    const wire = isFree ? wanted : hashedName(wanted, name, isTaken);
    toWire.set(name, wire);
    fromWire.set(wire, name);
  }
  const offered = new Set(tools);
  const kept = new Set([...own, ...former.filter((name) => legalName.test(name))]);
  for (const name of [...new Set(former)].filter((each) => !offered.has(each)).toSorted()) {
    const wanted = plainName(name);
    const isTaken = (wire: string): boolean =>
      fromWire.has(wire) || (kept.has(wire) && wire !== name) || reserved.has(wire);
    const isFree = wanted.length <= longest && !isTaken(wanted);
    const wire = isFree ? wanted : hashedName(wanted, name, isTaken);
    if (wire === name) continue;
    toWire.set(name, wire);
    fromWire.set(wire, name);
  }
  return { toWire, fromWire };
}

/** The wire names of a request: those of its tools, and of the tools in its transcript. */
export function wireNamesOf(
  { tools = [], updates = [], transcript }: ModelRequest,
  native?: ReadonlyMap<string, NativeTool>,
): WireNames {
  const former = transcript.flatMap(({ parts }) =>
    parts.flatMap((part) => ("tool" in part ? [part.tool] : [])),
  );
  const added = updates.flatMap((update) => update.added ?? []);
  return wireNames(
    [...tools, ...added].map(({ name }) => name),
    former,
    native,
  );
}

function plainName(name: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_-]/gu, "_");
  return /^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`;
}

/** Two hashes are alike about once in four billion; then the next one is as good. */
function hashedName(wanted: string, name: string, isTaken: (wire: string) => boolean): string {
  const wire = `${wanted.slice(0, longest - 9)}_${hashOf(name)}`;
  return isTaken(wire) ? hashedName(wanted, `${name}'`, isTaken) : wire;
}

/** FNV-1a, in 8 hexadecimal digits. */
function hashOf(name: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, "0");
}

/** The request with wire names: of the tools, in the transcript, and in the settings that choose a tool. */
export function withWireNames(request: ModelRequest, { toWire }: WireNames): ModelRequest {
  if (toWire.size === 0) return request;
  const { transcript, settings } = request;
  const named = (tool: ToolDescription): ToolDescription => ({
    ...tool,
    name: toWire.get(tool.name) ?? tool.name,
  });
  const updates = request.updates?.map((update) => ({
    ...update,
    added: update.added?.map(named),
    removed: update.removed?.map((name) => toWire.get(name) ?? name),
  }));
  return {
    ...request,
    tools: request.tools?.map(named),
    updates,
    transcript: transcript.map((item) => renameItem(item, toWire)),
    ...(settings === undefined ? {} : { settings: renameChoice(settings, toWire) }),
  };
}

function renameItem(item: Item, toWire: ReadonlyMap<string, string>): Item {
  const isOdd = (part: Part): boolean => "tool" in part && toWire.has(part.tool);
  if (!item.parts.some(isOdd)) return item;
  const parts = item.parts.map((part) =>
    "tool" in part ? { ...part, tool: toWire.get(part.tool) ?? part.tool } : part,
  );
  return { ...item, parts };
}

/** The settings by which vendors let a caller choose among tools. */
const choices = ["tool_choice", "toolConfig", "tool_config", "toolChoice"];

function renameChoice(
  settings: RequestSettings,
  toWire: ReadonlyMap<string, string>,
): RequestSettings {
  const changed = choices.flatMap((key): [string, Json][] => {
    const value = (settings as Partial<JsonObject>)[key];
    return value === undefined ? [] : [[key, renameIn(value, toWire)]];
  });
  return { ...settings, ...Object.fromEntries(changed) };
}

/** Any text that is a tool's name to the letter: each vendor has the name at another place. */
function renameIn(value: Json, toWire: ReadonlyMap<string, string>): Json {
  if (typeof value === "string") return toWire.get(value) ?? value;
  if (Array.isArray(value)) return value.map((each: Json) => renameIn(each, toWire));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, renameIn(each, toWire)]),
  );
}

/** Where the deltas of a reply go, with the tools' own names in place of the wire names. */
export function withOwnNames(sink: DeltaSink, { fromWire }: WireNames): DeltaSink {
  if (fromWire.size === 0) return sink;
  return {
    draft: () => sink.draft(),
    emit: (delta) => {
      const own = "tool" in delta ? fromWire.get(delta.tool) : undefined;
      sink.emit(own === undefined ? delta : ({ ...delta, tool: own } as typeof delta));
    },
  };
}
