import { describe, expect, it } from "vitest";
import { allow, ask, Driving, plainTool } from "../testing/driving.ts";
import type { ToolSettings } from "../definition/loop-settings.ts";
import type { Action } from "./action.ts";
import { answerInputIdOf } from "./ids.ts";
import type { CallVerdict } from "./state.ts";

/** The numbers of the calls that the next action starts. */
function begun(session: Driving): readonly number[] {
  const action = session.next();
  return action.do === "execute" ? action.calls.map(({ lane }) => lane) : [];
}

function answersOf(action: Action): readonly string[] {
  return action.do === "settle"
    ? action.answers.map(({ call, status }) => `${call.lane} ${status}`)
    : [];
}

/** The texts of all results so far. */
function resultsOf({ ledger }: Driving): readonly string[] {
  return ledger.state.items
    .toArray()
    .flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === "tool_result" ? part.text : [])),
    );
}

describe("calls that may run", () => {
  it("run at once, as many as may", () => {
    const session = new Driving({ parallel: 2 });
    session.runUpToCalls(["pay", "pay", "pay"]);

    expect(begun(session)).toStrictEqual([1, 2]);
    session.perform(session.next());
    expect(session.next().do).toBe("wait");
    session.endCall(session.call(2).itemId, "ok");
    expect(begun(session)).toStrictEqual([3]);
  });

  it.each([
    [["pay", "alone", "pay"], [1], [2], [3]],
    [["alone", "pay", "pay"], [1], [2, 3], []],
    [["pay", "pay", "alone"], [1, 2], [3], []],
    [["alone", "alone"], [1], [2], []],
  ])("run in their order around those that run alone: %j", (tools, ...waves) => {
    const alone = { ...plainTool, alone: true };
    const session = new Driving({ tools: { pay: plainTool, alone } });
    session.runUpToCalls(tools);
    for (const wave of waves) {
      expect(begun(session)).toStrictEqual(wave);
      if (wave.length === 0) continue;
      session.perform(session.next());
      for (const number of wave) {
        expect(begun(session)).toStrictEqual([]);
        session.endCall(session.call(number).itemId, "ok");
      }
    }
  });

  it("are assessed once, all together, before any runs", () => {
    const session = new Driving();
    session.answerWith({
      stop: "tools",
      calls: [
        { callId: "c1", tool: "pay" },
        { callId: "c2", tool: "look" },
      ],
    });

    expect(session.assessing?.map(({ lane }) => lane)).toStrictEqual([1, 2]);
    expect(session.next().do).toBe("wait");
  });
});

describe("a call that may not run", () => {
  it.each(["end", "length", "filtered", "paused"] as const)(
    "because its reply ended as %s is answered, and never assessed",
    (stop) => {
      const session = new Driving();
      session.send();
      session.settle();
      session.endReply({ stop, calls: [{ callId: "c1", tool: "look" }] });

      expect(answersOf(session.next())).toStrictEqual(["1 aborted"]);
    },
  );

  it.each(["aborted", "truncated", "failed"] as const)(
    "because its reply was cut as %s is answered, and never assessed",
    (stop) => {
      const session = new Driving();
      session.send();
      session.settle();
      const cause = { code: "x", message: "x" };
      session.endReply({ stop, cause, calls: [{ callId: "c1", tool: "look" }] });

      expect(answersOf(session.next())).toStrictEqual(["1 aborted"]);
    },
  );

  it.each(["failed", "denied"] as const)("is answered as %s if it is refused so", (status) => {
    const session = new Driving();
    const refused: CallVerdict = { decision: "refuse", status };
    session.runUpToCalls(["pay", "look"], (call) => (call.lane === 1 ? refused : allow(call)));

    expect(session.next()).toMatchObject({
      do: "settle",
      answers: [{ status, why: "refused", call: { lane: 1 } }],
    });
    session.perform(session.next());
    expect(resultsOf(session)).toStrictEqual(["no"]);
    expect(begun(session)).toStrictEqual([2]);
  });

  it("because another has its id is answered with that one", () => {
    const session = new Driving();
    session.answerWith({
      stop: "tools",
      calls: [
        { callId: "c1", tool: "pay" },
        { callId: "c1", tool: "look" },
      ],
    });

    expect(session.assessing?.map(({ lane }) => lane)).toStrictEqual([1]);
  });
});

describe("a question", () => {
  it("asks about exactly the input that would run, and the call waits", () => {
    const session = new Driving();
    session.runUpToCalls(["pay", "look"], (call) => (call.lane === 1 ? ask(call) : allow(call)));

    expect(session.next()).toMatchObject({
      do: "ask",
      questions: [{ hash: session.call(1).itemId, call: { lane: 1 } }],
    });
    session.perform(session.next());
    expect(begun(session)).toStrictEqual([2]);
    session.perform(session.next());
    expect(session.next()).toStrictEqual({ do: "wait" });
  });

  it("that is allowed starts the call", () => {
    const session = new Driving();
    session.runUpToCalls(["pay"], ask);
    session.settle();
    session.decideOn(1, "allow");

    expect(begun(session)).toStrictEqual([1]);
  });

  it("that is denied answers the call with the reason", () => {
    const session = new Driving();
    session.runUpToCalls(["pay"], ask);
    session.settle();
    session.decideOn(1, "deny", "not today");

    expect(session.next()).toMatchObject({
      do: "settle",
      answers: [{ status: "denied", why: "denied" }],
    });
    session.perform(session.next());
    expect(resultsOf(session)).toStrictEqual(["a person denied this call: not today"]);
  });

  it.each(["allow", "deny"] as const)(
    "is answered once: what comes after %s is refused",
    (first) => {
      const session = new Driving();
      session.runUpToCalls(["pay"], ask);
      session.settle();

      expect(session.decideOn(1, first)).toBe(true);
      expect(session.decideOn(1, first === "allow" ? "deny" : "allow")).toBe(false);
      expect(session.call(1).approval?.answer?.decision).toBe(first);
    },
  );

  it.each(["allow", "deny"] as const)(
    "that was answered with %s about something else is void, and asked again",
    (decision) => {
      const session = new Driving();
      session.runUpToCalls(["look"], ask);
      session.settle();
      session.decideOn(1, decision);
      session.claim();
      session.settle();
      session.endAssessing(() => ({ decision: "ask", hash: "another" }));

      expect(session.next()).toMatchObject({ do: "ask", questions: [{ hash: "another" }] });
      session.perform(session.next());
      expect(session.call(1)).toMatchObject({ asked: 2, approval: { hash: "another" } });
      expect(session.next().do).toBe("wait");
    },
  );

  it("that was answered before a restart need not be answered again", () => {
    const session = new Driving();
    session.runUpToCalls(["pay"], ask);
    session.settle();
    session.decideOn(1, "allow");
    session.claim();
    session.settle();
    session.endAssessing(ask);

    expect(begun(session)).toStrictEqual([1]);
  });

  it("without an answer is denied when its time is over, and not before", () => {
    const session = new Driving({ approvalSeconds: 60 });
    session.runUpToCalls(["pay"], ask);
    session.settle();
    const asked = session.now;

    expect(session.next()).toStrictEqual({ do: "wait", until: asked + 60_000 });
    session.now = asked + 59_999;
    expect(session.next().do).toBe("wait");
    session.now = asked + 60_000;
    expect(answersOf(session.next())).toStrictEqual(["1 denied"]);
  });

  it.each([
    [59_999, "execute"],
    [60_000, "settle"],
  ])("that is allowed after %i of 60,000 ms leads to %s", (ms, next) => {
    const session = new Driving({ approvalSeconds: 60 });
    session.runUpToCalls(["pay"], ask);
    session.settle();
    // No driver runs meanwhile, so the expiry is not stored.
    session.now += ms;
    session.decideOn(1, "allow");

    expect(session.next().do).toBe(next);
  });

  it("that was answered in time does not expire afterwards", () => {
    const session = new Driving({ approvalSeconds: 60 });
    session.runUpToCalls(["pay"], ask);
    session.settle();
    session.decideOn(1, "allow");
    session.now += 100_000;

    expect(begun(session)).toStrictEqual([1]);
  });

  it("that expires while its call is assessed again does not make the driver spin", () => {
    const session = new Driving({ approvalSeconds: 60 });
    session.runUpToCalls(["pay"], ask);
    session.settle();
    session.claim();
    session.settle();
    session.now += 100_000;

    expect(session.next()).toStrictEqual({ do: "wait" });
  });
});

describe("a call that a client answers", () => {
  const client: ToolSettings = { ...plainTool, effect: "idempotent", client: true };
  const tools = { confirm: client, pay: plainTool };
  const answer = (session: Driving, number: number): void => {
    const { callId, itemId } = session.call(number);
    const id = answerInputIdOf(itemId);
    const input = { kind: "answer", callId, output: 1 } as const;
    session.accept(id, { type: "input_accepted", inputId: id, input });
  };

  it("has its intent stored, and no lane is open", () => {
    const session = new Driving({ tools });
    session.runUpToCalls(["confirm"]);

    expect(session.settle()).toStrictEqual(["await_client"]);
    expect(session.ledger.state.executions).toHaveLength(1);
    expect(session.ledger.floors()).toStrictEqual([]);
    expect(session.calls.size).toBe(0);
  });

  it("takes no place of calls that run", () => {
    const session = new Driving({ tools, parallel: 1 });
    session.runUpToCalls(["confirm", "pay", "confirm"]);

    expect(session.settle()).toStrictEqual(["execute", "await_client"]);
    expect(session.ledger.state.executions).toHaveLength(3);
  });

  it("is settled by the answer, after that was checked, in one step with its input", () => {
    const session = new Driving({ tools });
    session.runUpToCalls(["confirm"]);
    session.settle();
    answer(session, 1);

    expect(session.settle()).toStrictEqual([
      "check_answers",
      "settle",
      "finish_turn",
      "begin_turn",
      "reply",
    ]);
    expect(resultsOf(session)).toStrictEqual(["answered"]);
    expect(session.standing.queue).toStrictEqual([]);
  });

  it.each(["claim", "restart"] as const)(
    "is still awaited after a %s, and its intent is stored once",
    (event) => {
      const session = new Driving({ tools });
      session.runUpToCalls(["confirm"]);
      session.settle();
      session[event]();

      expect(session.settle()).toStrictEqual([]);
      answer(session, 1);
      expect(session.settle()).toContain("settle");
    },
  );

  it("is answered as aborted when the run is stopped, and uses up an answer that came", () => {
    const session = new Driving({ tools });
    session.runUpToCalls(["confirm"]);
    session.settle();
    answer(session, 1);
    session.abort();

    expect(answersOf(session.next())).toStrictEqual(["1 aborted"]);
    session.settle();
    expect(resultsOf(session)).toStrictEqual([
      "the run was stopped before a client answered this call",
    ]);
    expect(session.standing.queue).toStrictEqual([]);
  });

  it("of a tool that runs alone lets nothing run beside it", () => {
    const session = new Driving({ tools: { ...tools, confirm: { ...client, alone: true } } });
    session.runUpToCalls(["confirm", "pay"]);

    expect(session.settle()).toStrictEqual(["await_client"]);
    answer(session, 1);
    expect(session.settle()).toStrictEqual(["check_answers", "settle", "execute"]);
  });
});

describe("a call that a lost driver had started", () => {
  it.each(["claim", "restart"] as const)("is known to be lost after a %s", (event) => {
    const session = new Driving();
    session.runUpToCalls(["pay"]);
    session.settle();
    session[event]();

    expect(answersOf(session.next())).toStrictEqual(["1 unknown"]);
  });

  it("is answered as unknown if it is effectful", () => {
    const session = new Driving();
    session.runUpToCalls(["pay"]);
    session.settle();
    session.claim();

    expect(answersOf(session.next())).toStrictEqual(["1 unknown"]);
  });

  it.each(["pure", "idempotent"] as const)("runs again if it is %s", (effect) => {
    const session = new Driving({ tools: { put: { ...plainTool, effect } } });
    session.runUpToCalls(["put"]);
    session.settle();
    session.claim();
    session.settle();
    session.endAssessing(allow);

    expect(begun(session)).toStrictEqual([1]);
  });

  it("is answered as unknown if its tool is not there any more", () => {
    const session = new Driving({ tools: { put: { ...plainTool, effect: "pure" } } });
    session.runUpToCalls(["put"]);
    session.settle();
    session.claim();
    session.settings = { ...session.settings, tools: {} };

    expect(answersOf(session.next())).toStrictEqual(["1 unknown"]);
  });

  it("is answered as unknown also when the run is stopped", () => {
    const session = new Driving();
    session.runUpToCalls(["pay", "look"]);
    session.settle();
    session.claim();
    session.abort();

    expect(answersOf(session.next())).toStrictEqual(["1 unknown", "2 aborted"]);
  });
});
