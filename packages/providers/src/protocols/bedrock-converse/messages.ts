import { isJsonObject } from "@millrace/core/json";
import type { CustomPart, Json, JsonObject, ReasoningPart, TextPart } from "@millrace/core";
import { isBlank } from "../anthropic-messages/events.ts";
import { continuation } from "@millrace/core/model";
import { resultText } from "../prepare.ts";
import type { Answer, ModelPart, ModelTurn, Turn } from "../prepare.ts";
import { filledAt, isSound, listAt, objectAt } from "../read.ts";
import { WireIds } from "../wire-ids.ts";
import { cachePoint, Content, textBlocks } from "./content.ts";

/** A message of a request. */
export interface Message {
  readonly role: "user" | "assistant";
  readonly content: readonly JsonObject[];
}

/** Converts turns to messages, which change their role each time and begin and end with the user. */
export function messagesOf(turns: readonly Turn[], model: string): readonly Message[] {
  const writer = new MessageWriter(model);
  const messages = joined(turns.map((turn) => writer.messageOf(turn)));
  return closed(
    joined(
      messages.map(({ role, content }) =>
        role === "user" ? { role, content } : { role, content: withPairs(content) },
      ),
    ),
  );
}

/** Joins messages of one role, and drops empty ones, which the vendor refuses. */
export function joined(messages: readonly Message[]): readonly Message[] {
  const whole: { role: Message["role"]; content: JsonObject[] }[] = [];
  for (const { role, content } of messages) {
    if (content.length === 0) continue;
    const last = whole.at(-1);
    if (last?.role === role) last.content.push(...content);
    else whole.push({ role, content: [...content] });
  }
  return whole;
}

/** The messages with the user at both ends. */
export function closed(messages: readonly Message[]): readonly Message[] {
  const user: Message = { role: "user", content: [{ text: continuation }] };
  return [
    ...(messages[0]?.role === "user" ? [] : [user]),
    ...messages,
    ...(messages.at(-1)?.role === "assistant" ? [user] : []),
  ];
}

class MessageWriter {
  readonly #content: Content;
  readonly #ids: WireIds;

  constructor(model: string) {
    this.#content = new Content(model);
    this.#ids = new WireIds(model);
  }

  messageOf(turn: Turn): Message {
    switch (turn.role) {
      case "user": {
        const content = turn.parts.flatMap((part) => this.#content.blocksOf(part));
        return { role: "user", content };
      }
      case "tool":
        return { role: "user", content: this.#answers(turn.answers) };
      case "model": {
        const content = turn.parts.flatMap((part) => this.#modelBlocks(part, turn));
        return { role: "assistant", content: withoutStrayReasoning(content) };
      }
      default:
        return turn satisfies never;
    }
  }

  #modelBlocks(part: ModelPart, { native }: ModelTurn): readonly JsonObject[] {
    switch (part.kind) {
      case "text":
        return modelText(part);
      case "reasoning":
        return reasoningBlocks(part);
      case "tool_call": {
        const { tool: name, input } = part;
        // A call that can't run is sent without its input: the answer describes the fault.
        const sent = isJsonObject(input) && isSound(input) ? input : {};
        return [{ toolUse: { toolUseId: this.#ids.take(part), name, input: sent } }];
      }
      case "custom":
        return native ? ownBlocks(part) : [];
      case "media":
      case "file":
        return []; // a user turn shows them
      default:
        part satisfies never;
        return [];
    }
  }

  /** Results first, then what they can't contain: sound, and beside an error anything but text. */
  #answers(answers: readonly Answer[]): readonly JsonObject[] {
    const results: JsonObject[] = [];
    const beside: JsonObject[] = [];
    for (const answer of answers) {
      const { result, parts } = answer;
      const isFailed = result.status !== "ok";
      const made = parts.map((part) => this.#content.blocksOf(part));
      const isInside = (blocks: readonly JsonObject[]): boolean =>
        !isFailed && !blocks.some((block) => block["audio"] !== undefined);
      beside.push(...made.filter((blocks) => !isInside(blocks)).flat());
      const inside = made.filter(isInside).flat();
      const isMarked = this.#content.isMarked(result) || inside.includes(cachePoint);
      results.push({
        toolResult: {
          toolUseId: this.#ids.of(result.callId),
          content: isFailed
            ? [textOfResult(answer)]
            : [resultBlock(answer), ...inside.filter((block) => block !== cachePoint)],
          status: isFailed ? "error" : "success",
        },
      });
      // A result can't contain one.
      if (isMarked) results.push(cachePoint);
    }
    return [...results, ...beside];
  }
}

function textOfResult({ result }: Answer): JsonObject {
  const text = resultText(result).toWellFormed();
  const none = result.status === "ok" ? "(no output)" : `(${result.status})`;
  return { text: isBlank(text) ? none : text };
}

/** An object that is not also given as text stays one. */
function resultBlock(answer: Answer): JsonObject {
  const { text, output } = answer.result;
  const isObject = text === "" && isJsonObject(output) && isSound(output);
  return isObject ? { json: output } : textOfResult(answer);
}

/** The fields of a citation that a request takes. */
const citationFields = ["title", "source", "sourceContent", "location"];

function modelText({ text, metadata }: TextPart): readonly JsonObject[] {
  const citations = listAt(metadata, "citations")
    .filter(isJsonObject)
    .map((citation) => fieldsOf(citation, citationFields));
  const blocks = textBlocks(text);
  return citations.length === 0 || blocks.length === 0
    ? blocks
    : [{ citationsContent: { content: blocks, citations } }];
}

function fieldsOf(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(value).filter(([name, field]) => names.includes(name) && field !== null),
  );
}

function reasoningBlocks({ text, opaque }: ReasoningPart): readonly JsonObject[] {
  if (!isJsonObject(opaque)) return [];
  const redactedContent = filledAt(opaque, "redactedContent");
  if (redactedContent !== undefined) return [{ reasoningContent: { redactedContent } }];
  const signature = filledAt(opaque, "signature");
  return signature === undefined || !text.isWellFormed()
    ? []
    : [{ reasoningContent: { reasoningText: { text, signature } } }];
}

/** A block of the vendor's own tools as it came, unless it was cut off. */
function ownBlocks({ name, value, metadata }: CustomPart): readonly JsonObject[] {
  const isWhole = metadata?.["unusable"] === undefined && isJsonObject(value) && isSound(value);
  const isKnown = name === "toolUse" || name === "toolResult";
  return isWhole && isKnown && objectAt(value, name) !== undefined ? [{ ...value }] : [];
}

export function isReasoning(block: JsonObject | undefined): boolean {
  return block?.["reasoningContent"] !== undefined;
}

/** Drops uses of the vendor's own tools without a result, results without their use, and a second pair of one id. */
function withPairs(content: readonly JsonObject[]): readonly JsonObject[] {
  const idOf = (block: JsonObject, name: string): Json | undefined =>
    objectAt(block, name)?.["toolUseId"];
  const isOwn = (block: JsonObject): boolean =>
    objectAt(block, "toolUse")?.["type"] === "server_tool_use";
  /** Where the last result of an id is: one before its use answers nothing. */
  const results = new Map(content.map((block, at) => [idOf(block, "toolResult"), at]));
  const open = new Set<Json | undefined>();
  const used = new Set<Json | undefined>();
  return content.filter((block, at) => {
    if (block["toolResult"] !== undefined) return open.delete(idOf(block, "toolResult"));
    if (!isOwn(block)) return true;
    const id = idOf(block, "toolUse");
    if (used.has(id) || (results.get(id) ?? -1) < at) return false;
    used.add(id);
    open.add(id);
    return true;
  });
}

/** Claude refuses reasoning behind a call and at the end of a message. */
function withoutStrayReasoning(content: readonly JsonObject[]): readonly JsonObject[] {
  const call = content.findIndex((block) => block["toolUse"] !== undefined);
  const legal = content.filter((block, at) => call < 0 || at < call || !isReasoning(block));
  return legal.slice(0, legal.findLastIndex((block) => !isReasoning(block)) + 1);
}
