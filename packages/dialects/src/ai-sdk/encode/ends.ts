import type { StopReason } from "@millrace/core";
import type { RunRecord } from "../../shared/encode/run-record.ts";
import type { Chunk, FinishReason, MessageMetadata } from "./chunks.ts";
import type { Profile } from "./profiles.ts";

/** Until the reader's next request has the answers. */
export const waitingEnd: readonly Chunk[] = [{ type: "finish", finishReason: "tool-calls" }];

const reasons: Readonly<Partial<Record<StopReason, FinishReason>>> = {
  end: "stop",
  tools: "tool-calls",
  length: "length",
  filtered: "content-filter",
};

/** The end of a run that is over. A failure comes last: a reader takes nothing after it. */
export function endOf(profile: Profile, record: RunRecord): readonly Chunk[] {
  const { ended, state } = record;
  const messageMetadata = metadataOf(record);
  const end = (finishReason: FinishReason): Chunk => ({
    type: "finish",
    finishReason,
    ...(messageMetadata === undefined ? {} : { messageMetadata }),
  });
  switch (ended?.outcome) {
    case "completed": {
      const reply = state.items
        .toArray()
        .findLast(({ author }) => author !== "user" && author !== "tool");
      return [end((reply && reasons[reply.stop]) ?? "other")];
    }
    case "aborted":
      return [end(profile.stopped), { type: "abort" }];
    case "failed":
      return [end("error"), { type: "error", errorText: ended.cause.message }];
    case "limited":
    case undefined:
      return [end("other")];
    default:
      ended satisfies never;
      return [];
  }
}

/** How a run ended and what it used. */
function metadataOf({ ended, state }: RunRecord): MessageMetadata | undefined {
  if (ended === undefined) return undefined;
  const { inputTokens, outputTokens } = state.usage;
  return { millrace: { outcome: ended.outcome, usage: { inputTokens, outputTokens } } };
}
