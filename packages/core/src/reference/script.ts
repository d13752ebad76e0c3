import type { Cause, Ending } from "../content/item.ts";
import type { Usage } from "../content/usage.ts";
import type { Delta } from "../delta/delta.ts";
import type { Json } from "../json.ts";
import type { ModelRequest } from "../ports/model.ts";

/** One thing that a scripted reply does. */
export type ScriptedPart =
  | { readonly say: string }
  | { readonly think: string; readonly opaque?: Json }
  | { readonly call: string; readonly raw: string; readonly callId?: string }
  | { readonly deltas: readonly Delta[] }
  /** Silence, for so long on the model's clock; left out: until it is aborted. */
  | { readonly stall: number | undefined }
  | { readonly usage: Usage }
  /** Ends the reply here, whatever is still open. */
  | { readonly end: Ending };

/** A reply, or a function that makes one from the request. */
export type ScriptedReply =
  | readonly ScriptedPart[]
  | ((request: ModelRequest) => readonly ScriptedPart[]);

/** Text of the reply. */
export function say(text: string): ScriptedPart {
  return { say: text };
}

/** Reasoning of the reply, with what a vendor would want back. */
export function think(text: string, opaque?: Json): ScriptedPart {
  return opaque === undefined ? { think: text } : { think: text, opaque };
}

export interface CallOptions {
  readonly callId?: string | undefined;
}

/** A call with an input, which is written as JSON. For argument text to the letter: `callRaw`. */
export function call(tool: string, input: unknown, options: CallOptions = {}): ScriptedPart {
  return callRaw(tool, JSON.stringify(input), options);
}

/** A call with this argument text, sound or not. */
export function callRaw(tool: string, raw: string, { callId }: CallOptions = {}): ScriptedPart {
  return callId === undefined ? { call: tool, raw } : { call: tool, raw, callId };
}

/** Deltas as they are, also illegal ones. */
export function emit(...deltas: readonly Delta[]): ScriptedPart {
  return { deltas };
}

/** Nothing comes for this long; without a number, nothing more at all. */
export function stall(ms?: number): ScriptedPart {
  return { stall: ms };
}

/** The bytes end without evidence that the reply is whole. */
export function truncate(): ScriptedPart {
  return {
    end: { stop: "truncated", cause: { code: "truncated", message: "the stream ended too early" } },
  };
}

/** The reply fails with this cause after what came before. */
export function fail(
  code: string,
  message: string,
  more: Omit<Cause, "code" | "message"> = {},
): ScriptedPart {
  return { end: { stop: "failed", cause: { code, message, ...more } } };
}
