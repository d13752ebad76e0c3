import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject, ToolCallPart, ToolResultPart } from "@millrace/core";
import { nameOf } from "../attachment.ts";
import { nativeCallOf } from "../native-tools.ts";
import { resultText } from "../prepare.ts";
import type { Answer, ModelPart, ModelTurn, Turn, UserPart } from "../prepare.ts";
import { filledAt } from "../read.ts";
import { continuationPart } from "./halt.ts";
import { checkOptions, givenParts, mediaParts } from "./media.ts";
import { wantsConfirmation } from "./native-tool.ts";
import { replayed } from "./verbatim.ts";

/**
 * One content of a request. Tool results have the role of the user, but a content of their own.
 */
export interface Content {
  readonly from: Turn["role"];
  readonly parts: JsonObject[];
}

/** Differences between generations of models. */
export interface Rules {
  /** The first call of each content requires a signature. */
  readonly signed: boolean;
  /** A result may contain images. */
  readonly picturesInResults: boolean;
  /** The names of the vendor's own functions that are offered. */
  readonly offered: { readonly has: (name: string) => boolean };
  /** Each part may have a level of detail. */
  readonly levels: boolean;
}

/** The vendor's placeholder signature for a call that another model wrote. */
const noSignature = "skip_thought_signature_validator";

/** The names and ids that calls were sent with. Their results require the same. */
type SentCalls = Map<string, SentCall>;

interface SentCall {
  readonly name: string;
  readonly id: string | undefined;
  /** What the vendor wrote for a call of its own function. */
  readonly native?: JsonObject | undefined;
}

/**
 * Converts turns to contents. Adjacent contents of one role are joined: a call must follow the user
 * or results, and a content must not be empty.
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
        add(
          "user",
          turn.parts.flatMap((part) => givenParts(part, rules.levels)),
        );
        break;
      case "model":
        add("model", modelParts(turn, { calls, ids, offered: rules.offered }));
        break;
      case "tool": {
        const answers = turn.answers.map((answer) => dividedAnswer(answer, rules));
        add(
          "tool",
          answers.map((answer) => responsePart(answer, calls)),
        );
        add(
          "user",
          answers.flatMap(({ beside }) => beside),
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

/** The token to resume a paused reply with, if the last turn is one. */
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

/** What the calls of a request have in common. */
interface Calls extends Pick<Rules, "offered"> {
  readonly calls: SentCalls;
  readonly ids: Set<string>;
}

function modelParts(turn: ModelTurn, shared: Calls): readonly JsonObject[] {
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
        return [callPart(part, shared)];
      case "media":
      case "file": {
        const thought = part.metadata?.["thought"] === true ? { thought: true } : {};
        const signed = signedBy(signatureIn(part.metadata));
        return mediaParts(part).map((written) =>
          "text" in written ? written : { ...written, ...thought, ...signed },
        );
      }
      case "custom":
        return verbatim.has(part) && isJsonObject(part.value) ? [part.value] : [];
      default:
        part satisfies never;
        return [];
    }
  });
}

/** The vendor's id is sent back unchanged, unless two calls have it. */
function callPart(call: ToolCallPart, { calls, ids, offered }: Calls): JsonObject {
  const opaque = isJsonObject(call.opaque) ? call.opaque : {};
  const given = filledAt(opaque, "id");
  const id = given === undefined ? undefined : [given, call.callId].find((one) => !ids.has(one));
  if (id !== undefined) ids.add(id);
  const native = nativeCallOf(call, offered);
  const named = { name: native?.tool ?? call.tool, args: native?.input ?? call.input ?? {} };
  calls.set(call.callId, { name: named.name, id, native: native?.input });
  return {
    functionCall: id === undefined ? named : { id, ...named },
    ...signedBy(signatureIn(call.opaque)),
  };
}

/** An answer with its media: those that the result itself can contain, and the others. */
interface DividedAnswer {
  readonly result: ToolResultPart;
  readonly pictures: readonly JsonObject[];
  readonly beside: readonly JsonObject[];
}

function dividedAnswer({ result, parts }: Answer, rules: Rules): DividedAnswer {
  const pictures: JsonObject[] = [];
  const beside: JsonObject[] = [];
  checkOptions(result);
  for (const part of parts) {
    const written = givenParts(part, rules.levels);
    const data = written.at(-1)?.["inlineData"];
    // Inside of a result there is no field for the detail.
    const isPlain = written.at(-1)?.["mediaResolution"] === undefined;
    if (!rules.picturesInResults || !isInline(data) || !isPlain) beside.push(...written);
    else pictures.push({ inlineData: { ...data, ...displayName(part) } });
  }
  return { result, pictures, beside };
}

/** Data inside a result has a field for its name. */
function displayName(part: UserPart): JsonObject {
  const name = part.kind === "text" ? "" : nameOf(part);
  return name === "" ? {} : { displayName: name };
}

function responsePart({ result, pictures }: DividedAnswer, calls: SentCalls): JsonObject {
  const sent = calls.get(result.callId);
  return {
    functionResponse: {
      ...(sent?.id === undefined ? {} : { id: sent.id }),
      name: sent?.name ?? result.tool,
      response: sent?.native === undefined ? outcomeOf(result) : nativeOutcome(result, sent.native),
      ...(pictures.length === 0 ? {} : { parts: pictures }),
    },
  };
}

function outcomeOf(result: ToolResultPart): JsonObject {
  const text = resultText(result);
  return result.status === "ok" ? { output: text } : { error: text };
}

/**
 * The outcome of one of the vendor's own functions: with the address of the page, and with the word that
 * a person has allowed what the vendor wanted to be asked for. A call that was denied has neither.
 */
function nativeOutcome(result: ToolResultPart, input: JsonObject): JsonObject {
  const outcome = outcomeOf(result);
  if (result.status !== "ok") return outcome;
  const url = isJsonObject(result.output) ? filledAt(result.output, "url") : undefined;
  return {
    ...(url === undefined ? {} : { url }),
    ...outcome,
    ...(wantsConfirmation(input) ? { safety_acknowledgement: "true" } : {}),
  };
}

/** The only data that the vendor reads inside a result. */
function isInline(data: Json | undefined): data is JsonObject {
  if (!isJsonObject(data)) return false;
  return /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/.test(
    filledAt(data, "mimeType") ?? "",
  );
}

/** Signs the first call of a content. The vendor checks only that one. */
function sign(parts: JsonObject[]): void {
  const first = parts.findIndex((part) => part["functionCall"] !== undefined);
  const call = parts[first];
  if (call === undefined || call["thoughtSignature"] !== undefined) return;
  parts[first] = { ...call, thoughtSignature: noSignature };
}

/**
 * A stored signature. Undefined if it is not base64: it was damaged, and the vendor would refuse
 * it.
 */
function signatureIn(value: Json | undefined): string | undefined {
  const signature = isJsonObject(value) ? filledAt(value, "thoughtSignature") : undefined;
  return signature !== undefined && /^[A-Za-z0-9+/_-]+={0,2}$/.test(signature)
    ? signature
    : undefined;
}

function signedBy(signature: string | undefined): JsonObject {
  return signature === undefined ? {} : { thoughtSignature: signature };
}
