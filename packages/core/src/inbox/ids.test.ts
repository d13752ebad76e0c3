import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { idTail, inputId, laneItemIdOf, turnId } from "../ids.ts";
import type { InputId } from "../ids.ts";
import { countingIds, randomId } from "../reference/system.ts";
import {
  answerInputIdOf,
  inputItemIdOf,
  keyedInputId,
  newInputId,
  runIdOf,
  stopInputIdOf,
} from "./ids.ts";

const times = runs(2_000, 200_000);
const key = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/),
  fc.constantFrom("stop", "answer", "run", "turn", "input", "item", "1", "1-0", "s1", "w0"),
);

/** All ids that follow from an input, in two turns with two calls each. */
function idsBelow(input: InputId): readonly string[] {
  const turns = [1, 2].map((number) => turnId(`turn_${idTail(runIdOf(input))}_${number}`));
  const lanes = turns.flatMap((turn) => [0, 1, 2].map((lane) => laneItemIdOf(turn, lane)));
  return [input, runIdOf(input), inputItemIdOf(input), ...lanes, ...lanes.map(answerInputIdOf)];
}

it("a key with _ would name the reply of another key's run, so it can't be one", () => {
  const reply = laneItemIdOf(turnId("turn_K_1"), 0);

  expect(inputItemIdOf(inputId("input_K_1_0"))).toBe(reply);
  expect(() => keyedInputId("K_1_0")).toThrow(/joined by _/);
});

it("ids below two keys are never equal, nor equal to an id of a stop", () => {
  fc.assert(
    fc.property(key, key, fc.nat(), (left, right, since) => {
      fc.pre(left !== right);
      const ids = [...idsBelow(keyedInputId(left)), ...idsBelow(keyedInputId(right))];
      const all = [...ids, stopInputIdOf(since)];
      expect(new Set(all).size).toBe(all.length);
    }),
    { numRuns: times },
  );
  console.log(`count: ids of two keys are apart, ${times}, 0 failures`);
});

it("an id that is made has a tail as a key has, so what is below it is apart too", () => {
  for (const makeId of [randomId, countingIds()]) {
    const made = newInputId(makeId);
    expect(keyedInputId(idTail(made))).toBe(made);
  }
});

it("an id that a program chose by itself names its run as before", () => {
  expect(runIdOf(inputId("input_prompt"))).toBe("run_prompt");
  expect(runIdOf(inputId("any id at all"))).toBe("run_any id at all");
});
