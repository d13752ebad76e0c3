import type { JsonObject, ToolResultPart } from "@millrace/core";
import { expect, test } from "vitest";
import { item, result } from "../testing/transcripts.ts";
import { trimOutputs } from "./outputs.ts";

test("a result that was cut keeps its stored name and limit, whichever items are still there", () => {
  const long = (metadata: JsonObject): ToolResultPart =>
    Object.assign(result("1", "x".repeat(5_000)), { metadata });
  const first = item("r1", "tool", [long({})]);
  const second = item("r2", "tool", [long({ shown: { bytes: 1_000, name: "r2" } })]);
  const noteOf = (session: readonly (typeof first)[]): string => {
    const [shown] = trimOutputs([second], { session, outputBytes: () => 2_000 });
    const [part] = shown?.parts ?? [];
    return part?.kind === "tool_result" ? part.text : "";
  };

  expect(noteOf([first, second])).toContain('{"callId":"r2"');
  expect(noteOf([second])).toBe(noteOf([first, second]));
  expect(noteOf([second]).length).toBeLessThan(1_200);
});
