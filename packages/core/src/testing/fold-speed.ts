// Run by fold.perf.test.ts in a process of its own, because a test runner's module loading changes
// what the compiler inlines. Prints the time for each delta, against adding the same strings.
import type { BeginPart, Delta } from "../delta/delta.ts";
import { emptyDraft } from "../delta/draft.ts";
import type { Draft } from "../delta/draft.ts";
import { fold, foldAll } from "../delta/fold.ts";
import { callId, partId } from "../ids.ts";

const id = partId("p1");
const sizes = [10_000, 20_000, 40_000, 80_000, 160_000];
const begins: readonly BeginPart[] = [
  { op: "begin_part", partId: id, kind: "text" },
  { op: "begin_part", partId: id, kind: "tool_call", callId: callId("c1"), tool: "write" },
];
const all = Array.from({ length: 160_000 }, (_, at): Delta => {
  return { op: "append_text", partId: id, chunk: String.fromCharCode(97 + (at % 26)) };
});

function bare(deltas: readonly Delta[]): string {
  let text = "";
  for (const delta of deltas) if (delta.op === "append_text") text += delta.chunk;
  return text;
}

function oneByOne(begin: BeginPart, deltas: readonly Delta[]): Draft {
  let draft = fold(emptyDraft(), begin);
  for (const delta of deltas) draft = fold(draft, delta);
  return draft;
}

function inBatches(begin: BeginPart, deltas: readonly Delta[]): Draft {
  let draft = fold(emptyDraft(), begin);
  for (let at = 0; at < deltas.length; at += 64) draft = foldAll(draft, deltas.slice(at, at + 64));
  return draft;
}

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function median(times: readonly number[]): number {
  return times.toSorted((left, right) => left - right)[Math.floor(times.length / 2)] ?? 0;
}

/** All three in turns, so that a busy neighbour slows them all; collecting garbage is part of the price. */
const rows = begins.map((begin) => ({
  kind: begin.kind,
  sizes: sizes.map((size) => {
    const deltas = all.slice(0, size);
    const rounds = Array.from({ length: 31 }, () => ({
      bare: timed(() => bare(deltas)),
      one: timed(() => oneByOne(begin, deltas)),
      batch: timed(() => inBatches(begin, deltas)),
    }));
    return {
      size,
      bare: median(rounds.map((round) => round.bare)),
      one: median(rounds.map((round) => round.one)),
      batch: median(rounds.map((round) => round.batch)),
      // Noise only ever adds time, so growth is read from the best rounds.
      bestOne: Math.min(...rounds.map((round) => round.one)),
      bestBatch: Math.min(...rounds.map((round) => round.batch)),
    };
  }),
}));
process.stdout.write(JSON.stringify(rows));
