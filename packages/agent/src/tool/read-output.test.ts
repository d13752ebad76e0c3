import { describe, expect, it } from "vitest";
import { readOutputDescription } from "../context/read-output.ts";
import { describeIssues } from "@millrace/core/schema";
import { item, result } from "../testing/transcripts.ts";
import { readOutputTool } from "./read-output.ts";

const items = [item("r", "tool", [result("1", "abcdefgh")])];

describe("readOutputTool", () => {
  it("is told to a model as it is described, and may be repeated", () => {
    const { name, description, inputSchema, effect } = readOutputTool(() => items);

    expect({ name, description, input: inputSchema }).toEqual(readOutputDescription);
    expect(effect).toBe("pure");
  });

  it("reads the items of the moment", () => {
    let now = items;
    const { run } = readOutputTool(() => now);
    if (run === "client") throw new Error("it runs here");
    // The type of any tool takes no input: this is one that the schema accepts, and needs nothing else.
    const read = run as unknown as (input: object) => string;
    expect(read({ callId: "1", offset: 2, length: 4 })).toBe(
      "[bytes 2 to 6 of 8; the next offset is 6]\ncdef",
    );

    now = [item("r", "tool", [result("1", "other")])];
    expect(read({ callId: "1" })).toBe("[bytes 0 to 5 of 5; this is the end]\nother");
  });

  it.each<[string, unknown]>([
    ["(the whole): must be an object", null],
    ["(the whole): must be an object", ["1"]],
    ["callId: must be a string", {}],
    ["callId: must be a string", { callId: 1 }],
    ["offset: must be a whole number", { callId: "1", offset: -1 }],
    ["offset: must be a whole number", { callId: "1", offset: "2" }],
    ["length: must be a whole number of 1 or more", { callId: "1", length: 0 }],
    ["length: must be a whole number of 1 or more", { callId: "1", length: 1.5 }],
    ["line: is not known", { callId: "1", line: 3 }],
  ])("says what is wrong with an input: %s", async (issue, input) => {
    const { issues } = await readOutputTool(() => items).input["~standard"].validate(input);

    expect(describeIssues(issues ?? [])).toBe(issue);
  });

  it("takes what is described", async () => {
    for (const input of [{ callId: "1" }, { callId: "1", offset: 0, length: 1 }]) {
      const checked = await readOutputTool(() => items).input["~standard"].validate(input);
      expect(checked).toEqual({ value: input });
    }
  });
});
