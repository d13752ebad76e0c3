// Run by preview.perf.test.ts in a process of its own, because a test runner's module loading changes what
// the compiler inlines. Prints the time of one call that is written in small deltas: of applying each and
// looking at its view, without and with its preview.
import { apply } from "../event/apply.ts";
import { previewOf } from "../event/preview.ts";
import { project } from "../event/project.ts";
import type { SessionState } from "../event/state.ts";
import { callId, partId } from "../ids.ts";
import { batch, deltas, empty, opening } from "./session.ts";
import { median, processorTime } from "./processor-time.ts";

const sizes = [30_000, 60_000, 120_000];
const deltaLength = 8;
const id = partId("p1");

/** Arguments of about so many characters, of the kinds that calls have. */
const shapes: Readonly<Record<string, (size: number) => object>> = {
  file: (size) => ({ path: "a.ts", text: 'const a = "é";\n'.repeat(Math.ceil(size / 18)) }),
  edits: (size) => ({
    path: "a.ts",
    edits: Array.from({ length: Math.ceil(size / 440) }, (_, at) => ({
      line: at,
      old: "x".repeat(200),
      new: "y".repeat(200),
    })),
  }),
};
const shape = process.argv[2] ?? "file";
const made = shapes[shape];
if (made === undefined) throw new Error(`no shape ${shape}`);

function piecesOf(size: number): readonly string[] {
  const text = JSON.stringify(made?.(size)).slice(0, size);
  return Array.from({ length: Math.ceil(size / deltaLength) }, (_, at) =>
    text.slice(at * deltaLength, (at + 1) * deltaLength),
  );
}

/** Applies each delta and looks at the part that it changed. */
function stream(pieces: readonly string[], withPreview: boolean): unknown {
  const begin = { op: "begin_part", partId: id, kind: "tool_call" } as const;
  const first = deltas({ ...begin, callId: callId("c1"), tool: "write" });
  let state: SessionState = apply(empty, batch([opening, ...first])).state;
  let number = 2;
  let last: unknown;
  for (const chunk of pieces) {
    const append = deltas({ op: "append_text", partId: id, chunk });
    state = apply(state, batch(append, { first: number })).state;
    number += 1;
    const part = project(state).items.at(-1)?.parts[0];
    if (part?.kind !== "tool_call" || part.state !== "writing")
      throw new Error("it is not written");
    last = withPreview ? previewOf(part) : part.raw;
  }
  return last;
}

function measure(size: number): Readonly<Record<"size" | "bare" | "preview", number>> {
  const pieces = piecesOf(size);
  const rounds = Math.ceil(240_000 / size); // as many as take 240,000 characters
  // Both in turns, so that a slow moment is one for both.
  const trials = Array.from({ length: 3 }, () => ({
    bare: processorTime(rounds, () => stream(pieces, false)),
    preview: processorTime(rounds, () => stream(pieces, true)),
  }));
  return {
    size,
    bare: median(trials.map((trial) => trial.bare)),
    preview: median(trials.map((trial) => trial.preview)),
  };
}

measure(30_000); // once to warm up
process.stdout.write(JSON.stringify({ shape, sizes: sizes.map(measure) }));
