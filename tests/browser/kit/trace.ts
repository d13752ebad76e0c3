import type { Browser, Page } from "playwright-core";

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time of its thread. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** What the main thread of a page has worked, in milliseconds of processor time. */
export interface Work {
  readonly allMs: number;
  /** The longest task. */
  readonly longestMs: number;
  readonly tasks: number;
}

const mark = "the page that is measured";
/** What settles promises, as the reader of a stream, runs after a task, and is no part of it to the tracer. */
const taskNames = ["ThreadControllerImpl::RunTask", "BlinkScheduler_PerformMicrotaskCheckpoint"];

/**
 * Measures the tasks of a page's main thread by the processor time that they took: other than the time
 * of a clock, it has no part of what other processes took meanwhile. The result ends the measurement.
 */
export async function traceTasks(browser: Browser, page: Page): Promise<() => Promise<Work>> {
  await browser.startTracing(page, { categories: ["toplevel", "blink.user_timing"] });
  await page.evaluate(`performance.mark(${JSON.stringify(mark)})`);
  return async () => {
    const text = (await browser.stopTracing()).toString();
    const { traceEvents } = JSON.parse(text) as { traceEvents: readonly TraceEvent[] };
    const marked = traceEvents.find(({ name }) => name === mark);
    const main = traceEvents.find(
      ({ name, pid, args }) =>
        name === "thread_name" && pid === marked?.pid && args?.name === "CrRendererMain",
    );
    if (main === undefined) throw new Error("the trace does not name the page's main thread");
    const tasks = traceEvents
      .filter(({ pid, tid, ph }) => ph === "X" && pid === main.pid && tid === main.tid)
      .flatMap(({ name, tdur }) => (taskNames.includes(name) && tdur ? [tdur / 1_000] : []));
    const allMs = tasks.reduce((sum, ms) => sum + ms, 0);
    return { allMs, longestMs: Math.max(0, ...tasks), tasks: tasks.length };
  };
}
