import { abortedCause, createModelStream } from "@millrace/core/model";
import type { ReplySource } from "@millrace/core/model";
import type { Item, Model } from "@millrace/core";
import { currentSession } from "./activity-session.ts";

/**
 * The model, with each reply streamed to the viewers of the session whose workflow asks for it. The caller
 * gets the reply as it is stored, whole: a repeat of its activity gets the same one, and asks no model.
 * In a workflow without a session it is the model as it is.
 */
export function throughSession(model: Model): Model {
  return {
    id: model.id,
    stream: (request) => {
      const session = currentSession();
      if (session === undefined) return model.stream(request);
      return createModelStream({
        model: model.id,
        signal: request.signal,
        produce: async ({ emit }) => {
          const item = await session.write(model, request);
          if (item === undefined) {
            const message = session.failure?.message ?? abortedCause.message;
            return { stop: "failed", cause: { code: "not_written", message } };
          }
          for (const part of item.parts) emit({ op: "commit_part", partId: part.id, part });
          return endingOf(item);
        },
      });
    },
  };
}

/** How the item ended, without what the stream itself tells. */
function endingOf(item: Item): Awaited<ReturnType<ReplySource["produce"]>> {
  const { usage, evidence } = item;
  const used = usage === undefined ? {} : { usage };
  if (item.cause !== undefined) return { stop: item.stop, cause: item.cause, ...used };
  return { stop: item.stop, ...(evidence === undefined ? {} : { evidence }), ...used };
}
