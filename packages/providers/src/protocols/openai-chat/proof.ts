import type { JsonObject } from "@millrace/core";
import type { StreamEnd } from "../../protocol.ts";
import { failure } from "../../failure.ts";
import type { Finish, OpenaiChatState } from "./state.ts";
import { verdictOf } from "./stop.ts";

/**
 * True if a finish reason proves that the reply is complete. By itself it does if it stands alone
 * behind the content and no content follows it: many servers send no `[DONE]`. A server that sends
 * reasons earlier has to send `[DONE]`, because a reply that is cut behind such a reason looks whole.
 */
export function isProven({ isEarly, isFollowed }: Finish, end: StreamEnd): boolean {
  return end.kind === "over" || (!isEarly && !isFollowed);
}

/** Content that came behind a finish reason. */
export function withMore(state: OpenaiChatState): OpenaiChatState {
  const { finish } = state;
  if (finish === undefined || finish.isFollowed) return state;
  return { ...state, finish: { ...finish, isFollowed: true } };
}

/** A finish reason, with the facts of its chunk. */
export interface ChunkFinish {
  readonly reason: string;
  readonly facts: JsonObject;
  /** Its chunk has content. */
  readonly grew: boolean;
  /** The content of its chunk is a piece. A whole message is never followed by more. */
  readonly isBeside: boolean;
}

/**
 * Records a finish reason. Of several without content between them the first counts, unless a later one
 * says that the reply was cut or failed; with content between them the last counts. A failure stays.
 */
export function withFinish(state: OpenaiChatState, given: ChunkFinish): OpenaiChatState {
  const { finish: earlier } = state;
  const isFollowed = earlier !== undefined && (earlier.isFollowed || given.grew);
  const counts = counting(earlier, readFinish(given), isFollowed);
  const isEmpty = counts.stop === "end" && isBlank(state);
  const finish = { ...counts, isEarly: given.isBeside || isEmpty, isFollowed };
  return { ...state, finish };
}

type ReadFinish = Omit<Finish, "isEarly" | "isFollowed">;

function counting(
  earlier: ReadFinish | undefined,
  later: ReadFinish,
  isFollowed: boolean,
): ReadFinish {
  if (earlier === undefined) return later;
  if (isFailure(earlier)) return earlier;
  return isFollowed || isFailure(later) || isCut(later) ? later : earlier;
}

/** An unknown reason is a failure only if nothing better is known. */
function isFailure({ cause }: ReadFinish): boolean {
  return cause !== undefined && cause.code !== "unknown_stop";
}

function isCut({ stop }: ReadFinish): boolean {
  return stop === "length" || stop === "filtered";
}

function readFinish({ reason, facts }: ChunkFinish): ReadFinish {
  const evidence = { finish_reason: reason.slice(0, 200).toWellFormed(), ...facts };
  const { stop, code } = verdictOf(reason);
  if (code === undefined) return { stop, cause: undefined, evidence };
  const message = `the vendor's reason to stop was ${JSON.stringify(evidence.finish_reason)}`;
  return { stop: undefined, cause: failure(code, message, evidence), evidence };
}

function isBlank({ parts, tools, tags, details }: OpenaiChatState): boolean {
  return parts === 0 && tools.calls.length === 0 && tags.held === "" && details === undefined;
}
