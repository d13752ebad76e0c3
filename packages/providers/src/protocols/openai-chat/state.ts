import type { Cause, Json, JsonObject, PartId } from "@millrace/core";
import type { ReplyContext } from "../../protocol.ts";
import type { SettingsTable } from "../../settings.ts";
import type { Arguments } from "./arguments.ts";
import type { Details } from "./reasoning-details.ts";
import type { ReportedStop } from "./stop.ts";
import type { Stray } from "./stray.ts";
import { noThinkTags } from "./think-tags.ts";
import type { ThinkTags } from "./think-tags.ts";

/** Differences of a server from the vendor that its bytes do not show. */
export interface OpenaiChatProtocolOptions {
  /** The content begins with reasoning in tags: `true` for `<think>`, or the name of the tag. */
  readonly thinkTags?: boolean | string | undefined;
  /** The server's template has already opened the tag, so the content has only its end. */
  readonly thinkOpened?: boolean | undefined;
  /**
   * The server never sends a finish reason: `[DONE]` ends a reply of text. Calls still require a
   * reason.
   */
  readonly finishOptional?: boolean | undefined;
  /** How the server takes settings. Default: as OpenAI does. */
  readonly settings?: SettingsTable | undefined;
}

/** The state of a reply. Immutable: a step returns a new state, or the same one. */
export interface OpenaiChatState {
  readonly options: OpenaiChatProtocolOptions;
  /** The number of parts begun. */
  readonly parts: number;
  readonly text: TextSpan | undefined;
  readonly reasoning: ReasoningSpan | undefined;
  /** Details for the next reasoning part to be closed. */
  readonly details: Details | undefined;
  /** Whether `reasoning_content` arrived, even if empty: its vendors require the field back. */
  readonly bareReasoning: "none" | "empty" | "filled";
  readonly extras: Extras;
  readonly audio: AudioSpan | undefined;
  readonly tags: ThinkTags;
  readonly tools: ToolState;
  readonly usage: Json | undefined;
  readonly facts: JsonObject | undefined;
  readonly flags: JsonObject;
  readonly finish: Finish | undefined;
  /** Text of chunks without choice 0. `none` once it is known to be no reply. */
  readonly stray: Stray | "none" | undefined;
}

/**
 * The finish reason that counts. It is kept until the stream ends, because some servers send one with
 * every chunk or behind every call.
 */
export interface Finish {
  /** The ending that it reports. Undefined if it reports a failure. */
  readonly stop: ReportedStop | undefined;
  readonly cause: Cause | undefined;
  readonly evidence: JsonObject;
  /** It stands in a chunk with content, or before all content, so that more may follow. */
  readonly isEarly: boolean;
  /** Content followed it, or one before it: the reasons of this stream do not end the reply. */
  readonly isFollowed: boolean;
}

/** Open text. Refusals and transcripts of speech have parts of their own. */
export interface TextSpan {
  readonly id: PartId;
  readonly channel: TextChannel;
}

export type TextChannel = "text" | "refusal" | "transcript";

export interface ReasoningSpan {
  readonly id: PartId;
  /**
   * The field that it arrived in and is sent back in. Undefined if the vendor does not require it
   * back.
   */
  readonly field: string | undefined;
}

export interface AudioSpan {
  /** Undefined until there is sound. */
  readonly id: PartId | undefined;
  /** Up to three base64 characters of an incomplete group. */
  readonly held: string;
  readonly metadata: JsonObject;
}

/** Data of a text, set once when the text is closed. */
export interface Extras {
  readonly annotations: JsonChain | undefined;
  readonly logprobs: JsonChain | undefined;
  /** Sent whole in each chunk; the last one is kept. */
  readonly citations: Json | undefined;
  readonly searchResults: Json | undefined;
}

export const noExtras: Extras = {
  annotations: undefined,
  logprobs: undefined,
  citations: undefined,
  searchResults: undefined,
};

/** A list of lists, newest first. */
export interface JsonChain {
  readonly items: readonly Json[];
  readonly before: JsonChain | undefined;
}

export interface ToolState {
  /** In the order of their beginning. The entry of the active call is outdated. */
  readonly calls: readonly Call[];
  /** The call that was written to last. */
  readonly active: Call | undefined;
  readonly taken: ReadonlySet<string>;
  /** The offered names, and those of them that are not a prefix of another one. */
  readonly offered: ReadonlySet<string>;
  readonly unmistakable: ReadonlySet<string>;
}

export interface Call {
  /** The index in `calls`. */
  readonly at: number;
  readonly index: number | undefined;
  /** The vendor's id, or an empty string. */
  readonly given: string;
  readonly name: string;
  /** Undefined until the name is known to be complete. */
  readonly partId: PartId | undefined;
  /** The call id, or an empty string until the call begins. */
  readonly callId: string;
  readonly custom: boolean;
  readonly inexact: boolean;
  readonly extra: JsonObject | undefined;
  /** Arguments that arrived before the name. */
  readonly early: string;
  readonly arguments: Arguments;
}

export function initialState(
  context: ReplyContext,
  options: OpenaiChatProtocolOptions,
): OpenaiChatState {
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
    finish: undefined,
    stray: undefined,
  };
}

function hasExtension(name: string, names: readonly string[]): boolean {
  return names.some((other) => other !== name && other.startsWith(name));
}

function initialTags({
  thinkTags = false,
  thinkOpened = false,
}: OpenaiChatProtocolOptions): ThinkTags {
  if (thinkTags === false && !thinkOpened) return noThinkTags;
  const tag = typeof thinkTags === "string" ? thinkTags : "think";
  return { tag, phase: thinkOpened ? "opened" : "start", held: "" };
}
