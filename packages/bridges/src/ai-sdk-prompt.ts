import { isJsonObject, parseJson } from "@millrace/core/json";
import type {
  CustomPart,
  FilePart,
  Json,
  JsonObject,
  MediaPart,
  Part,
  ToolResultPart,
} from "@millrace/core";
import { resultText } from "@millrace/providers/protocol-kit";
import type { ModelTurn, ToolTurn, Turn, UserPart } from "@millrace/providers/protocol-kit";
import { replayedInput } from "./tool-call.ts";

/** One message of an AI SDK prompt, as models and `streamText` take it. */
export type AiSdkMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: (AiSdkText | AiSdkFile)[] }
  | { role: "assistant"; content: AiSdkAssistantPart[] }
  | { role: "tool"; content: AiSdkToolResult[] };

/** A part of an assistant's message. */
export type AiSdkAssistantPart =
  | AiSdkText
  | AiSdkFile
  | AiSdkReasoning
  | AiSdkToolCall
  | AiSdkToolResult
  | AiSdkCustom;

type Options = { providerOptions?: Record<string, JsonObject> };
/** Text. */
export type AiSdkText = { type: "text"; text: string } & Options;
/** Reasoning, as text. */
export type AiSdkReasoning = { type: "reasoning"; text: string } & Options;
/** A part of a vendor's own kind. */
export type AiSdkCustom = { type: "custom"; kind: `${string}.${string}` } & Options;
/** A file, by its bytes or its address. */
export type AiSdkFile = {
  type: "file";
  /** Bare in version 3 and for `streamText`, tagged since version 4. */
  data: Uint8Array | URL | { type: "data"; data: Uint8Array } | { type: "url"; url: URL };
  mediaType: string;
  filename?: string;
} & Options;
/** A call of a tool, with its whole input. */
export type AiSdkToolCall = {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: Json;
  providerExecuted?: boolean;
} & Options;
/** The result of a call. */
export type AiSdkToolResult = {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output:
    | { type: "text" | "error-text"; value: string }
    | { type: "json" | "error-json"; value: Json }
    | { type: "execution-denied"; reason?: string };
} & Options;

export interface PromptOptions {
  /** True if file data is tagged by its kind. */
  readonly tagged: boolean;
  /** Tests whether the model takes the URL of a file instead of its bytes. */
  readonly takesUrl: (mediaType: string, url: string) => boolean;
}

/**
 * Converts prepared turns to messages. Turns without any content that can be sent are left out.
 */
export function promptOf(turns: readonly Turn[], options: PromptOptions): AiSdkMessage[] {
  const ownCalls = new OwnCalls(turns);
  return turns.flatMap((turn): AiSdkMessage[] => {
    switch (turn.role) {
      case "user":
        return userMessage(turn.parts, options);
      case "model": {
        const content = turn.parts.flatMap((part) => modelPart(part, turn, ownCalls, options));
        return content.length === 0 ? [] : [{ role: "assistant", content }];
      }
      case "tool":
        return toolMessages(turn, options);
      default:
        turn satisfies never;
        return [];
    }
  });
}

function userMessage(parts: readonly UserPart[], options: PromptOptions): AiSdkMessage[] {
  const content = parts.map((part) =>
    part.kind === "text" ? { type: "text" as const, text: part.text } : filePart(part, options),
  );
  return content.length === 0 ? [] : [{ role: "user", content }];
}

/** Media follow the results in a user message, because few models take them inside a result. */
function toolMessages({ answers }: ToolTurn, options: PromptOptions): AiSdkMessage[] {
  const content = answers.map(({ result }): AiSdkToolResult => ({
    type: "tool-result",
    toolCallId: result.callId,
    toolName: result.tool,
    output: outputOf(result),
  }));
  const files = answers.flatMap(({ parts }) => parts);
  return [{ role: "tool", content }, ...userMessage(files, options)];
}

function outputOf(result: ToolResultPart): AiSdkToolResult["output"] {
  const { status, text, output } = result;
  if (status === "denied")
    return { type: "execution-denied", ...(text === "" ? {} : { reason: text }) };
  if (status !== "ok") return { type: "error-text", value: resultText(result) };
  if (text === "" && output !== undefined && typeof output !== "string") {
    return { type: "json", value: output };
  }
  return { type: "text", value: resultText(result) };
}

function modelPart(
  part: ModelTurn["parts"][number],
  turn: ModelTurn,
  ownCalls: OwnCalls,
  options: PromptOptions,
): AiSdkAssistantPart[] {
  switch (part.kind) {
    case "text":
      return [{ type: "text", text: part.text, ...kept(part.metadata?.["providerMetadata"]) }];
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...kept(part.opaque) }];
    case "tool_call":
      return [
        {
          type: "tool-call",
          toolCallId: part.callId,
          toolName: part.tool,
          input: replayedInput(part),
          ...kept(part.opaque),
        },
      ];
    case "media":
    case "file": {
      const file = filePart(part, options);
      const metadata = turn.native ? part.metadata?.["providerMetadata"] : undefined;
      return [{ ...file, ...kept(metadata) }];
    }
    case "custom":
      return ownCalls.keeps(part, turn) ? customPart(part) : [];
    default:
      part satisfies never;
      return [];
  }
}

/** Keeps provider options only. A provider reads only the entry with its own name. */
function kept(metadata: Json | undefined): Options {
  if (!isJsonObject(metadata) || Object.keys(metadata).length === 0) return {};
  const named = Object.entries(metadata).flatMap(([provider, facts]) =>
    isJsonObject(facts) ? [[provider, facts] as const] : [],
  );
  return { providerOptions: Object.fromEntries(named) };
}

function filePart(part: MediaPart | FilePart, options: PromptOptions): AiSdkFile | AiSdkText {
  const { mediaType } = part;
  const filename = part.kind === "file" ? { filename: part.name } : {};
  if (part.bytes !== undefined) {
    const data = options.tagged ? { type: "data" as const, data: part.bytes } : part.bytes;
    return { type: "file", data, mediaType, ...filename };
  }
  if (part.blob !== undefined) return { type: "text", text: `[file ${mediaType}, not here]` };
  const url = URL.canParse(part.url) ? new URL(part.url) : undefined;
  if (url === undefined || !options.takesUrl(mediaType, part.url)) {
    return { type: "text", text: `[file ${mediaType} at ${part.url}]` };
  }
  return {
    type: "file",
    data: options.tagged ? { type: "url", url } : url,
    mediaType,
    ...filename,
  };
}

/** Content that the provider produced itself: a tool run, or a part with its own type. */
function customPart({ name, value }: CustomPart): AiSdkAssistantPart[] {
  if (!isJsonObject(value)) return [];
  const options = kept(value["providerMetadata"]);
  const { kind, toolCallId, toolName, input } = value;
  if (value["type"] === "custom" && typeof kind === "string" && kind.includes(".")) {
    return [{ type: "custom", kind: kind as `${string}.${string}`, ...options }];
  }
  if (typeof toolCallId !== "string" || typeof toolName !== "string") return [];
  if (name === "tool-call") {
    const parsed = typeof input === "string" ? parseJson(input) : undefined;
    const parsedInput = parsed?.ok === true ? parsed.value : (input ?? {});
    const call = { type: "tool-call" as const, toolCallId, toolName, input: parsedInput };
    return [{ ...call, providerExecuted: true, ...options }];
  }
  const result = value["result"] ?? value["output"] ?? value["error"] ?? null;
  const failed = name === "tool-error" || value["isError"] === true;
  const output = { type: failed ? ("error-json" as const) : ("json" as const), value: result };
  return [{ type: "tool-result", toolCallId, toolName, output, ...options }];
}

/**
 * Calls that providers ran themselves. A vendor refuses a call without a result, unless the result
 * is still expected: the turn is paused, or waits for tools that Millrace runs.
 */
class OwnCalls {
  readonly #called = new Set<string>();
  readonly #answered = new Set<string>();

  constructor(turns: readonly Turn[]) {
    for (const turn of turns) {
      if (turn.role !== "model") continue;
      for (const part of turn.parts) {
        const id = ownCallId(part);
        if (id === undefined) continue;
        if (part.kind === "custom" && part.name === "tool-call") this.#called.add(id);
        else if (this.#called.has(id)) this.#answered.add(id);
      }
    }
  }

  keeps(part: CustomPart, turn: ModelTurn): boolean {
    if (isJsonObject(part.value) && part.value["type"] === "custom") return true;
    const id = ownCallId(part);
    if (id === undefined) return false;
    if (this.#answered.has(id)) return true;
    const waits = turn.paused || turn.parts.some(({ kind }) => kind === "tool_call");
    return part.name === "tool-call" && waits;
  }
}

const ownNames: ReadonlySet<string> = new Set(["tool-call", "tool-result", "tool-error"]);

function ownCallId(part: Part): string | undefined {
  if (part.kind !== "custom" || !ownNames.has(part.name) || !isJsonObject(part.value)) {
    return undefined;
  }
  const id = part.value["toolCallId"];
  return typeof id === "string" ? id : undefined;
}
