// A viewer: server-sent events in, the text on its screen out.
import { project } from "@millrace/core";
import { createSseDecoder, receive } from "@millrace/core/wire";
import type { SessionState } from "@millrace/core";

export interface Seen {
  readonly text: string;
  readonly finished: boolean;
}

/** What the screen shows after each event, until the run has ended. */
export async function* watch(url: string): AsyncGenerator<Seen, void, undefined> {
  const { body } = await fetch(url);
  if (body === null) return;
  const sse = createSseDecoder();
  let state: SessionState | undefined;
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    for (const event of sse.feed(chunk)) {
      if (event.kind !== "event") continue;
      const received = receive(state, event.data, event.id);
      if (!("state" in received)) return; // a gap: a client would come back with its last id
      ({ state } = received);
      const item = project(state).items.findLast(({ author }) => author === "model");
      const finished = state.ended !== undefined;
      yield {
        text: item?.parts.map((part) => ("text" in part ? part.text : "")).join("") ?? "",
        finished,
      };
      if (finished) return;
    }
  }
}
