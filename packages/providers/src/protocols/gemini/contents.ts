import { isJsonObject } from "@millrace/core/wire";
import type { Json, JsonObject, ToolCallPart } from "@millrace/core";
import { resultText } from "../prepare.ts";
import type { Answer, ModelPart, ModelTurn, Turn, UserPart } from "../prepare.ts";
import { filledAt } from "../read.ts";
import { continuationPart } from "./halt.ts";
import { mediaPart, standIn } from "./media.ts";
import { replayed } from "./verbatim.ts";

/** One content of a request. Results of tools are the user's, and stand apart from what people say. */
export interface Content {
  readonly from: Turn["role"];
  readonly parts: JsonObject[];
}

/** How a model's requests differ from those of older ones. */
export interface Rules {
  /** The first call of each content needs a signature. */
  readonly signed: boolean;
  /** A result may have pictures in it. */
  readonly picturesInResults: boolean;
}

/** The vendor's own word for a call that another model wrote. */
const noSignature = "skip_thought_signature_validator";

/** The names and ids under which calls were sent. Their results need the same. */
type SentCalls = Map<string, { readonly name: string; readonly id: string | undefined }>;

/**
 * The transcript in the vendor's words. Contents of one author are one: a call must come right behind
 * the user or behind results, and a content must not be empty.
 */
export function contentsOf(turns: readonly Turn[], rules: Rules): readonly Content[] {
  const contents: Content[] = [];
  const add = (from: Turn["role"], parts: readonly JsonObject[]): void => {
    const last = contents.at(-1);
    if (parts.length === 0) return;
    if (last?.from === from) last.parts.push(...parts);
    else contents.push({ from, parts: [...parts] });
  };
  const calls: SentCalls = new Map();
  const ids = new Set<string>();
  for (const turn of turns) {
    switch (turn.role) {
      case "user":
        add("user", turn.parts.map(userPart));
        break;
      case "model":
        add("model", modelParts(turn, calls, ids));
        break;
      case "tool": {
        add(
          "tool",
          turn.answers.map((answer) => responsePart(answer, calls, rules)),
        );
        add(
          "user",
          turn.answers.flatMap((answer) => besides(answer, rules)),
        );
        break;
      }
      default:
        turn satisfies never;
    }
  }
  if (rules.signed) for (const { from, parts } of contents) if (from === "model") sign(parts);
  return contents;
}

/** What a paused reply is resumed with, if the last turn is one. */
export function tokenOf(turns: readonly Turn[]): string | undefined {
  const last = turns.at(-1);
  return last?.role === "model" && last.paused ? tokenIn(last.parts) : undefined;
}

export function tokenIn(parts: readonly ModelPart[]): string | undefined {
  const part = parts.findLast(
    (found) => found.kind === "custom" && found.name === continuationPart,
  );
  return part?.kind === "custom" && isJsonObject(part.value)
    ? filledAt(part.value, "continuationToken")
    : undefined;
}

function userPart(part: UserPart): JsonObject {
  return part.kind === "text" ? { text: part.text } : mediaPart(part);
}

function modelParts(turn: ModelTurn, calls: SentCalls, ids: Set<string>): readonly JsonObject[] {
  const verbatim = replayed(turn.parts);
  return turn.parts.flatMap((part): readonly JsonObject[] => {
    switch (part.kind) {
      case "text": {
        const signature = turn.native ? signatureIn(part.metadata) : undefined;
        if (part.text.trim() === "" && signature === undefined) return [];
        return [{ text: part.text, ...signedBy(signature) }];
      }
      case "reasoning": {
        const signature = signatureIn(part.opaque);
        if (!turn.native || signature === undefined) return [];
        return [{ text: part.text, thought: true, thoughtSignature: signature }];
      }
      case "tool_call":
        return [callPart(part, calls, ids)];
      case "media":
      case "file": {
        if (!turn.native) return [standIn(part)];
        const thought = part.metadata?.["thought"] === true ? { thought: true } : {};
        const written = mediaPart(part);
        if ("text" in written) return [written];
        return [{ ...written, ...thought, ...signedBy(signatureIn(part.metadata)) }];
      }
      case "custom":
        return verbatim.has(part) && isJsonObject(part.value) ? [part.value] : [];
      default:
        part satisfies never;
        return [];
    }
  });
}

/** The vendor's own id goes back as it came, unless it would name two calls. */
function callPart(call: ToolCallPart, calls: SentCalls, ids: Set<string>): JsonObject {
  const opaque = isJsonObject(call.opaque) ? call.opaque : {};
  const given = filledAt(opaque, "id");
  const id = given === undefined ? undefined : [given, call.callId].find((one) => !ids.has(one));
  if (id !== undefined) ids.add(id);
  calls.set(call.callId, { name: call.tool, id });
  const named = { name: call.tool, args: call.input ?? {} };
  return {
    functionCall: id === undefined ? named : { id, ...named },
    ...signedBy(signatureIn(call.opaque)),
  };
}

function responsePart({ result, parts }: Answer, calls: SentCalls, rules: Rules): JsonObject {
  const sent = calls.get(result.callId);
  const said = resultText(result);
  const pictures = rules.picturesInResults ? parts.map(mediaOf).filter(isInline) : [];
  return {
    functionResponse: {
      ...(sent?.id === undefined ? {} : { id: sent.id }),
      name: sent?.name ?? result.tool,
      response: result.status === "ok" ? { output: said } : { error: said },
      ...(pictures.length === 0 ? {} : { parts: pictures }),
    },
  };
}

/** What a tool made beside its result, where the result has no room for it. */
function besides({ parts }: Answer, rules: Rules): readonly JsonObject[] {
  const written = parts.map((part) => mediaOf(part) ?? userPart(part));
  return rules.picturesInResults ? written.filter((part) => !isInline(part)) : written;
}

function mediaOf(part: UserPart): JsonObject | undefined {
  return part.kind === "text" ? undefined : mediaPart(part);
}

/** Only these are read inside a result. */
function isInline(part: JsonObject | undefined): part is JsonObject {
  const data = part?.["inlineData"];
  if (!isJsonObject(data)) return false;
  return /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/.test(
    filledAt(data, "mimeType") ?? "",
  );
}

/** The first call of a content stands for all of them. */
function sign(parts: JsonObject[]): void {
  const first = parts.findIndex((part) => part["functionCall"] !== undefined);
  const call = parts[first];
  if (call === undefined || call["thoughtSignature"] !== undefined) return;
  parts[first] = { ...call, thoughtSignature: noSignature };
}

/** A signature that was kept. What is no base64 was damaged on the way, and would be refused. */
function signatureIn(value: Json | undefined): string | undefined {
  const signature = isJsonObject(value) ? filledAt(value, "thoughtSignature") : undefined;
  return signature !== undefined && /^[A-Za-z0-9+/_-]+={0,2}$/.test(signature)
    ? signature
    : undefined;
}

function signedBy(signature: string | undefined): JsonObject {
  return signature === undefined ? {} : { thoughtSignature: signature };
}
