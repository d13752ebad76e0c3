import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { inParallel, ProcessFixture } from "./kit/process-fixture.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const atOnce = 6;
let fixture: ProcessFixture;

beforeAll(async () => {
  fixture = await ProcessFixture.open();
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

interface Freezing {
  readonly joinAt: string;
  readonly endAt: string;
  /** The proxy that keeps what it sent last until its successor is done. */
  readonly inFlight?: "redis" | "postgres";
}

/** What the woken tried to write, and what became of it. */
type Tried = Readonly<Record<string, number>>;

/** Stops the first writer, lets a second finish, wakes the first, and looks what all show from then on. */
async function freeze({ joinAt, endAt, inFlight }: Freezing): Promise<Tried> {
  await using trial = await fixture.begin({ pauseAt: joinAt, endAt, how: "SIGSTOP" });
  const { first, viewers, proxies } = trial;
  try {
    await viewers.join("one from the start");
    first.send("go");
    await first.waitForLine("paused");
    await viewers.join("one from the middle");
    if (inFlight !== undefined) proxies[inFlight].hold();
    first.send("go");
    await first.waitForLine("ends at");
    await first.stopped();

    await trial.finish();
    await viewers.join("one from the end");
    const { text, incarnation } = await trial.check();
    if (incarnation !== 2) throw new Error("the second did not store the reply");
    const facts = (await trial.facts()).length;
    const told = viewers.all.map((viewer) => viewer.received.length);
    if (inFlight !== undefined) {
      if (proxies[inFlight].held() === 0) throw new Error("there were no bytes on their way");
      await proxies[inFlight].release();
    }
    first.wake();
    const said = await first.waitForLine("done");
    first.send(""); // nothing more to do: it closes and ends
    await first.waitForLine("closed");
    if ((await first.gone()) !== null) throw new Error("it did not end by itself");

    if (!said.startsWith("done completed") || !said.endsWith(text))
      throw new Error(`the woken one's run ended with ${said}`);
    await viewers.join("one who comes after that");
    await trial.check();
    if ((await trial.facts()).length !== facts) throw new Error("the woken one stored something");
    const after = viewers.all.flatMap((viewer, at) => viewer.received.slice(told[at]));
    // The viewers that joined last got their snapshots, and nothing else.
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
    const places = Array.from({ length: fixture.batches + 1 }, (_, k) => ({
      joinAt: `batch ${Math.floor((k * 2) / 3)}`,
      endAt: `batch ${k}`,
    }));
    await freezeAll("stopped after the k-th batch", [
      ...places,
      { joinAt: `batch ${fixture.batches}`, endAt: "commit held" },
    ]);
  });

  it("with bytes on their way shows nothing and stores nothing, and ends its run", async () => {
    const places = Array.from({ length: fixture.batches }, (_, k) => ({
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
