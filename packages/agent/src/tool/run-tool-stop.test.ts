import { getEventListeners } from "node:events";
import { systemClock } from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import { describe, expect, it, vi } from "vitest";
import { executionOf, outcomeOf, toolOf } from "../testing/tools.ts";
import type { RunFunction } from "../testing/tools.ts";
import { runTool } from "./run-tool.ts";
import type { AnyTool, ToolExecution } from "../definition/tool.ts";

vi.setConfig({ testTimeout: 120_000 });

/** A tool that goes on for ever, whatever it is told. */
const deaf: RunFunction = () => new Promise(() => undefined);

describe("a tool that takes too long", () => {
  it("K06: has failed after the time and the grace, though it never settles", async () => {
    const clock = manualClock();
    const options = executionOf(
      toolOf((_, { append }) => {
        append("working");
        return deaf({}, undefined as never);
      }),
      { clock, seconds: 5, graceMs: 1_000 },
    );
    let outcome: unknown;
    void runTool(options).then((given) => (outcome = given));

    await clock.advance(5_999);
    expect(outcome).toBeUndefined();
    await clock.advance(1);

    const text =
      "working\nfailed: took longer than 5 s. It did not end when its signal aborted, and may still be at work";
    expect(outcome).toStrictEqual({ status: "failed", text });
    expect(options.emitted.join("")).toBe(text);
    expect(clock.sleepers()).toBe(0);
  });

  it("is told by its signal, with a reason, and answered as soon as it ends", async () => {
    const clock = manualClock();
    const reasons: unknown[] = [];
    const options = executionOf(
      toolOf(
        (_, { signal }) =>
          new Promise((__, reject) => {
            signal.addEventListener("abort", () => {
              reasons.push(signal.reason);
              reject(signal.reason as Error);
            });
          }),
      ),
      { clock, seconds: 5 },
    );
    const running = runTool(options);

    await clock.advance(5_000);

    expect(await running).toStrictEqual({ status: "failed", text: "failed: took longer than 5 s" });
    expect(reasons).toStrictEqual([expect.objectContaining({ name: "TimeoutError" })]);
  });

  it("has failed even if it returns in the grace, with what it returned", async () => {
    const clock = manualClock();
    const run: RunFunction = async (_, { signal }) => {
      await clock.sleep(10_000, signal);
      return "half";
    };
    const running = runTool(executionOf(toolOf(run), { clock, seconds: 5 }));

    await clock.advance(5_000);

    expect(await running).toStrictEqual({
      status: "failed",
      text: "half\nfailed: took longer than 5 s",
    });
  });

  it("is not heard after it was answered, and its rejection troubles nobody", async () => {
    const clock = manualClock();
    const unhandled: unknown[] = [];
    const listen = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", listen);
    let end: (() => void) | undefined;
    const options = executionOf(
      toolOf(async (_, { append }) => {
        await new Promise<void>((resolve) => (end = resolve));
        append("late");
        throw new Error("late");
      }),
      { clock, seconds: 1, graceMs: 0 },
    );
    const running = runTool(options);

    await clock.advance(1_000);
    const outcome = await running;
    end?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off("unhandledRejection", listen);

    expect(outcome.status).toBe("failed");
    expect(options.emitted).toStrictEqual([]);
    expect(unhandled).toStrictEqual([]);
  });

  it("has its own limit, where none is given", async () => {
    const clock = manualClock();
    const tool: AnyTool = { ...toolOf(deaf), limits: { seconds: 3 } };
    const running = runTool(executionOf(tool, { clock, graceMs: 0 }));

    await clock.advance(3_000);

    expect((await running).text).toContain("took longer than 3 s");
  });

  it.each([Infinity, 1e9])("does not do so at once with a limit of %d seconds", async (seconds) => {
    const slow: RunFunction = () => new Promise((resolve) => setTimeout(() => resolve("done"), 30));

    expect((await outcomeOf(slow, { clock: systemClock, seconds })).text).toBe("done");
  });
});

describe("a tool whose run is stopped", () => {
  it("is told by its signal and has aborted, with what it streamed", async () => {
    const stop = new AbortController();
    const reasons: unknown[] = [];
    const running = outcomeOf(
      async (_, { append, signal }) => {
        append("one");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        reasons.push(signal.reason);
        append(" two");
        throw new DOMException("stopped", "AbortError");
      },
      { signal: stop.signal },
    );

    stop.abort();

    const text = "one two\naborted: the run was stopped";
    expect(await running).toStrictEqual({ status: "aborted", text, emitted: text });
    expect(reasons).toStrictEqual([expect.objectContaining({ name: "AbortError" })]);
  });

  it("K07: and that throws something of its own then, says so", async () => {
    const stop = new AbortController();
    const running = outcomeOf(
      async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        throw new Error("could not roll back");
      },
      { signal: stop.signal },
    );

    stop.abort();

    expect(await running).toMatchObject({
      status: "aborted",
      text: "aborted: the run was stopped: could not roll back",
    });
  });

  it("has its outcome as it is, if it returns in the grace", async () => {
    const stop = new AbortController();
    const running = outcomeOf(
      async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return { written: true };
      },
      { signal: stop.signal },
    );

    stop.abort();

    expect(await running).toMatchObject({ status: "ok", output: { written: true } });
  });

  it("is answered after the grace, though it never settles, and is not heard any more", async () => {
    const clock = manualClock();
    const stop = new AbortController();
    let append: ToolExecution["append"] | undefined;
    const options = executionOf(
      toolOf((input, execution) => {
        append = execution.append;
        return deaf(input, execution);
      }),
      { clock, signal: stop.signal },
    );
    const running = runTool(options);

    stop.abort();
    await clock.advance(1_999);
    expect(clock.sleepers()).toBe(1);
    await clock.advance(1);
    const outcome = await running;
    append?.("late");

    expect(outcome.status).toBe("aborted");
    expect(outcome.text).toContain("may still be at work");
    expect(options.emitted).toStrictEqual([]);
  });

  it("before it began is not begun", async () => {
    let begun = 0;
    const outcome = await outcomeOf(() => (begun += 1), { signal: AbortSignal.abort() });

    expect(outcome.status).toBe("aborted");
    expect(begun).toBe(0);
  });

  it("by itself, at once, is aborted like any other", async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const running = outcomeOf((input, execution) => (stop.abort(), deaf(input, execution)), {
      clock,
      signal: stop.signal,
    });

    await clock.advance(2_000);

    expect((await running).status).toBe("aborted");
  });
});

it("10,000 executions leave no listener and no timer behind", async () => {
  const clock = manualClock();
  const { signal } = new AbortController();
  const runs: readonly RunFunction[] = [
    () => "done",
    () => Promise.reject(new Error("boom")),
    (_, { append }) => append("text"),
    async () => {
      await Promise.resolve();
    },
  ];

  for (let at = 0; at < 10_000; at += 1) {
    await runTool(
      executionOf(toolOf(runs[at % runs.length] ?? deaf), { clock, signal, seconds: 60 }),
    );
  }

  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  expect(clock.sleepers()).toBe(0);
});

it("executions that were stopped leave no listener and no timer behind", async () => {
  const clock = manualClock();
  for (let at = 0; at < 1_000; at += 1) {
    const stop = new AbortController();
    const running = runTool(
      executionOf(toolOf(deaf), { clock, signal: stop.signal, seconds: 60, graceMs: 0 }),
    );
    if (at % 2 === 0) stop.abort();
    else await clock.advance(60_000);
    await clock.advance(0);
    await running;
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
  }

  expect(clock.sleepers()).toBe(0);
});
