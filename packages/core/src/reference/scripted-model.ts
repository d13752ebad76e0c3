import type { Ending, Item } from "../content/item.ts";
import type { Usage } from "../content/usage.ts";
import { wholeText } from "../delta/delta.ts";
import type { Delta, PartOpening } from "../delta/delta.ts";
import { commitOf } from "../delta/commit.ts";
import { MillraceError } from "../errors.ts";
import { callId, partId } from "../ids.ts";
import type { Json } from "../json.ts";
import type { Clock } from "../ports/clock.ts";
import type { Model, ModelRequest } from "../ports/model.ts";
import { abortedCause, createModelStream } from "../ports/model-stream.ts";
import type { ReplyWriter } from "../ports/model-stream.ts";
import type { ScriptedPart, ScriptedReply } from "./script.ts";
import { systemClock } from "./system.ts";

export interface ScriptedModelOptions {
  /**
   * How text and arguments are cut: by character, whole, or in pieces of the given sizes, over and
   * over. Left out: text by character, arguments whole.
   */
  readonly chunk?: "character" | "whole" | readonly number[] | undefined;
  /** Waited before each chunk. */
  readonly delayMs?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly id?: string | undefined;
}

/**
 * A model whose replies a function makes from the request. It holds no position, so it continues a
 * session after a restart, where a list would start again at its first reply:
 * `scriptedModel(({ transcript }) => [say(transcript.length === 1 ? "Hello." : "Hello again.")])`
 */
export function scriptedModel(
  reply: (request: ModelRequest) => readonly ScriptedPart[],
  options?: ScriptedModelOptions,
): Model;
/**
 * A model that plays back a list: no network, no randomness, the same deltas each time. One reply of
 * the list for each request, in order; a request after the last reply ends as failed.
 */
export function scriptedModel(
  replies: readonly ScriptedReply[],
  options?: ScriptedModelOptions,
): Model;
export function scriptedModel(
  replies: readonly ScriptedReply[] | ((request: ModelRequest) => readonly ScriptedPart[]),
  options: ScriptedModelOptions = {},
): Model {
  const { id = "scripted/model", clock = systemClock } = options;
  let requests = 0;
  let calls = 0;
  const nextCall = (): string => `call_${(calls += 1)}`;

  return {
    id,
    stream: (request) => {
      const reply = typeof replies === "function" ? replies : replies[requests];
      requests += 1;
      const number = requests;
      return createModelStream({
        model: id,
        signal: request.signal,
        produce: async (writer) => {
          if (reply === undefined) {
            throw new MillraceError(
              "script_exhausted",
              `the script has ${replies.length} replies, and this is request ${number}`,
            );
          }
          // Call ids stay unique in a session that another process began.
          if (reply === replies) calls = Math.max(calls, callsIn(request.transcript));
          return await perform(partsOf(reply, request), { writer, clock, options, nextCall });
        },
      });
    },
  };
}

function callsIn(transcript: readonly Item[]): number {
  return transcript.flatMap(({ parts }) => parts.filter(({ kind }) => kind === "tool_call")).length;
}

interface ReplyContext {
  readonly writer: ReplyWriter;
  readonly clock: Clock;
  readonly options: ScriptedModelOptions;
  readonly nextCall: () => string;
}

function partsOf(reply: ScriptedReply, request: ModelRequest): readonly ScriptedPart[] {
  return typeof reply === "function" ? reply(request) : reply;
}

async function perform(
  parts: readonly ScriptedPart[],
  context: ReplyContext,
): Promise<Ending & { readonly usage?: Usage | undefined }> {
  const { writer, clock, nextCall } = context;
  let usage: Usage | undefined;
  let ending: Ending = { stop: "end", evidence: "script" };
  for (const [index, part] of parts.entries()) {
    const id = `p${index + 1}`;
    if ("say" in part) await write(id, { kind: "text" }, part.say, context);
    else if ("think" in part)
      await write(id, { kind: "reasoning" }, part.think, context, part.opaque);
    else if ("call" in part) {
      const called = callId(part.callId ?? nextCall());
      await write(id, { kind: "tool_call", callId: called, tool: part.call }, part.raw, context);
      ending = { stop: "tools", evidence: "script" };
    } else if ("deltas" in part) part.deltas.forEach(writer.emit);
    else if ("stall" in part) await clock.sleep(part.stall ?? 2 ** 31 - 1, writer.signal);
    else if ("usage" in part) ({ usage } = part);
    else return { ...part.end, usage };
    if (writer.signal.aborted) return { stop: "aborted", cause: abortedCause, usage };
  }
  return { ...ending, usage };
}

async function write(
  id: string,
  opening: PartOpening,
  text: string,
  { writer, clock, options }: ReplyContext,
  opaque?: Json,
): Promise<void> {
  const part = partId(id);
  writer.emit({ op: "begin_part", partId: part, ...opening });
  const chunk = options.chunk ?? (opening.kind === "tool_call" ? "whole" : "character");
  for (const piece of pieces(text, chunk)) {
    if (options.delayMs !== undefined) await clock.sleep(options.delayMs, writer.signal);
    else await Promise.resolve(); // one chunk at a time, as from a socket
    if (writer.signal.aborted) return;
    writer.emit({ op: "append_text", partId: part, chunk: piece });
  }
  const commit = commitOf(writer.draft(), part);
  if (commit !== undefined) writer.emit(withOpaque(commit, opaque));
}

function withOpaque(commit: Delta, opaque: Json | undefined): Delta {
  if (opaque === undefined || commit.op !== "commit_part" || commit.part.kind !== "reasoning")
    return commit;
  return { ...commit, part: { ...commit.part, opaque } };
}

function* pieces(
  text: string,
  chunk: "character" | "whole" | readonly number[],
): Generator<string> {
  if (text === "") return;
  if (chunk === "whole") yield text;
  else if (chunk === "character") yield* text;
  else {
    let held = "";
    for (let at = 0, turn = 0; at < text.length; turn += 1) {
      const size = Math.max(1, chunk[turn % chunk.length] ?? 1);
      const cut = wholeText(held, text.slice(at, at + size));
      at += size;
      held = cut.held;
      if (cut.text !== "") yield cut.text;
    }
  }
}
