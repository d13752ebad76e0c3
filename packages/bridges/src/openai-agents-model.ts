import { MillraceError } from "@millrace/core";
import type { Json, JsonObject, Model, Usage } from "@millrace/core";
import type { ModelRequest, OutputShape, Reply, ToolDescription } from "@millrace/core/ports";
import { agentsRequestSettings } from "./request-settings.ts";
import { TranscriptBuilder, keptIn } from "./transcript-builder.ts";
import { fieldsOf, listOf, plain, plainObject, textOr } from "./read.ts";
import type { Fields } from "./read.ts";
import { wholeReply } from "./whole-reply.ts";

/** A request of the OpenAI Agents SDK to a model, as far as it is read. */
export interface OpenaiAgentsRequest {
  readonly input: unknown;
}

/** The reply of a model, as the OpenAI Agents SDK takes it. */
export interface OpenaiAgentsResponse {
  usage: OpenaiAgentsUsage;
  output: OpenaiAgentsOutput[];
}

/** One piece of a reply. */
export type OpenaiAgentsOutput =
  | {
      type: "message";
      role: "assistant";
      status: "completed" | "incomplete";
      content: { type: "output_text"; text: string }[];
    }
  | {
      type: "function_call";
      callId: string;
      name: string;
      status: "completed";
      arguments: string;
      providerData?: Record<string, unknown>;
    }
  | {
      type: "reasoning";
      content: { type: "input_text"; text: string }[];
      providerData?: Record<string, unknown>;
    };

/** What a request used, in the SDK's words. */
export interface OpenaiAgentsUsage {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  inputTokensDetails: Record<string, number>[];
  outputTokensDetails: Record<string, number>[];
  requestUsageEntries: undefined;
  add(other: OpenaiAgentsUsage | object): void;
}

/** A provider of models for the OpenAI Agents SDK. */
export interface OpenaiAgentsProvider {
  getModel(name?: string): {
    getResponse(request: OpenaiAgentsRequest): Promise<OpenaiAgentsResponse>;
    getStreamedResponse(request: OpenaiAgentsRequest): AsyncIterable<never>;
  };
}

/**
 * Models of Millrace as a provider for the OpenAI Agents SDK. Of an agent's `modelSettings` those that all
 * vendors share are passed on, and beside them `providerData`, for the vendor's own fields.
 */
export function openaiAgentsProvider(
  choose: (name: string | undefined) => Model,
): OpenaiAgentsProvider {
  return {
    getModel: (name) => {
      const model = choose(name);
      return {
        getResponse: async (request) => responseOf(await wholeReply(model, requestOf(request))),
        getStreamedResponse: () => {
          const why = "this provider streams to the viewers of a session, and not to its caller";
          throw new MillraceError("invalid_definition", `${why}: run the agent without stream`);
        },
      };
    },
  };
}

function requestOf(given: OpenaiAgentsRequest): ModelRequest {
  const request = fieldsOf(given);
  for (const name of ["previousResponseId", "conversationId", "prompt"]) {
    if (request[name] === undefined || request[name] === null) continue;
    const why = `${name} names what a vendor keeps, and this model gets all that was said`;
    throw new MillraceError("invalid_definition", `${why}: leave it out`);
  }
  const tools = [
    ...listOf(request["tools"]).map(toolOf),
    ...listOf(request["handoffs"]).map(handoffOf),
  ];
  const output = outputOf(request["outputType"]);
  const modelSettings = fieldsOf(request["modelSettings"]);
  const own = plainObject(modelSettings["providerData"]);
  const settings = { ...agentsRequestSettings(modelSettings), ...own };
  const { instructions, transcript } = inputOf(request);
  const { signal } = request;
  return {
    transcript,
    ...(instructions === "" ? {} : { instructions }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(output === undefined ? {} : { output }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
    ...(signal instanceof AbortSignal ? { signal } : {}),
  };
}

function toolOf(value: unknown): ToolDescription {
  const tool = fieldsOf(value);
  const name = textOr(tool["name"], "");
  if (tool["type"] !== "function") {
    const why = `the tool ${name} is run by OpenAI, and this model may be any vendor's`;
    throw new MillraceError("invalid_definition", `${why}: give the agent functions only`);
  }
  return {
    name,
    description: textOr(tool["description"], ""),
    input: plain(tool["parameters"]) ?? {},
  };
}

function handoffOf(value: unknown): ToolDescription {
  const { toolName, toolDescription, inputJsonSchema } = fieldsOf(value);
  const input = plain(inputJsonSchema) ?? {};
  return { name: textOr(toolName, ""), description: textOr(toolDescription, ""), input };
}

function outputOf(value: unknown): OutputShape | undefined {
  const { type, name, schema } = fieldsOf(value);
  const shape = plain(schema);
  if (type !== "json_schema" || shape === undefined) return undefined;
  return { name: textOr(name, "answer"), schema: shape };
}

/** System messages among the input are added to the instructions. */
function inputOf(
  request: Fields,
): Pick<ModelRequest, "transcript"> & { readonly instructions: string } {
  const given = new TranscriptBuilder();
  const system = [textOr(request["systemInstructions"], "")];
  const { input } = request;
  if (typeof input === "string") given.user({ kind: "text", text: input });
  for (const item of listOf(input).map(fieldsOf)) {
    switch (item["type"] ?? "message") {
      case "message":
        if (item["role"] === "system") system.push(textsOf(item["content"]));
        else messageOf(given, item);
        break;
      case "function_call": {
        const { name, arguments: raw } = item;
        const call = {
          callId: textOr(item["callId"], ""),
          tool: textOr(name, ""),
          raw: textOr(raw, ""),
        };
        given.model({ kind: "tool_call", ...call, ...keptOf(item) });
        break;
      }
      case "function_call_result": {
        const status = item["status"] === "incomplete" ? "failed" : "ok";
        given.result({ id: textOr(item["callId"], ""), status, text: textsOf(item["output"]) });
        break;
      }
      case "reasoning":
        given.model({ kind: "reasoning", text: textsOf(item["content"]), ...keptOf(item) });
        break;
      default:
        // What OpenAI ran by itself has no meaning for another model.
        break;
    }
  }
  return {
    transcript: given.items(),
    instructions: system.filter((text) => text !== "").join("\n\n"),
  };
}

function messageOf(given: TranscriptBuilder, { role, content }: Fields): void {
  if (role === "assistant") return given.model({ kind: "text", text: textsOf(content) });
  const pieces = typeof content === "string" ? [{ text: content }] : listOf(content).map(fieldsOf);
  for (const piece of pieces) {
    const { text, image } = piece;
    if (typeof text === "string") given.user({ kind: "text", text });
    else if (typeof image === "string")
      given.user({ kind: "media", mediaType: "image/*", url: image });
    else
      throw new MillraceError(
        "invalid_definition",
        "a message may have texts and images by their URL",
      );
  }
}

/** A text, a piece of content, or a list of them. */
function textsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textsOf).join("");
  const { text, refusal } = fieldsOf(value);
  if (typeof text === "string") return text;
  return textOr(refusal, "") || JSON.stringify(plain(value) ?? "");
}

function keptOf({ providerData }: Fields): ReturnType<typeof keptIn> {
  return keptIn(fieldsOf(providerData)["millrace"]);
}

function responseOf({ parts, usage, stop, model }: Reply): OpenaiAgentsResponse {
  const output: OpenaiAgentsOutput[] = [];
  const status = stop === "length" ? "incomplete" : "completed";
  const message = (text: string): void => {
    const last = output.at(-1);
    const content = { type: "output_text" as const, text };
    if (last?.type === "message") last.content.push(content);
    else output.push({ type: "message", role: "assistant", status, content: [content] });
  };
  for (const part of parts) {
    if (part.kind === "text") message(part.text);
    else if (part.kind === "structured") message(JSON.stringify(part.value));
    else if (part.kind === "reasoning") {
      const content = [{ type: "input_text" as const, text: part.text }];
      output.push({ type: "reasoning", content, ...keeping(model, part.opaque) });
    } else if (part.kind === "tool_call") {
      const { callId, tool: name, raw, opaque } = part;
      const call = { type: "function_call", callId, name, status: "completed" } as const;
      output.push({ ...call, arguments: raw === "" ? "{}" : raw, ...keeping(model, opaque) });
    }
  }
  return { usage: usageOf(usage), output };
}

/** What the vendor wants back with the next request goes through the SDK's own history. */
function keeping(
  model: string,
  opaque: Json | undefined,
): { providerData?: Record<string, unknown> } {
  if (opaque === undefined) return {};
  const millrace: JsonObject = { model, opaque };
  return { providerData: { millrace } };
}

function usageOf(usage: Usage | undefined): OpenaiAgentsUsage {
  const { inputTokens = 0, outputTokens = 0, cachedTokens = 0, reasoningTokens = 0 } = usage ?? {};
  return {
    requests: 1,
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    inputTokensDetails: [{ cached_tokens: cachedTokens }],
    outputTokensDetails: [{ reasoning_tokens: reasoningTokens }],
    requestUsageEntries: undefined,
    add: () => undefined, // the SDK adds this one to its own
  };
}
