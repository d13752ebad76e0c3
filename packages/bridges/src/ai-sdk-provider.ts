import { MillraceError } from "@millrace/core";
import { decodeBase64 } from "@millrace/core/json";
import type { Json, Model, Usage } from "@millrace/core";
import type { ModelRequest, Reply, ToolDescription } from "@millrace/core/ports";
import { aiSdkRequestSettings } from "./request-settings.ts";
import { TranscriptBuilder, keptIn } from "./transcript-builder.ts";
import type { AiSdkCallOptions } from "./ai-sdk-model.ts";
import { fieldsOf, listOf, plain, plainObject, textOr } from "./read.ts";
import type { Fields } from "./read.ts";
import { wholeReply } from "./whole-reply.ts";

/** A language model for the AI SDK, version 4 of its specification. */
export interface AiSdkOwnModel {
  readonly specificationVersion: "v4";
  readonly provider: "millrace";
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(options: AiSdkCallOptions): Promise<AiSdkGenerated>;
  doStream(options: AiSdkCallOptions): Promise<never>;
}

/** The reply of a model, as the AI SDK takes it. */
export interface AiSdkGenerated {
  content: AiSdkGeneratedPart[];
  finishReason: { unified: "stop" | "tool-calls" | "length"; raw: string };
  /** Counts of tokens, as far as they are known. */
  usage: {
    inputTokens: Record<"total" | "noCache" | "cacheRead" | "cacheWrite", number | undefined>;
    outputTokens: Record<"total" | "text" | "reasoning", number | undefined>;
  };
  warnings: never[];
}

/** One piece of a reply. */
export type AiSdkGeneratedPart = (
  | { type: "text" | "reasoning"; text: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: string }
) & { providerMetadata?: Record<string, { [name: string]: Json }> };

/** A provider of language models for the AI SDK. */
export interface AiSdkProvider {
  readonly specificationVersion: "v4";
  languageModel(id: string): AiSdkOwnModel;
  embeddingModel(id: string): never;
  imageModel(id: string): never;
}

/**
 * Models of Millrace as a provider for the AI SDK. The settings of a call are passed on, and beside them
 * `providerOptions.millrace`, for the vendor's own fields.
 */
export function aiSdkProvider(choose: (id: string) => Model): AiSdkProvider {
  const none = (id: string): never => {
    throw new MillraceError(
      "invalid_definition",
      `this provider has language models only, not ${id}`,
    );
  };
  return {
    specificationVersion: "v4",
    languageModel: (id) => ownModel(id, choose(id)),
    embeddingModel: none,
    imageModel: none,
  };
}

function ownModel(modelId: string, model: Model): AiSdkOwnModel {
  return {
    specificationVersion: "v4",
    provider: "millrace",
    modelId,
    supportedUrls: { "*/*": [/^https?:/] },
    doGenerate: async (options) => generated(await wholeReply(model, requestOf(fieldsOf(options)))),
    doStream: async () => {
      const why = "this provider streams to the viewers of a session, and not to its caller";
      throw new MillraceError("invalid_definition", `${why}: call generateText`);
    },
  };
}

function requestOf(options: Fields): ModelRequest {
  const tools = listOf(options["tools"]).map(toolOf);
  const { type, name, schema } = fieldsOf(options["responseFormat"]);
  const shape = type === "json" ? plain(schema) : undefined;
  const own = plainObject(fieldsOf(options["providerOptions"])["millrace"]);
  const settings = { ...aiSdkRequestSettings(options), ...own };
  const { instructions, transcript } = promptOf(listOf(options["prompt"]).map(fieldsOf));
  const { abortSignal } = options;
  return {
    transcript,
    ...(instructions === "" ? {} : { instructions }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(shape === undefined ? {} : { output: { name: textOr(name, "answer"), schema: shape } }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
    ...(abortSignal instanceof AbortSignal ? { signal: abortSignal } : {}),
  };
}

function toolOf(value: unknown): ToolDescription {
  const tool = fieldsOf(value);
  const name = textOr(tool["name"], "");
  if (tool["type"] !== "function") {
    const why = `the tool ${name} is run by one provider, and this model may be any vendor's`;
    throw new MillraceError("invalid_definition", `${why}: give functions only`);
  }
  return {
    name,
    description: textOr(tool["description"], ""),
    input: plain(tool["inputSchema"]) ?? {},
  };
}

function promptOf(
  messages: readonly Fields[],
): Pick<ModelRequest, "transcript"> & { readonly instructions: string } {
  const given = new TranscriptBuilder();
  const system: string[] = [];
  for (const { role, content } of messages) {
    if (role === "system") system.push(textOr(content, ""));
    else for (const part of listOf(content).map(fieldsOf)) take(given, role, part);
  }
  return { transcript: given.items(), instructions: system.join("\n\n") };
}

function take(given: TranscriptBuilder, role: unknown, part: Fields): void {
  const text = textOr(part["text"], "");
  const kept = keptIn(fieldsOf(part["providerOptions"])["millrace"]);
  switch (part["type"]) {
    case "text":
      return role === "user"
        ? given.user({ kind: "text", text })
        : given.model({ kind: "text", text });
    case "reasoning":
      return given.model({ kind: "reasoning", text, ...kept });
    case "tool-call": {
      const raw = JSON.stringify(plain(part["input"]) ?? {});
      const call = {
        callId: textOr(part["toolCallId"], ""),
        tool: textOr(part["toolName"], ""),
        raw,
      };
      return given.model({ kind: "tool_call", ...call, ...kept });
    }
    case "tool-result":
      return resultOf(given, textOr(part["toolCallId"], ""), fieldsOf(part["output"]));
    case "file":
      return fileOf(given, part);
    default:
      return; // answers to approvals are the SDK's own
  }
}

function resultOf(given: TranscriptBuilder, id: string, { type, value, reason }: Fields): void {
  switch (type) {
    case "text":
    case "error-text":
      return given.result({
        id,
        status: type === "text" ? "ok" : "failed",
        text: textOr(value, ""),
      });
    case "execution-denied":
      return given.result({ id, status: "denied", text: textOr(reason, "") });
    case "content": {
      const text = listOf(value)
        .map((piece) => textOr(fieldsOf(piece)["text"], ""))
        .join("");
      return given.result({ id, status: "ok", text });
    }
    default: {
      const output = plain(value) ?? null;
      const status = type === "error-json" ? "failed" : "ok";
      return given.result({ id, status, text: JSON.stringify(output) }, output);
    }
  }
}

/** Bytes are base64 where the call went through JSON. */
function fileOf(given: TranscriptBuilder, { mediaType: type, data }: Fields): void {
  const mediaType = textOr(type, "application/octet-stream");
  const { data: content, url } = fieldsOf(data);
  const bytes = typeof content === "string" ? decodeBase64(content) : content;
  if (bytes instanceof Uint8Array) given.user({ kind: "media", mediaType, bytes });
  else if (typeof url === "string" || url instanceof URL)
    given.user({ kind: "media", mediaType, url: String(url) });
  else throw new MillraceError("invalid_definition", "a file is given by its bytes or its URL");
}

function generated({ parts, usage, stop, model }: Reply): AiSdkGenerated {
  const content = parts.flatMap((part): AiSdkGeneratedPart[] => {
    switch (part.kind) {
      case "text":
        return [{ type: "text", text: part.text }];
      case "structured":
        return [{ type: "text", text: JSON.stringify(part.value) }];
      case "reasoning":
        return [{ type: "reasoning", text: part.text, ...keeping(model, part.opaque) }];
      case "tool_call": {
        const { callId, tool, raw, opaque } = part;
        const call = { toolCallId: callId, toolName: tool, input: raw === "" ? "{}" : raw };
        return [{ type: "tool-call", ...call, ...keeping(model, opaque) }];
      }
      default:
        return [];
    }
  });
  const unified = stop === "tools" ? "tool-calls" : stop === "length" ? "length" : "stop";
  return { content, finishReason: { unified, raw: stop }, usage: usageOf(usage), warnings: [] };
}

/** What the vendor wants back with the next request goes through the SDK's own messages. */
function keeping(
  model: string,
  opaque: Json | undefined,
): Pick<AiSdkGeneratedPart, "providerMetadata"> {
  return opaque === undefined ? {} : { providerMetadata: { millrace: { model, opaque } } };
}

function usageOf(usage: Usage | undefined): AiSdkGenerated["usage"] {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } =
    usage ?? {};
  const fresh =
    inputTokens === undefined
      ? undefined
      : inputTokens - (cachedTokens ?? 0) - (cacheWriteTokens ?? 0);
  return {
    inputTokens: {
      total: inputTokens,
      noCache: fresh,
      cacheRead: cachedTokens,
      cacheWrite: cacheWriteTokens,
    },
    outputTokens: { total: outputTokens, text: undefined, reasoning: reasoningTokens },
  };
}
