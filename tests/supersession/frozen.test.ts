import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { inParallel, Theatre } from "./kit/theatre.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const atOnce = 6;
let theatre: Theatre;

beforeAll(async () => {
  theatre = await Theatre.open();
});

afterAll(async () => {
  await theatre[Symbol.asyncDispose]();
});

interface Freezing {
  readonly joinAt: string;
  readonly endAt: string;
  /** The valve that keeps what it sent last until its successor is done. */
  readonly inFlight?: "redis" | "postgres";
}

/** What the woken tried to write, and what became of it. */
type Tried = Readonly<Record<string, number>>;

/** Stops the first writer, lets a second finish, wakes the first, and looks what all show from then on. */
async function freeze({ joinAt, endAt, inFlight }: Freezing): Promise<Tried> {
  await using scene = await theatre.begin({ pauseAt: joinAt, endAt, how: "SIGSTOP" });
  const { first, audience, valves } = scene;
  try {
    await audience.join("one from the start");
    first.tell("go");
    await first.says("paused");
    await audience.join("one from the middle");
    if (inFlight !== undefined) valves[inFlight].hold();
    first.tell("go");
    await first.says("ends at");
    await first.stopped();

    await scene.finish();
    await audience.join("one from the end");
    const { text, incarnation } = await scene.check();
    if (incarnation !== 2) throw new Error("the second did not store the reply");
    const facts = (await scene.facts()).length;
    const told = audience.witnesses.map((witness) => witness.told.length);
    if (inFlight !== undefined) {
      if (valves[inFlight].held() === 0) throw new Error("there were no bytes on their way");
      await valves[inFlight].release();
    }
    first.wake();
    const said = await first.says("done");
    first.tell(""); // nothing more to do: it closes and ends
    await first.says("closed");
    if ((await first.gone()) !== null) throw new Error("it did not end by itself");

    if (!said.startsWith("done completed") || !said.endsWith(text))
      throw new Error(`the woken one's run ended with ${said}`);
    await audience.join("one who comes after that");
    await scene.check();
    if ((await scene.facts()).length !== facts) throw new Error("the woken one stored something");
    const after = audience.witnesses.flatMap((witness, at) => witness.told.slice(told[at]));
    // Those who came last have been told where all is, and nothing else.
    if (after.length !== 2) throw new Error(`they were told ${JSON.stringify(after)}`);
    return triesOf(first.lines);
  } catch (error) {
    const lines = first.lines.join(" | ");
    throw new Error(`stopped at ${endAt}: ${String(error)}\n${lines}`, { cause: error });
  }
}

function triesOf(lines: readonly string[]): Tried {
  const tries: Record<string, number> = {};
  for (const line of lines) {
    const [, what] = /^tried (.*)$/.exec(line) ?? [];
    if (what !== undefined) tries[what] = (tries[what] ?? 0) + 1;
  }
  return tries;
}

/** Freezes at each place, and prints what the woken ones tried. */
async function freezeAll(what: string, freezings: readonly Freezing[]): Promise<void> {
  const sum: Record<string, number> = {};
  const unnoticed: string[] = [];
  await inParallel(
    freezings.map((freezing) => async () => {
      const tried = await freeze(freezing);
      if (Object.keys(tried).length === 0) unnoticed.push(freezing.endAt);
      for (const [name, count] of Object.entries(tried)) sum[name] = (sum[name] ?? 0) + count;
    }),
    atOnce,
  );

  const accepted = Object.keys(sum).filter((name) =>
    /(stored|opened|committed|claimed|appended)$/.test(name),
  );
  expect(accepted).toStrictEqual([]);
  expect(unnoticed).toStrictEqual([]);
  const tries = Object.entries(sum).map(([name, count]) => `${name} ${count}`);
  console.log(`count: ${what}, ${freezings.length} wakings, 0 failures, tried ${tries.join(", ")}`);
}

describe("a writer that is stopped, superseded and woken", () => {
  it("after any batch shows nothing and stores nothing, and ends its run", async () => {
    const places = Array.from({ length: theatre.batches + 1 }, (_, k) => ({
      joinAt: `batch ${Math.floor((k * 2) / 3)}`,
      endAt: `batch ${k}`,
    }));
    await freezeAll("stopped after the k-th batch", [
      ...places,
      { joinAt: `batch ${theatre.batches}`, endAt: "commit held" },
    ]);
  });

  it("with bytes on their way shows nothing and stores nothing, and ends its run", async () => {
    const places = Array.from({ length: theatre.batches }, (_, k) => ({
      joinAt: `batch ${k + 1} held`,
      endAt: `batch ${k + 1} sent`,
      inFlight: "redis" as const,
    }));
    await freezeAll("stopped with bytes on their way", [
      ...places,
      { joinAt: "commit held", endAt: "commit sent", inFlight: "postgres" },
    ]);
  });
});
