import { expect, it } from "vitest";
import { firstSeed as first, runs } from "../../../../tests/kit/runs.ts";
import type { Action } from "../loop/action.ts";
import { settingsOfBrief, standingOfBrief } from "../loop/brief.ts";
import { verdictOf } from "../loop/calls.ts";
import { decide } from "../loop/decide.ts";
import { outOf } from "../loop/limits.ts";
import type { LoopState } from "../loop/state.ts";
import { simulateSession } from "../testing/decide-laws.ts";
import { briefSettings, briefStanding, briefTools } from "./brief-of.ts";
import { withNamedQuestions } from "./named-questions.ts";
import type { StepMemory } from "./step.ts";

const histories = runs(1_000, 100_000, 150);

it("an engine that knows the brief forms begins the same work at the same moments", () => {
  console.log(`SEED=${first}`);
  const kinds = new Map<string, number>();
  for (let seed = first; seed < first + histories; seed += 1) {
    simulateSession(seed, (made) => {
      const state = withoutLost(made.state);
      const { run } = state.standing;
      if (run !== undefined && outOf(state, run) === "repeats") return; // found by the step that records
      const decided = decide(state);
      kinds.set(decided.do, (kinds.get(decided.do) ?? 0) + 1);
      const told = decide(inAnEngine(state));
      expect(shown(told), `SEED=${seed}`).toEqual(shown(decided));
    });
  }
  console.log(`count: decisions by brief forms, ${[...kinds].join(" ")}, 0 failures`);
  for (const kind of ["reply", "execute", "await_client", "settle", "ask", "compact"])
    expect(kinds.get(kind)).toBeGreaterThan(10);
});

/** What is lost is found by the step that records, too: an engine decides as if nothing was. */
function withoutLost(state: LoopState): LoopState {
  const { standing } = state;
  if (standing.run === undefined) return state;
  const run = { ...standing.run, lost: 0, lostInRow: 0 };
  return { ...state, standing: { ...standing, run } };
}

/** The state as an engine has it that knows questions by their ids, after it came as JSON. */
function inAnEngine(state: LoopState): LoopState {
  const { settings, doing, now } = state;
  const calls = state.standing.run?.turn?.reply?.calls ?? [];
  const verdicts = calls.flatMap((call) => {
    const verdict = verdictOf(state, call);
    return verdict === undefined ? [] : [[call.itemId, verdict] as const];
  });
  const stepped = {
    outcome: "stepped",
    head: 0,
    now,
    standing: briefStanding(state.standing),
    memory: { verdicts },
    settings: briefSettings(settings),
    tools: briefTools(settings, state.standing),
  } as const;
  const answer = JSON.stringify(withNamedQuestions(stepped, state.standing));
  const { standing: brief, settings: own, tools = {}, memory } = JSON.parse(answer) as BriefAnswer;
  const standing = standingOfBrief(brief);
  const told = { ...doing, verdicts: new Map(memory.verdicts) };
  return { standing, settings: settingsOfBrief(own, tools, standing), doing: told, now };
}

interface BriefAnswer {
  readonly standing: ReturnType<typeof briefStanding>;
  readonly settings: ReturnType<typeof briefSettings>;
  readonly tools?: NonNullable<ReturnType<typeof briefTools>>;
  readonly memory: StepMemory;
}

/** What an engine makes of an action: whether it waits, looks, or begins work, and which. */
function shown(action: Action): unknown {
  switch (action.do) {
    case "wait":
    case "reply":
    case "respond":
    case "compact":
      return action;
    case "execute":
    case "await_client":
      return [action.do, ...action.calls.map(({ itemId }) => itemId)];
    default:
      return action.do;
  }
}
