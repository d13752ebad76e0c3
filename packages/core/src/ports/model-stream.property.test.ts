import fc from "fast-check";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Ending } from "../content/item.ts";
import { partsOf } from "../delta/commit.ts";
import type { Delta } from "../delta/delta.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import { foldAll } from "../delta/fold.ts";
import { choices, content, legalProgram, wildProgram } from "../testing/delta-programs.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import type { ModelStream } from "./model.ts";
import { createModelStream } from "./model-stream.ts";
import type { ReplySource } from "./model-stream.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(5_000, 200_000);
const whole = { stop: "end", evidence: "stop" } as const;

let unhandled = 0;
const note = (): void => {
  unhandled += 1;
};
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(async () => {
  await new Promise((resolve) => setTimeout(resolve, 0));
  process.off("unhandledRejection", note);
  expect(unhandled).toBe(0);
});

function stream(produce: ReplySource["produce"], options: Partial<ReplySource> = {}): ModelStream {
  return createModelStream({ model: "test/model", ...options, produce });
}

async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) await Promise.resolve();
}

it("a slow consumer folds to the same draft as a quick one, whatever was emitted and however the two took turns", async () => {
  const pauses = fc.array(fc.nat(40), { maxLength: 8 });

  await fc.assert(
    fc.asyncProperty(choices(30), pauses, pauses, async (numbers, spoken, heard) => {
      const program = legalProgram(numbers);
      const source = stream(async (writer) => {
        for (const [at, delta] of program.entries()) {
          writer.emit(delta);
          await rounds(spoken[at % Math.max(1, spoken.length)] ?? 0);
        }
        return { stop: "truncated", cause: { code: "cut", message: "cut" } };
      });
      const deltas: Delta[] = [];
      for await (const delta of source) {
        deltas.push(delta);
        await rounds(heard[deltas.length % Math.max(1, heard.length)] ?? 0);
      }
      if (content(foldAll(emptyDraft(), deltas)) !== content(foldAll(emptyDraft(), program)))
        throw new Error("another draft");
    }),
    { numRuns: times },
  );
  console.log(`count: both views agree, ${times} replies, 0 failures`);
});

it("the result always settles, and holds only what was emitted", async () => {
  const ways = fc.record({
    numbers: choices(12),
    wild: fc.boolean(),
    end: fc.constantFrom("end", "truncated", "throw"),
    abortAfter: fc.option(fc.nat(14), { nil: undefined }),
    leaveAfter: fc.option(fc.nat(14), { nil: undefined }),
    listens: fc.boolean(),
  });
  const seen = new Set<string>();

  await fc.assert(
    fc.asyncProperty(ways, async (way) => {
      const program = way.wild ? wildProgram(way.numbers) : legalProgram(way.numbers);
      const stop = new AbortController();
      const source = stream(
        async (writer): Promise<Ending> => {
          for (const [at, delta] of program.entries()) {
            if (at === way.abortAfter) stop.abort();
            if (way.listens && writer.signal.aborted)
              return { stop: "aborted", cause: { code: "heard", message: "" } };
            writer.emit(delta);
            await Promise.resolve();
          }
          if (way.end === "throw") throw new Error("at the end");
          if (way.end === "end") return whole;
          return { stop: "truncated", cause: { code: "cut", message: "" } };
        },
        { signal: stop.signal },
      );
      const taken: Delta[] = [];
      if (way.leaveAfter !== undefined) {
        for await (const delta of source) {
          taken.push(delta);
          if (taken.length > way.leaveAfter) break;
        }
      }
      const reply = await source.result;
      seen.add(reply.stop);

      const prefixes = program.map((_, at) => foldAll(emptyDraft(), program.slice(0, at)));
      const final = foldAll(emptyDraft(), program);
      const drafts = [...prefixes, final].filter((draft) => draft.fault === undefined);
      const texts = new Set(drafts.map((draft) => JSON.stringify(partsOf(draft))));
      if (!texts.has(JSON.stringify(reply.parts))) throw new Error("parts that were never there");
      if (reply.stop === "end") {
        const open = final.parts.some((part) => part.state === "open");
        const isWhole = JSON.stringify(reply.parts) === JSON.stringify(partsOf(final));
        if (final.fault !== undefined || open || !isWhole) throw new Error("a false success");
      }
      const heard = content(foldAll(emptyDraft(), taken));
      if (!drafts.some((draft) => content(draft) === heard)) throw new Error("other deltas");
    }),
    { numRuns: times },
  );

  expect([...seen].toSorted()).toStrictEqual(["aborted", "end", "failed", "truncated"]);
  console.log(`count: every reply settles truthfully, ${times} replies, 0 failures`);
});
