import { sessionId } from "@millrace/core/writing";
import type { Usage } from "@millrace/core";
import { expect, test } from "vitest";
import { call, epochOf, Facts, live, opened, reply, run, turn } from "./testing/events.ts";
import { createUsageMeter } from "./usage.ts";

function used(inputTokens: number, outputTokens: number): Usage {
  return { inputTokens, outputTokens, cachedTokens: 0 };
}

test("failed, stopped and superseded attempts count like others", () => {
  const facts = new Facts();
  const meter = createUsageMeter();
  const report = (attempt: number, usage: Usage) =>
    facts.make({
      type: "usage_reported",
      runId: run,
      turnId: turn,
      epoch: epochOf(attempt),
      usage,
    });

  meter.observe(opened({ attempt: 1 }));
  meter.observe(report(1, used(10, 1)));
  meter.observe(
    live(
      { type: "attempt_started", author: "model", model: "anthropic-messages/claude" },
      { attempt: 2 },
    ),
  );
  meter.observe(report(2, used(20, 2)));

  expect(meter.total()).toEqual(used(30, 3));
  expect(meter.session(sessionId("s"))).toEqual(used(30, 3));
  expect(meter.run(sessionId("s"), run)).toEqual(used(30, 3));
  expect(Object.fromEntries(meter.models())).toEqual({
    "openai-chat/gpt-5": used(10, 1),
    "anthropic-messages/claude": used(20, 2),
  });
});

test("what a sub-agent used is in its parent's numbers, and once in the total", () => {
  const facts = new Facts();
  const meter = createUsageMeter();
  const ids = { runId: run, turnId: turn, epoch: epochOf(1, 2) };

  meter.observe(
    facts.make({
      type: "tool_execution_started",
      ...ids,
      callId: call,
      tool: "packer",
      input: {},
      itemId: reply,
      lane: 1,
      childSessionId: sessionId("child"),
    }),
  );
  meter.observe(opened({ session: "child" }));
  meter.observe(
    facts.make(
      { type: "usage_reported", runId: run, epoch: epochOf(1), usage: used(5, 1) },
      { session: "child" },
    ),
  );
  meter.observe(facts.make({ type: "usage_reported", ...ids, usage: used(5, 1) }));

  expect(meter.total()).toEqual(used(5, 1));
  expect(meter.session(sessionId("s"))).toEqual(used(5, 1));
  expect(meter.session(sessionId("child"))).toEqual(used(5, 1));
});

test("the usage of a sub-agent that is not observed counts with its parent", () => {
  const facts = new Facts();
  const meter = createUsageMeter();
  const ids = { runId: run, turnId: turn, epoch: epochOf(1, 2) };

  meter.observe(
    facts.make({
      type: "tool_execution_started",
      ...ids,
      callId: call,
      tool: "packer",
      input: {},
      itemId: reply,
      lane: 1,
      childSessionId: sessionId("child"),
    }),
  );
  meter.observe(facts.make({ type: "usage_reported", ...ids, usage: used(5, 1) }));

  expect(meter.total()).toEqual(used(5, 1));
  expect(Object.fromEntries(meter.models())).toEqual({ unknown: used(5, 1) });
});

test("sessions and runs are counted separately, and a session can be forgotten", () => {
  const facts = new Facts();
  const meter = createUsageMeter();
  for (const session of ["a", "b"]) {
    meter.observe(
      facts.make({ type: "usage_reported", runId: run, epoch: 1, usage: used(1, 1) }, { session }),
    );
  }

  meter.forget(sessionId("a"));

  expect(meter.session(sessionId("a"))).toEqual(used(0, 0));
  expect(meter.session(sessionId("b"))).toEqual(used(1, 1));
  expect(meter.total()).toEqual(used(2, 2));
});
