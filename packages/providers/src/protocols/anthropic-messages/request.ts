import { isJsonObject } from "@millrace/core/json";
import type { Item, Json, JsonObject, Transcript } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { NativeTool, RequestTarget, WireRequest } from "../../protocol.ts";
import { bindingBeta, claudeBinding } from "../claude-binding.ts";
import { byCallName, nativeToolsOf } from "../native-tools.ts";
import { askFor } from "../output.ts";
import { prepare, prepareWithUpdates } from "../prepare.ts";
import type { ModelPart } from "../prepare.ts";
import { listAt, objectAt, textAt } from "../read.ts";
import { RequestRefusal } from "../refusal.ts";
import { applySettings } from "../settings.ts";
import { withBreakpoints } from "./cache.ts";
import { isBlank, withoutLastSpace } from "./events.ts";
import { entriesOf, finished, isOwnWork } from "./messages.ts";
import { defaultMaxTokens } from "./max-tokens.ts";
import { merged } from "./entry.ts";
import type { Entry } from "./entry.ts";
import { claude } from "./models.ts";
import { nativeTool } from "./native-tool.ts";
import { outputFields } from "./output.ts";
import { paired } from "./pairs.ts";
import { anthropicSettings } from "./settings.ts";
import { withThinking } from "./thinking.ts";
import { betas as knownBetas, features, withPlainNotes, withPlainTools } from "./features.ts";
import { summaryFields, withSummary } from "./summary.ts";
import { declaredNames, formerTools, toolsOf } from "./tools.ts";

export const protocolId = "anthropic-messages";

/**
 * Builds the request for a transcript. The vendor's own settings go into the body; `betas` becomes its
 * header.
 */
export function request(modelRequest: ModelRequest, target: RequestTarget): WireRequest {
  const author = `${protocolId}/${target.model}`;
  const { off } = target;
  const takesUpdates = claude(target.model).takesUpdates && off?.has(features.system) !== true;
  const isPlain = takesUpdates && off?.has(features.tools) === true;
  const plain = isPlain || !takesUpdates ? withPlainTools(modelRequest) : modelRequest;
  const given = off?.has(features.notes) === true ? withPlainNotes(plain) : plain;
  const conversed = { ...given, transcript: trimPaused(modelRequest.transcript, author) };
  const prepared = (takesUpdates ? prepareWithUpdates : prepare)(conversed, author, { goesOn });
  const turns = off?.has(features.summaries) === true ? prepared : withSummary(prepared, author);
  const { fields: own, shared } = applySettings(anthropicSettings, modelRequest, target.model);
  const {
    betas,
    system,
    tools: _,
    tool_choice: choice,
    ...fieldsGiven
  } = own as Partial<JsonObject>;
  const native = nativeToolsOf(given.tools ?? [], { nativeTool }, target.model);
  const declared = toolsOf(given.tools ?? [], own, native);
  const former = declared.length === 0 ? formerTools(turns) : [];
  // Merged again, because a dropped block may have separated two messages of one role.
  const pairs = merged(paired(entriesOf(turns, byCallName(native)), declaredNames(declared)));
  const { entries, settings } = withThinking(pairs, fieldsGiven as JsonObject, target.model);
  const { instructions = "", fields } = askFor(modelRequest, (output) =>
    outputFields(output, settings, target.model),
  );
  const bound = claudeBinding(settings, target);
  const body: JsonObject = {
    max_tokens: defaultMaxTokens(settings, target.model),
    ...settings,
    ...bound,
    ...fields,
    ...summaryFields(modelRequest, off),
    ...systemOf(instructions, system),
    ...toolFields(declared, former, choice),
    ...containerOf(modelRequest.transcript, author, entries, settings),
    model: target.model,
    messages: finished(entries, { mayEndAnyhow: modelRequest.summarise !== undefined }),
    stream: true,
  };
  return {
    path: "/v1/messages",
    headers: {
      "anthropic-version": "2023-06-01",
      ...betaHeader(betas, [
        ...toolBetas(native),
        ...(hasFiles(entries) ? [filesBeta] : []),
        ...(bound === undefined ? [] : [bindingBeta]),
        ...(entries.some(changesTools) ? [knownBetas.tools] : []),
        ...(entries.some(({ isNote }) => isNote === true) ? [knownBetas.notes] : []),
        ...(modelRequest.summarise !== undefined || turns !== prepared
          ? [knownBetas.summaries]
          : []),
      ]),
    },
    body: withBreakpoints(body, shared.cache),
  };
}

/**
 * Trims the last text of paused turns: the vendor refuses trailing white space in the last turn, and a turn
 * is sent alike while it is last and afterwards.
 */
function trimPaused(transcript: Transcript, author: string): Transcript {
  if (!transcript.some(({ stop }) => stop === "paused")) return transcript;
  return transcript.map((item): Item => {
    const last = item.parts.at(-1);
    if (item.stop !== "paused" || item.model !== author || last?.kind !== "text") return item;
    const text = withoutLastSpace(last.text);
    return { ...item, parts: [...item.parts.slice(0, -1), { ...last, text }] };
  });
}

/** True if a paused turn contains unfinished work of the vendor. Text alone can't be resumed. */
function goesOn(parts: readonly ModelPart[]): boolean {
  return parts.some((part) => part.kind === "custom" && isOwnWork(part.name));
}

/** The request's instructions, then those of the settings. The vendor refuses empty ones. */
function systemOf(instructions: string, own: Json | undefined): JsonObject {
  const given = Array.isArray(own) ? (own as readonly Json[]) : [textBlock(own ?? "")];
  const more = given.filter(
    (block) => isJsonObject(block) && !isBlank(textAt(block, "text") ?? ""),
  );
  if (isBlank(instructions)) return more.length === 0 ? {} : { system: more };
  const text = instructions.toWellFormed();
  return { system: more.length === 0 ? text : [textBlock(text), ...more] };
}

function textBlock(text: Json): JsonObject {
  return { type: "text", text };
}

function toolFields(
  declared: readonly JsonObject[],
  former: readonly JsonObject[],
  choice: Json | undefined,
): JsonObject {
  if (former.length > 0) return { tools: former, tool_choice: { type: "none" } };
  // The vendor refuses a tool choice without tools.
  if (declared.length === 0) return {};
  return { tools: declared, ...(choice === undefined ? {} : { tool_choice: choice }) };
}

/** Names the container in which the vendor's code waits for the answers to its calls. */
function containerOf(
  transcript: Transcript,
  author: string,
  entries: readonly Entry[],
  settings: JsonObject,
): JsonObject {
  const own = settings["container"];
  if (typeof own === "string" || (isJsonObject(own) && textAt(own, "id") !== undefined)) return {};
  const waits = entries
    .findLast(({ role }) => role === "assistant")
    ?.content.some((block) => objectAt(block ?? {}, "caller")?.["tool_id"] !== undefined);
  if (waits !== true || entries.at(-1)?.role !== "user") return {};
  const item = transcript.findLast(({ model }) => model === author);
  const evidence = isJsonObject(item?.evidence) ? item.evidence : {};
  const id = textAt(objectAt(evidence, "container") ?? {}, "id");
  if (id === undefined) return {};
  return { container: isJsonObject(own) ? { ...own, id } : id };
}

function changesTools({ role, content }: Entry): boolean {
  return role === "system" && content.some((block) => block?.["type"] !== "text");
}

/** Files by their ids were a beta feature, and some servers still want its name. */
const filesBeta = "files-api-2025-04-14";

function hasFiles(entries: readonly Entry[]): boolean {
  const blocks = entries.flatMap(({ content }) =>
    content.flatMap((block) => [block, ...listAt(block, "content").filter(isJsonObject)]),
  );
  return blocks.some(
    (block) => block?.["file_id"] !== undefined || objectAt(block, "source")?.["type"] === "file",
  );
}

/** The features that the vendor's own tools need. */
function toolBetas(native: ReadonlyMap<string, NativeTool>): readonly string[] {
  return [...native.values()].flatMap((tool) => tool.betas ?? []);
}

/** The features that the settings name, and those that the request needs. */
function betaHeader(betas: Json | undefined, more: readonly string[]): Record<string, string> {
  const given = Array.isArray(betas) ? (betas as readonly Json[]) : [betas ?? []].flat();
  const names = new Set<string>();
  for (const name of [...given, ...more]) {
    if (typeof name !== "string" || !/^[\w.,-]+$/.test(name)) {
      const message = `Anthropic's Messages API does not take ${JSON.stringify(name)} among betas: use names such as "files-api-2025-04-14"`;
      throw new RequestRefusal(message, { setting: "betas" });
    }
    names.add(name);
  }
  return names.size === 0 ? {} : { "anthropic-beta": [...names].join(",") };
}
