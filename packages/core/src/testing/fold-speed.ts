// Run by fold.perf.test.ts in a process of its own, because a test runner's module loading changes
// what the compiler inlines. Prints the time of folding, and of just adding the same strings.
import type { BeginPart, Delta } from "../delta/delta.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import type { Draft } from "../delta/draft.ts";
import { fold, foldAll } from "../delta/fold.ts";
import { callId, partId } from "../ids.ts";
import { processorTime } from "./processor-time.ts";

const id = partId("p1");
const sizes = [10_000, 20_000, 40_000, 80_000, 160_000];
const kind = process.argv[2];
// A literal: the text of an argument is no constant, and comparing it costs a quarter of a fold.
const begin: BeginPart =
  kind === "tool_call"
    ? { op: "begin_part", partId: id, kind: "tool_call", callId: callId("c1"), tool: "write" }
    : { op: "begin_part", partId: id, kind: "text" };
const all = Array.from({ length: 160_000 }, (_, at): Delta => {
  return { op: "append_text", partId: id, chunk: String.fromCharCode(97 + (at % 26)) };
});

function bare(deltas: readonly Delta[]): string {
  let text = "";
  for (const delta of deltas) if (delta.op === "append_text") text += delta.chunk;
  return text;
}

function oneByOne(deltas: readonly Delta[]): Draft {
  let draft = fold(emptyDraft(), begin);
  for (const delta of deltas) draft = fold(draft, delta);
  return draft;
}

function inBatches(deltas: readonly Delta[]): Draft {
  let draft = fold(emptyDraft(), begin);
  for (let at = 0; at < deltas.length; at += 64) draft = foldAll(draft, deltas.slice(at, at + 64));
  return draft;
}

// Once to warm up: the first size would pay for compiling all three.
measure(20_000);
process.stdout.write(JSON.stringify({ kind: begin.kind, sizes: sizes.map(measure) }));

function measure(size: number): Readonly<Record<"size" | "bare" | "one" | "batch", number>> {
  const deltas = all.slice(0, size);
  const rounds = 1_600_000 / size; // as many as fold 1.6 million deltas
  // All three in turns, and the best of each: other work on the machine only ever adds to a time.
  const trials = Array.from({ length: 15 }, () => ({
    bare: processorTime(rounds, () => bare(deltas)),
    one: processorTime(rounds, () => oneByOne(deltas)),
    batch: processorTime(rounds, () => inBatches(deltas)),
  }));
  return {
    size,
    bare: Math.min(...trials.map((trial) => trial.bare)),
    one: Math.min(...trials.map((trial) => trial.one)),
    batch: Math.min(...trials.map((trial) => trial.batch)),
  };
}
