import { emptyDraft } from "@millrace/core";
import { callId, foldAll, partId } from "@millrace/core/writing";
import type { Delta } from "@millrace/core";
import { manualClock } from "@millrace/core/testing";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { anything, executionOf } from "../testing/tools.ts";
import { runTool } from "./run-tool.ts";
import { defineTool } from "../definition/tool.ts";

vi.setConfig({ testTimeout: process.env["CAMPAIGN"] === "1" ? 24 * 3_600_000 : 120_000 });

const piece = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "\n", "é", "😀"), maxLength: 8 }),
  // Halves of characters too, as a tool that cuts text anywhere would send them.
  fc.constantFrom("", "\ud83d", "\ude00", "x\ud83d", "\ude00y"),
);
const ending = fc.oneof(
  fc.record({ kind: fc.constant("return" as const), value: fc.anything() }),
  fc.record({ kind: fc.constant("return" as const), value: piece }),
  fc.record({ kind: fc.constant("throw" as const), value: fc.anything() }),
  fc.record({ kind: fc.constant("never" as const), value: fc.constant(undefined) }),
);
const script = fc.record({
  pieces: fc.array(piece, { maxLength: 8 }),
  ending,
  /** After how many pieces the run is stopped. Beyond their number: it isn't. */
  stopAt: fc.nat(16),
  storedBytes: fc.constantFrom(0, 1, 10, 40, 1_000_000),
});

it("what was emitted and the outcome's text fold to one result, in every ending", async () => {
  const times = runs(20_000, 2_000_000);
  const seen = new Map<string, number>();

  await fc.assert(
    fc.asyncProperty(script, async ({ pieces, ending, stopAt, storedBytes }) => {
      const clock = manualClock();
      const stop = new AbortController();
      const tool = defineTool({
        name: "t",
        input: anything,
        run: async (_, { append }) => {
          for (const [at, text] of pieces.entries()) {
            if (at === stopAt) stop.abort();
            append(text);
            await Promise.resolve();
          }
          if (ending.kind === "throw") throw ending.value;
          if (ending.kind === "never") await new Promise(() => undefined);
          return ending.value;
        },
      });
      const options = executionOf(tool, { clock, signal: stop.signal, storedBytes, seconds: 9 });
      const running = runTool(options);
      if (ending.kind === "never") await clock.advance(11_000);
      const { status, text, output } = await running;
      const name = `${status}${text.includes("bytes left out") ? ", cut" : ""}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);

      const emitted = options.emitted.join("");
      if (emitted !== "" && emitted !== text) throw new Error("the two differ");
      const whole = pieces.join("").toWellFormed();
      const fits = new TextEncoder().encode(whole).length <= storedBytes;
      if (fits && !text.startsWith(whole)) throw new Error("streamed text is lost");
      if (fits && storedBytes > 3 && whole !== "" && emitted === "")
        throw new Error("not streamed");

      const id = partId("p");
      const head = { id, kind: "tool_result", callId: callId("c"), tool: "t" } as const;
      const deltas: Delta[] = [
        { op: "begin_part", partId: id, kind: "tool_result", callId: callId("c"), tool: "t" },
        ...options.emitted.map((chunk): Delta => ({ op: "append_text", partId: id, chunk })),
        {
          op: "commit_part",
          partId: id,
          part: { ...head, status, text, ...(output === undefined ? {} : { output }) },
        },
      ];
      const { fault } = foldAll(emptyDraft(), deltas);
      if (fault !== undefined) throw new Error(`${fault.code}: ${fault.message}`);
    }),
    { numRuns: times },
  );

  if (times > 1_000)
    expect([...seen.keys()].toSorted()).toStrictEqual([
      "aborted",
      "aborted, cut",
      "failed",
      "failed, cut",
      "ok",
      "ok, cut",
    ]);
  console.log(`count: executions, ${times} with their endings, 0 failures`);
});
