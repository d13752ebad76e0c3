import { noUsage } from "@millrace/core/writing";
import type { Cause } from "@millrace/core";
import { describe, expect, it } from "vitest";
import { Driving } from "../testing/driving.ts";
import { overloaded } from "../testing/simulate.ts";

const retry = { attempts: 3, baseMs: 100, capMs: 1_000 };

/** A run during the first attempt at its reply. */
function asking(settings: ConstructorParameters<typeof Driving>[0] = {}): Driving {
  const session = new Driving({ retry, ...settings });
  session.send();
  session.settle();
  return session;
}

function lastFact(session: Driving): unknown {
  return session.ledger.facts.at(-1);
}

describe("an attempt that failed", () => {
  it("is followed by the next one after its delay, and is counted in the facts", () => {
    const session = asking();
    session.failAttempt(overloaded, noUsage, 0.5);

    expect(session.next()).toMatchObject({ do: "schedule_retry", attempt: 2, delayMs: 50 });
    expect(session.settle()).toStrictEqual(["schedule_retry"]);
    expect(session.next()).toStrictEqual({ do: "wait", until: session.now + 50 });
    session.now += 49;
    expect(session.next().do).toBe("wait");
    session.now += 1;
    expect(session.next()).toMatchObject({ do: "reply", attempt: 2 });
  });

  it("waits twice as long each time, and as long as the vendor asks", () => {
    const session = asking({ retry: { ...retry, attempts: 4 } });
    const delays: unknown[] = [];
    const asks: Cause = { ...overloaded, evidence: { retryAfterMs: 400 } };
    for (const cause of [overloaded, overloaded, asks]) {
      session.failAttempt(cause, noUsage, 0.5);
      const action = session.next();
      delays.push(action.do === "schedule_retry" ? action.delayMs : action.do);
      session.settle();
      session.now += 10_000;
      session.settle();
    }

    expect(delays).toStrictEqual([50, 100, 600]);
  });

  it.each([1, 2, 3, 7])("makes exactly %i requests if the policy says so", (attempts) => {
    const session = asking({ retry: { ...retry, attempts } });
    while (session.reply !== undefined) {
      session.failAttempt();
      session.settle();
      session.now += 10_000;
      session.settle();
    }

    expect(session.requests).toBe(attempts);
    expect(lastFact(session)).toMatchObject({ outcome: "failed", cause: overloaded });
  });

  it("is the reply if it can't succeed by being repeated", () => {
    const session = asking();
    session.failAttempt({ code: "bad_request", message: "no", retryable: false });

    expect(session.settle()).toStrictEqual(["end_reply", "finish_turn", "finish_run"]);
    expect(session.requests).toBe(1);
  });

  it("is the reply if the vendor asks for a longer delay than the policy waits for", () => {
    const session = asking();
    session.failAttempt({ ...overloaded, evidence: { retryAfterMs: retry.capMs + 1 } });

    expect(session.settle()).toStrictEqual(["end_reply", "finish_turn", "finish_run"]);
    expect(session.requests).toBe(1);
  });

  it("is the reply if it has used up the budget", () => {
    const session = asking({ limits: { tokens: 10 } });
    session.failAttempt(overloaded, { ...noUsage, inputTokens: 10 });

    expect(session.settle()).toStrictEqual(["end_reply", "finish_turn", "finish_run"]);
  });

  it("is followed by no other once the run is stopped", () => {
    const session = asking();
    session.failAttempt();
    session.settle();
    session.abort();

    expect(session.settle()).toStrictEqual(["abandon_reply", "finish_turn", "finish_run"]);
    expect(session.requests).toBe(1);
  });

  it.each([true, false])(
    "is counted once when the run is stopped, scheduled or not: %s",
    (scheduled) => {
      const session = asking();
      session.failAttempt(overloaded, { ...noUsage, inputTokens: 7 });
      if (scheduled) session.settle();
      session.abort();
      session.settle();

      expect(session.ledger.state.usage.inputTokens).toBe(7);
    },
  );

  it("before a crash is counted after it", () => {
    const session = asking();
    session.failAttempt();
    session.settle();
    session.claim();

    expect(session.next()).toMatchObject({ do: "reply", attempt: 2 });
  });

  it("at a summary is retried by the same policy, and then the context stays as it is", () => {
    const session = asking({ compactAbove: 100 });
    session.endReply({ stop: "tools", usage: { ...noUsage, inputTokens: 200 } });
    session.settle();
    const attempts: unknown[] = [];
    while (session.compaction !== undefined) {
      session.failAttempt();
      attempts.push(session.next().do);
      session.settle();
      session.now += 10_000;
      session.settle();
    }

    expect(attempts).toStrictEqual(["schedule_retry", "schedule_retry", "end_compaction"]);
    expect(session.run().compacted).toBe("in_vain");
    expect(session.reply).toBeDefined();
  });
});
