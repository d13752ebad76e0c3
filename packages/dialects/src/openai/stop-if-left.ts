import type { SessionRecord } from "@millrace/core/ports";
import type { SegmentRef } from "./encode/response-id.ts";
import type { RouteContext } from "@millrace/server/dialect";
import { inboxOf } from "@millrace/server/dialect";
import { readSegment } from "./read-segment.ts";

/** So long a run goes on whose only reader has left. */
const leftMs = 30_000;

/**
 * Stops the run of a completion without a session, some time after its reader left: no request could come back to
 * it. A run that waits or is over stays as it is.
 */
export function stopIfLeft(context: RouteContext, session: SessionRecord, ref: SegmentRef): void {
  const stop = async (): Promise<void> => {
    const read = await readSegment(context, session, ref);
    if (read?.segments.find(({ from }) => from === ref.from)?.to !== undefined) return;
    const stopped = await inboxOf(context, session).abort({ runId: ref.runId });
    if (stopped.accepted) context.runs.note(session, () => context.store.head(session.uid));
  };
  // If the store is away by then, the run ends by itself.
  context.clock.after(leftMs, () => void stop().catch(() => undefined), { idle: true });
}
