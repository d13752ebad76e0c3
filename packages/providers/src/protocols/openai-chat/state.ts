import type { Json, JsonObject, PartId } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import type { ReplyContext } from "../../protocol.ts";
import type { Arguments } from "./arguments.ts";
import type { Details } from "./reasoning-details.ts";
import { noThinkTags } from "./think-tags.ts";
import type { ThinkTags } from "./think-tags.ts";

/** How a server differs from the vendor in ways that its bytes do not tell. */
export interface OpenAiChatOptions {
  /** The content begins with reasoning in tags: `true` for `<think>`, or the tag's own name. */
  readonly thinkTags?: boolean | string | undefined;
  /** The server's template has opened the tag already, so only its end is in the content. */
  readonly thinkOpened?: boolean | undefined;
  /** The server never says why it stopped: `[DONE]` ends a reply of text. Calls still need a reason. */
  readonly finishOptional?: boolean | undefined;
}

/** All that is known of a reply so far. A value: a step makes a new one, or gives the same back. */
export interface OpenAiChatState {
  readonly options: OpenAiChatOptions;
  /** How many parts were begun. */
  readonly parts: number;
  readonly text: TextSpan | undefined;
  readonly reasoning: ReasoningSpan | undefined;
  /** Details that the next reasoning part to be closed takes along. */
  readonly details: Details | undefined;
  /** Whether `reasoning_content` came, if only empty: its vendors want the field back. */
  readonly bareReasoning: "none" | "empty" | "filled";
  readonly extras: Extras;
  readonly audio: AudioSpan | undefined;
  readonly tags: ThinkTags;
  readonly tools: ToolState;
  readonly usage: Json | undefined;
  readonly facts: JsonObject | undefined;
  readonly flags: JsonObject;
  /** What `finish_reason` came to. From here on only usage counts. */
  readonly ending: Ending | undefined;
  /** Chunks with content behind the finish, which were left out. */
  readonly late: number;
}

/** Open text. Refusals and transcripts of speech are text of their own. */
export interface TextSpan {
  readonly id: PartId;
  readonly channel: TextChannel;
}

export type TextChannel = "text" | "refusal" | "transcript";

export interface ReasoningSpan {
  readonly id: PartId;
  /** Where it came from and goes back to. Nothing if the vendor does not want it back. */
  readonly field: string | undefined;
}

export interface AudioSpan {
  readonly id: PartId;
  /** Up to three letters of base64 that wait for the fourth. */
  readonly held: string;
  readonly metadata: JsonObject;
}

/** What belongs to a text and is set when it closes, once, however often it came. */
export interface Extras {
  readonly annotations: JsonChain | undefined;
  readonly logprobs: JsonChain | undefined;
  /** Sent whole with each chunk: the last ones count. */
  readonly citations: Json | undefined;
  readonly searchResults: Json | undefined;
}

export const noExtras: Extras = {
  annotations: undefined,
  logprobs: undefined,
  citations: undefined,
  searchResults: undefined,
};

/** Lists as they came, newest first. */
export interface JsonChain {
  readonly items: readonly Json[];
  readonly before: JsonChain | undefined;
}

export interface ToolState {
  /** In the order of their beginning. The active one stands here as it was when it became active. */
  readonly calls: readonly Call[];
  /** The call that was written to last. */
  readonly active: Call | undefined;
  readonly taken: ReadonlySet<string>;
  /** Offered names, and those among them that no other offered name goes on from. */
  readonly offered: ReadonlySet<string>;
  readonly unmistakable: ReadonlySet<string>;
}

export interface Call {
  /** Its place in `calls`. */
  readonly at: number;
  readonly index: number | undefined;
  /** The vendor's id; empty as long as there is none. */
  readonly given: string;
  readonly name: string;
  /** Nothing as long as the name is not known to be whole. */
  readonly partId: PartId | undefined;
  /** Our id of it; empty before it began. */
  readonly callId: string;
  readonly custom: boolean;
  readonly inexact: boolean;
  readonly extra: JsonObject | undefined;
  /** Arguments that came before the name. */
  readonly early: string;
  readonly arguments: Arguments;
}

export function initialState(context: ReplyContext, options: OpenAiChatOptions): OpenAiChatState {
  const { tools, takenCallIds } = context;
  return {
    options,
    parts: 0,
    text: undefined,
    reasoning: undefined,
    details: undefined,
    bareReasoning: "none",
    extras: noExtras,
    audio: undefined,
    tags: initialTags(options),
    tools: {
      calls: [],
      active: undefined,
      taken: takenCallIds,
      offered: new Set(tools),
      unmistakable: new Set(tools.filter((name) => !hasExtension(name, tools))),
    },
    usage: undefined,
    facts: undefined,
    flags: {},
    ending: undefined,
    late: 0,
  };
}

function hasExtension(name: string, names: readonly string[]): boolean {
  return names.some((other) => other !== name && other.startsWith(name));
}

function initialTags({ thinkTags = false, thinkOpened = false }: OpenAiChatOptions): ThinkTags {
  if (thinkTags === false) return noThinkTags;
  const tag = thinkTags === true ? "think" : thinkTags;
  return { tag, phase: thinkOpened ? "inside" : "start", held: "" };
}
