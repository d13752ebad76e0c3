import { callId, itemId, parseArguments, partId, repairTranscript } from "@millrace/core/model";
import type { CallId, Item, Json, Part, ResultStatus, Transcript } from "@millrace/core";
import { fieldsOf, plain } from "./read.ts";

/** What a framework keeps of a reply for us, beside the texts that it reads itself. */
export interface OpaqueContent {
  readonly model: string;
  readonly opaque: Json;
}

type BuilderPart =
  | { readonly kind: "text" | "reasoning"; readonly text: string; readonly kept?: OpaqueContent }
  | {
      readonly kind: "tool_call";
      readonly callId: string;
      readonly tool: string;
      readonly raw: string;
      readonly kept?: OpaqueContent;
    }
  | { readonly kind: "media"; readonly mediaType: string; readonly url: string }
  | { readonly kind: "media"; readonly mediaType: string; readonly bytes: Uint8Array };

/** A transcript as a framework gives it: piece by piece, by role. What follows in one role is one item. */
export class TranscriptBuilder {
  readonly #items: Item[] = [];
  readonly #tools = new Map<string, string>();
  #author: "user" | "model" | undefined;
  #parts: Part[] = [];
  #model: string | undefined;

  user(part: BuilderPart): void {
    this.#add("user", part);
  }

  model(part: BuilderPart): void {
    if (part.kind === "tool_call") this.#tools.set(part.callId, part.tool);
    this.#add("model", part);
  }

  result(
    {
      id,
      status,
      text,
    }: { readonly id: string; readonly status: ResultStatus; readonly text: string },
    output?: Json,
  ): void {
    this.#end();
    const tool = this.#tools.get(id) ?? "tool";
    const head = {
      kind: "tool_result",
      id: this.#partId(0),
      callId: legalCallId(id),
      tool,
    } as const;
    const value = output === undefined ? {} : { output };
    this.#store("tool", [{ ...head, status, text: text.toWellFormed(), ...value }]);
  }

  /** The items so far. Calls without a result get one, as every vendor wants it. */
  items(): Transcript {
    this.#end();
    return repairTranscript(this.#items).items;
  }

  #add(author: "user" | "model", part: BuilderPart): void {
    if (this.#author !== author) this.#end();
    this.#author = author;
    if ("kept" in part) this.#model = part.kept?.model;
    this.#parts.push(this.#partOf(part));
  }

  #partOf(given: BuilderPart): Part {
    const id = this.#partId(this.#parts.length);
    switch (given.kind) {
      case "text":
        return { kind: "text", id, text: given.text.toWellFormed() };
      case "reasoning":
        return { kind: "reasoning", id, text: given.text.toWellFormed(), ...opaqueOf(given.kept) };
      case "tool_call": {
        const { tool, raw, kept } = given;
        const call = {
          kind: "tool_call",
          id,
          callId: legalCallId(given.callId),
          tool,
          raw,
        } as const;
        return { ...call, ...parseArguments(raw), ...opaqueOf(kept) };
      }
      default:
        return { ...given, id };
    }
  }

  #end(): void {
    if (this.#author !== undefined) this.#store(this.#author, this.#parts);
    this.#author = undefined;
    this.#parts = [];
    this.#model = undefined;
  }

  #store(author: Item["author"], parts: readonly Part[]): void {
    const calls = parts.some(({ kind }) => kind === "tool_call");
    this.#items.push({
      id: itemId(`item_${this.#items.length + 1}`),
      author,
      parts,
      stop: calls ? "tools" : "end",
      ...(this.#model === undefined ? {} : { model: this.#model }),
    });
  }

  #partId(at: number): Part["id"] {
    return partId(`part_${this.#items.length + 1}_${at + 1}`);
  }
}

function opaqueOf(kept: OpaqueContent | undefined): { readonly opaque?: Json } {
  return kept === undefined ? {} : { opaque: kept.opaque };
}

/** Reads what an earlier reply left with the framework. */
export function keptIn(value: unknown): { readonly kept?: OpaqueContent } {
  const { model, opaque } = fieldsOf(value);
  const data = plain(opaque);
  return typeof model === "string" && data !== undefined ? { kept: { model, opaque: data } } : {};
}

/** An id as a framework has it, made legal. */
function legalCallId(given: string): CallId {
  return callId(given === "" ? "call" : given.slice(-200).toWellFormed());
}
