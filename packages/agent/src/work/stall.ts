import type { LiveEvent } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";

/** Viewers are told after this long without anything new from the model, and again each time. */
const tellAfterMs = 30_000;
/** Then the attempt is given up. Bytes that bring nothing new do not count as progress. */
const giveUpAfterMs = 180_000;

export interface StallWatch {
  readonly moved: () => void;
  readonly stalled: () => boolean;
  readonly stop: () => void;
}

/**
 * Notices when a reply makes no progress, whatever its transport says. One timer at a time, however
 * many deltas come.
 */
export function watchForStall(
  clock: Clock,
  tell: (event: Extract<LiveEvent, { readonly type: "stalled" }>) => void,
  giveUp: () => void,
): StallWatch {
  const done = new AbortController();
  let last = clock.now();
  let stalled = false;
  const watch = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await clock.sleep(tellAfterMs, done.signal);
      const silentMs = clock.now() - last;
      if (done.signal.aborted || silentMs < tellAfterMs) continue;
      tell({ type: "stalled", silentMs });
      if (silentMs < giveUpAfterMs) continue;
      stalled = true;
      giveUp();
      return;
    }
  };
  void watch();
  return {
    moved: () => {
      last = clock.now();
    },
    stalled: () => stalled,
    stop: () => done.abort(),
  };
}
