import { inputId, runId, turnId } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import {
  answerInputIdOf,
  approvalIdOf,
  correctionItemIdOf,
  inputItemIdOf,
  laneItemIdOf,
  runIdOf,
  summaryItemIdOf,
  turnIdOf,
  writtenItemIdOf,
} from "./ids.ts";

/** All ids that follow from some inputs, in some turns and lanes. */
function allIds(inputs: readonly string[]): readonly string[] {
  const numbers = [1, 2, 11, 12, 111];
  return inputs.flatMap((name) => {
    const input = inputId(name);
    const run = runIdOf(input);
    const turns = numbers.map((number) => turnIdOf(run, number));
    return [
      inputItemIdOf(input),
      ...numbers.map((number) => summaryItemIdOf(run, number)),
      ...numbers.map((number) => correctionItemIdOf(run, number)),
      ...turns.flatMap((turn) => [
        laneItemIdOf(turn, 0),
        ...numbers.map((lane) => laneItemIdOf(turn, lane)),
        ...numbers.map((lane) => answerInputIdOf(laneItemIdOf(turn, lane))),
        ...numbers.map((index) => writtenItemIdOf(turn, index)),
        ...numbers.flatMap((lane) => numbers.map((asked) => approvalIdOf(turn, lane, asked))),
      ]),
    ];
  });
}

describe("ids", () => {
  it("are the same each time they are reserved", () => {
    expect(allIds(["input_a", "input_b"])).toStrictEqual(allIds(["input_a", "input_b"]));
  });

  it("are all different, for any input ids", () => {
    const hex = ["input_0f3a", "input_0f3b", "input_10", "input_1", "input_2", "input_prompt"];
    const ids = allIds(hex);

    expect(new Set(ids).size).toBe(ids.length);
  });

  it("name the run, the turn and the lane that they are of", () => {
    const run = runIdOf(inputId("input_7"));

    expect(run).toBe(runId("run_7"));
    expect(turnIdOf(run, 3)).toBe(turnId("turn_7_3"));
    expect(laneItemIdOf(turnIdOf(run, 3), 2)).toBe("item_7_3_2");
  });

  it("fit into an id's length, for the longest ids that are made at random", () => {
    const longest = allIds([`input_${"f".repeat(32)}`]);

    expect(Math.max(...longest.map((id) => id.length))).toBeLessThan(100);
  });
});
