import { decodeBase64 } from "@millrace/core/json";
import type { CallId, Json, PartId, Usage } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import { failure } from "@millrace/providers/protocol-kit";
import type { CallIds } from "./call-ids.ts";
import { cutBy } from "./cause.ts";
import type { PartWriter } from "./part-writer.ts";
import { countOf, fieldsOf, listOf, plain, textOr } from "./read.ts";
import type { Fields } from "./read.ts";
import { closeRunCall } from "./tool-call.ts";

/** A call of a reply, with what is needed to match its answer. */
export interface LangGraphCall {
  /** The framework's id of the call. */
  readonly given: string;
  readonly callId: CallId;
  readonly tool: string;
  /** The input that the framework runs the tool with. */
  readonly input: Json | undefined;
}

interface OpenCall {
  readonly key: string;
  given: string;
  readonly callId: CallId;
  readonly tool: string;
  readonly id: PartId;
}

/** One reply of a chat model, read from its chunks and from the final message. */
export class LangGraphReply {
  readonly #writer: PartWriter;
  readonly #callIds: CallIds;
  readonly #calls: OpenCall[] = [];
  #open: { readonly kind: "text" | "reasoning"; readonly id: PartId } | undefined;
  #wasStreamed = false;
  #callCount = 0;

  constructor(writer: PartWriter, callIds: CallIds) {
    this.#writer = writer;
    this.#callIds = callIds;
  }

  get calls(): number {
    return this.#callCount;
  }

  take(chunk: Fields): void {
    this.#content(chunk);
    for (const piece of listOf(chunk["tool_call_chunks"]).map(fieldsOf)) this.#piece(piece);
  }

  /** Reads the final message, closes all parts and returns the calls. */
  end(output: Fields, isShort: boolean): readonly LangGraphCall[] {
    // A model that does not stream has all its content here.
    if (!this.#wasStreamed) this.#content(output);
    this.#blocks(output);
    this.#close();
    const calls = [...listOf(output["tool_calls"]), ...listOf(output["invalid_tool_calls"])];
    const whole = calls.map(fieldsOf).map((call) => this.#call(call, isShort));
    this.#writer.closeRest();
    return whole;
  }

  #content(message: Fields): void {
    const { content } = message;
    this.#append("reasoning", fieldsOf(message["additional_kwargs"])["reasoning_content"]);
    this.#append("text", content);
    for (const block of listOf(content).map(fieldsOf)) {
      const type = textOr(block["type"], "");
      if (type === "text" || type === "text_delta") this.#append("text", block["text"]);
      else if (type === "thinking" || type === "reasoning") {
        this.#append("reasoning", block["thinking"] ?? block["reasoning"]);
      }
    }
  }

  /** Reads content blocks other than text and calls. The chunks contain them in pieces only. */
  #blocks(output: Fields): void {
    for (const block of listOf(output["content"]).map(fieldsOf)) {
      const type = textOr(block["type"], "");
      if (streamedTypes.has(type)) continue;
      this.#close();
      const bytes = decodeBase64(textOr(block["data"], "-"));
      const mediaType = block["mimeType"] ?? block["mime_type"];
      if (bytes !== undefined && typeof mediaType === "string") {
        const id = this.#writer.begin({ kind: "media", mediaType: mediaType.toWellFormed() });
        this.#writer.bytes(id, bytes);
        this.#writer.close(id);
      } else this.#writer.custom(type === "" ? "block" : type, plain(block) ?? null);
    }
  }

  #append(kind: "text" | "reasoning", chunk: unknown): void {
    if (typeof chunk !== "string" || chunk === "") return;
    this.#wasStreamed = true;
    if (this.#open?.kind !== kind) {
      this.#close();
      this.#open = { kind, id: this.#writer.begin({ kind }) };
    }
    this.#writer.append(this.#open.id, chunk);
  }

  #close(): void {
    if (this.#open !== undefined) this.#writer.close(this.#open.id);
    this.#open = undefined;
  }

  #piece(piece: Fields): void {
    const given = textOr(piece["id"], "");
    const place = piece["index"];
    const isPlace = typeof place === "number" || typeof place === "string";
    const key = isPlace ? `at ${place}` : given;
    let call = key === "" ? this.#calls[0] : this.#calls.find((each) => each.key === key);
    // A different id at the same index begins another call.
    if (call !== undefined && given !== "" && call.given !== "" && given !== call.given) {
      call = undefined;
    }
    if (call === undefined) {
      const tool = textOr(piece["name"], "");
      if (tool === "") return;
      call = this.#begin(key, given, tool);
    }
    if (call.given === "") call.given = given;
    this.#writer.append(call.id, textOr(piece["args"], ""));
  }

  #begin(key: string, given: string, name: string): OpenCall {
    this.#close();
    this.#callCount += 1;
    const callId = this.#callIds.choose(given);
    const tool = name.toWellFormed();
    const id = this.#writer.begin({ kind: "tool_call", callId, tool });
    const call = { key, given, callId, tool, id };
    // Newest first, because an index may be used again.
    this.#calls.unshift(call);
    return call;
  }

  #call(call: Fields, isShort: boolean): LangGraphCall {
    const given = textOr(call["id"], "");
    const tool = textOr(call["name"], "");
    const open =
      this.#calls.findLast((each) => each.given === given && each.tool === tool) ??
      this.#begin("", given, tool);
    this.#calls.splice(this.#calls.indexOf(open), 1);
    const { args } = call;
    if (isShort && this.#writer.streamed(open.id).trim() === "") {
      this.#writer.close(open.id, { fault: { code: "truncated" } });
    } else closeRunCall(this.#writer, open.id, args);
    return { given, callId: open.callId, tool: open.tool, input: plain(args) };
  }
}

/** Types of blocks that are already streamed as text, reasoning or calls. */
const streamedTypes: ReadonlySet<string> = new Set([
  "text",
  "text_delta",
  "thinking",
  "reasoning",
  "tool_use",
  "tool_call",
  "tool_call_chunk",
  "function_call",
  "functionCall",
  "input_json_delta",
]);

/** Endings by the vendors' finish reasons, as LangChain's model classes pass them on. */
const stopOf: Readonly<Record<string, Ending["stop"]>> = {
  completed: "end",
  end_turn: "end",
  eos: "end",
  function_call: "tools",
  stop: "end",
  stop_sequence: "end",
  tool_calls: "tools",
  tool_use: "tools",
  content_filter: "filtered",
  content_filtered: "filtered",
  guardrail_intervened: "filtered",
  prohibited_content: "filtered",
  recitation: "filtered",
  refusal: "filtered",
  safety: "filtered",
  length: "length",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  model_length: "length",
  pause_turn: "paused",
};

/**
 * Returns the ending of a reply. Not every model class passes on the vendor's finish reason;
 * without one, the final message of the framework counts as a normal end.
 */
export function endingOf(output: Fields, reply: LangGraphReply): Ending {
  const facts = fieldsOf(output["response_metadata"]);
  const kwargs = fieldsOf(output["additional_kwargs"]);
  const reason = [
    facts["finish_reason"],
    facts["stop_reason"],
    facts["stopReason"],
    facts["finishReason"],
    facts["done_reason"],
    kwargs["stop_reason"],
    kwargs["finishReason"],
  ].find((each) => typeof each === "string" && each !== "") as string | undefined;
  const isCalling = listOf(output["tool_calls"]).length > 0 || reply.calls > 0;
  const own = isCalling ? "tools" : "end";
  if (reason === undefined) return { stop: own, evidence: { event: "on_chat_model_end" } };
  const evidence = { finishReason: reason.toWellFormed() };
  const stop = stopOf[reason.toLowerCase()];
  switch (stop) {
    case "end":
    case "tools":
      return { stop: own, evidence };
    case "length":
    case "filtered":
    case "paused":
      return { stop, evidence };
    default: {
      const message = `no version of this bridge knows the finish reason ${reason}`;
      return cutBy(failure("unknown_stop", message, evidence));
    }
  }
}

export function usageOf(value: unknown): Usage | undefined {
  const usage = fieldsOf(value);
  const inputTokens = countOf(usage["input_tokens"]);
  const outputTokens = countOf(usage["output_tokens"]);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const input = fieldsOf(usage["input_token_details"]);
  const cachedTokens = countOf(input["cache_read"]) ?? 0;
  const cacheWriteTokens = countOf(input["cache_creation"]);
  const reasoningTokens = countOf(fieldsOf(usage["output_token_details"])["reasoning"]);
  if (cachedTokens + (cacheWriteTokens ?? 0) > inputTokens) return undefined;
  return {
    inputTokens,
    outputTokens,
    cachedTokens,
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}
