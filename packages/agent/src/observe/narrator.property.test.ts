import { narrate } from "@millrace/core";
import { apply, emptyState } from "@millrace/core/reading";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { Fact, Narration } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { createNarrator } from "./narrator.ts";
import { History, interleaved } from "./testing/histories.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";

vi.setConfig({ testTimeout: patience });

const numbers = fc.array(fc.nat(0xffffff), { maxLength: 80, size: "max" });

/** The narration of a reader of the log, message by message. */
function narrated(session: string, messages: readonly (Fact | Batch)[]): readonly Narration[] {
  let state = emptyState(sessionUid("u"), sessionId(session));
  return messages.flatMap((message) => {
    const news = narrate(state, message);
    const applied = apply(state, message);
    if (applied.verdict === "gap") throw new Error(JSON.stringify(message));
    ({ state } = applied);
    return news;
  });
}

test("inline events give the same narration as batches of one, for interleaved sessions", () => {
  let narrations = 0;
  fc.assert(
    fc.property(numbers, numbers, numbers, (first, second, order) => {
      const lives = [new History("a", first), new History("b", second)];
      const narrator = createNarrator();
      const inline = new Map<string, Narration[]>([
        ["a", []],
        ["b", []],
      ]);
      for (const event of interleaved(lives, order)) {
        inline.get(event.sessionId)?.push(...narrator(event));
      }

      const [a, b] = lives.map((life, at) => narrated(at === 0 ? "a" : "b", life.messages));
      // As text: comparing structures costs ten times what it takes to tell them.
      expect(JSON.stringify(inline.get("a"))).toBe(JSON.stringify(a));
      expect(JSON.stringify(inline.get("b"))).toBe(JSON.stringify(b));
      narrations += (a?.length ?? 0) + (b?.length ?? 0);
    }),
    { numRuns: runs(500, 100_000) },
  );
  console.log(`count: ${narrations} narrations compared`);
  expect(narrations).toBeGreaterThan(1_000);
});
