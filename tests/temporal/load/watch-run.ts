import { textOf } from "@millrace/core";
import { RemoteViewer } from "../../kit/deployment/remote-viewer.ts";
import { piecesIn, readReply } from "./ask.ts";
import type { LoadRun, Side } from "./side.ts";

/** A viewer that shows all of a run, and when it showed it. */
export interface WatchedRun extends Disposable {
  readonly viewer: RemoteViewer;
  /** The milliseconds from the planned time of a piece to its being shown, for the last of each change. */
  readonly lags: readonly number[];
}

export function watchRun(side: Side, { sessionId }: LoadRun, perSecond: number): WatchedRun {
  const { addresses } = side;
  const viewer = new RemoteViewer({ session: sessionId, addresses, returns: "cursor" });
  const lags: number[] = [];
  let startedAt: number | undefined;
  viewer.onChange = () => {
    const part = viewer.state?.lanes[0]?.draft.parts[0];
    if (part?.state !== "open") return;
    const pieces = piecesIn(part.settled.length + part.tail.length);
    if (pieces === 0) return;
    startedAt ??= readReply(textOf(part)).startedAt;
    lags.push(Date.now() - startedAt - ((pieces - 1) * 1_000) / perSecond);
  };
  return { viewer, lags, [Symbol.dispose]: () => viewer[Symbol.dispose]() };
}
