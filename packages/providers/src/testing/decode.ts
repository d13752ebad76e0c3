import { emptyDraft, fold } from "@millrace/core";
import { encodeDelta } from "@millrace/core/wire";
import type { Delta, Draft } from "@millrace/core";
import type { Framing } from "../framing/framing.ts";
import type { Protocol, ReplyContext, StreamEnd } from "../protocol.ts";
import { ReplyReader } from "../reply.ts";
import type { DeltaSink, ReplyEnd } from "../reply.ts";
import { withPortableCalls } from "../protocols/portable-calls.ts";
import { withOwnNames } from "../protocols/tool-names.ts";
import type { WireNames } from "../protocols/tool-names.ts";

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
  { end = { kind: "eof" }, context = plainContext, names = noNames }: DecodeOptions = {},
): Decoded {
  const deltas: Delta[] = [];
  let draft = emptyDraft();
  const emit = (delta: Delta): void => {
    draft = fold(draft, delta);
    deltas.push(delta);
  };
  const sink = withOwnNames({ emit, draft: () => draft }, names);
  const reader = readerOf(protocol, context, sink);
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
  /** The names of tools on the wire, and their own. */
  readonly names?: WireNames;
}

const noNames: WireNames = { toWire: new Map(), fromWire: new Map() };

/** What `decode` uses of a reader, whatever its state is. */
type AnyReader<Event> = Pick<ReplyReader<Event, never>, "take" | "end">;

function readerOf<Event, State>(
  protocol: Protocol<Event, State>,
  context: ReplyContext,
  sink: DeltaSink,
): AnyReader<Event> {
  const { native } = context;
  return native === undefined
    ? new ReplyReader(protocol, context, sink)
    : new ReplyReader(withPortableCalls(protocol, native), context, sink);
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
