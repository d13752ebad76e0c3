/** What a page went through between `start` and `stop`. */
export interface Metered {
  /** Milliseconds of each task of at least 50 ms, with what other processes took of the processor. */
  readonly longTasks: readonly number[];
  readonly frames: number;
  /** Frames of 60 a second that never came. */
  readonly dropped: number;
  /** Times between two frames that were longer than 50 ms. */
  readonly stalls: number;
}

const frameMs = 1_000 / 60;

function makeMeter(): { readonly start: () => void; readonly stop: () => Metered } {
  let times: number[] = [];
  let longTasks: number[] = [];
  const note = (list: PerformanceObserverEntryList | PerformanceObserver): void => {
    const entries = "getEntries" in list ? list.getEntries() : list.takeRecords();
    for (const { duration } of entries) longTasks.push(duration);
  };
  const observer = new PerformanceObserver(note);
  let isOn = false;
  const frame = (time: number): void => {
    times.push(time);
    if (isOn) requestAnimationFrame(frame);
  };
  return {
    start: () => {
      [times, longTasks, isOn] = [[], [], true];
      observer.observe({ type: "longtask" });
      requestAnimationFrame(frame);
    },
    stop: () => {
      isOn = false;
      note(observer);
      observer.disconnect();
      const gaps = times.slice(1).map((time, at) => time - (times[at] ?? time));
      const dropped = gaps.reduce(
        (sum, gap) => sum + Math.max(0, Math.round(gap / frameMs) - 1),
        0,
      );
      return {
        longTasks,
        frames: times.length,
        dropped,
        stalls: gaps.filter((gap) => gap > 50).length,
      };
    },
  };
}

/** Counts the frames and long tasks of a page. */
export const meter: ReturnType<typeof makeMeter> = makeMeter();
