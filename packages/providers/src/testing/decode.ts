import { emptyDraft, fold } from "@millrace/core";
import { encodeDelta } from "@millrace/core/wire";
import type { Delta, Draft } from "@millrace/core";
import type { Framing } from "../framing/framing.ts";
import type { Protocol, ReplyContext, StreamEnd } from "../protocol.ts";
import { ReplyReader } from "../reply.ts";
import type { ReplyEnd } from "../reply.ts";

export interface Decoded {
  readonly deltas: readonly Delta[];
  readonly draft: Draft;
  readonly end: ReplyEnd;
  /** Events unknown to the protocol, and events that could not be parsed. */
  readonly unknown: number;
  readonly bad: number;
  readonly alive: number;
}

export const plainContext: ReplyContext = { model: "test", tools: [], takenCallIds: new Set() };

/** The whole path from bytes to deltas, without a socket: the same code that the provider runs. */
export function decode<Event, State>(
  protocol: Protocol<Event, State>,
  framing: Framing<Event>,
  chunks: Iterable<Uint8Array>,
  { end = { kind: "eof" }, context = plainContext }: DecodeOptions = {},
): Decoded {
  const deltas: Delta[] = [];
  let draft = emptyDraft();
  const emit = (delta: Delta): void => {
    draft = fold(draft, delta);
    deltas.push(delta);
  };
  const reader = new ReplyReader(protocol, context, { emit, draft: () => draft });
  const framer = framing.open();
  const counts = { unknown: 0, bad: 0, alive: 0 };
  const finish = (last: StreamEnd): Decoded => {
    const ended = reader.end(last);
    return { deltas, draft, end: ended, ...counts };
  };
  const batches = function* (): Generator<ReturnType<typeof framer.end>> {
    for (const chunk of chunks) yield framer.feed(chunk);
    if (end.kind === "eof") yield framer.end();
  };
  for (const framedBatch of batches()) {
    for (const framed of framedBatch) {
      if (framed.kind === "fault") return finish({ kind: "failed", cause: framed.cause });
      if (framed.kind === "bad_event") {
        counts.bad += 1;
        return finish({ kind: "failed", cause: framed.cause });
      }
      if (framed.kind === "alive") counts.alive += 1;
      if (framed.kind !== "event") continue;
      const progress = reader.take(framed.event);
      if (progress === "over") return finish({ kind: "over" });
      if (progress === "alive" || progress === "unknown") counts[progress] += 1;
    }
  }
  return finish(end);
}

export interface DecodeOptions {
  readonly end?: StreamEnd;
  readonly context?: ReplyContext;
}

/** The golden form: one delta per line, then the ending. */
export function printDecoded({ deltas, end }: Decoded): string {
  const { usage, ...ending } = end;
  const last = JSON.stringify({ ...ending, ...(usage === undefined ? {} : { usage }) });
  return `${[...deltas.map((delta) => encodeText(delta)), last].join("\n")}\n`;
}

function encodeText(delta: Delta): string {
  const encoded: unknown = encodeDelta(delta);
  return typeof encoded === "string" ? encoded : JSON.stringify(encoded);
}
