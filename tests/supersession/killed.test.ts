import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { inParallel, ProcessFixture } from "./kit/process-fixture.ts";
import { textOfReply } from "./kit/plan.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const atOnce = 6;
let fixture: ProcessFixture;

beforeAll(async () => {
  fixture = await ProcessFixture.open();
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

interface Killing {
  readonly joinAt: string;
  readonly endAt: string;
  /** The proxy that keeps its last bytes until its successor is done. */
  readonly late?: "redis" | "postgres";
}

interface Killed {
  /** The incarnation that stored the reply. */
  readonly storedBy: number;
  /** How many showed some text of the first attempt, and of the second. */
  readonly saw: readonly [number, number];
}

/** Kills a first writer, lets a second finish, and looks at the screens of all. */
async function kill({ joinAt, endAt, late }: Killing): Promise<Killed> {
  await using trial = await fixture.begin({ pauseAt: joinAt, endAt, how: "SIGKILL" });
  const { first, viewers, proxies } = trial;
  try {
    await viewers.join("one from the start");
    first.send("go");
    await first.waitForLine("paused");
    await viewers.join("one from the middle");
    if (late !== undefined) proxies[late].hold();
    first.send("go");
    if ((await first.gone()) !== "SIGKILL") throw new Error("it was not killed");

    const said = await trial.finish();
    if (late !== undefined) {
      if (proxies[late].held() === 0) throw new Error("there were no bytes on their way");
      const head = (await trial.facts()).length;
      await proxies[late].release();
      if ((await trial.facts()).length !== head) throw new Error("the dead stored something");
    }
    await viewers.join("one from the end");
    const { text, incarnation } = await trial.check();
    if (!said.endsWith(text)) throw new Error(`its run ended with ${said}`);
    return { storedBy: incarnation, saw: [trial.saw(1), trial.saw(2)] };
  } catch (error) {
    throw new Error(`killed at ${endAt}: ${String(error)}`, { cause: error });
  }
}

describe("a writer that is killed", () => {
  it("writes a short reply in at least 12 batches if it is not", () => {
    expect(fixture.batches).toBeGreaterThanOrEqual(12);
  });

  it("after any batch is superseded on every screen, and the reply is stored once", async () => {
    const killed: (Killed & { readonly k: number })[] = [];
    const places = Array.from({ length: fixture.batches + 1 }, (_, k) => k);
    await inParallel(
      places.map((k) => async () => {
        const joinAt = `batch ${Math.floor((k * 2) / 3)}`;
        killed.push({ k, ...(await kill({ joinAt, endAt: `batch ${k}` })) });
      }),
      atOnce,
    );

    expect(killed.map(({ storedBy }) => storedBy)).toStrictEqual(places.map(() => 2));
    // The first text is in the third batch. From the fifth on, viewers that joined in the middle show it
    // before the end comes; sooner, a viewer may go straight to its successor's.
    for (const { k, saw } of killed) {
      if (k < 2) expect(saw[0], `saw the first after ${k} batches`).toBe(0);
      if (k > 4) expect(saw[0], `saw the first after ${k} batches`).toBeGreaterThan(0);
      expect(saw[1], `saw the second after ${k} batches`).toBeGreaterThan(0);
    }
    console.log(`count: killed after the k-th batch, ${places.length} kills, 0 failures`);
  });

  it("with a batch on its way is superseded, also if that arrives when all is over", async () => {
    const storedBy: number[] = [];
    const places = Array.from({ length: fixture.batches }, (_, k) => k + 1);
    await inParallel(
      places.map((k) => async () => {
        const place = { joinAt: `batch ${k} held`, endAt: `batch ${k} sent` };
        const killed = await kill(k % 2 === 0 ? { ...place, late: "redis" } : place);
        storedBy.push(killed.storedBy);
      }),
      atOnce,
    );

    expect(storedBy).toStrictEqual(places.map(() => 2));
    console.log(`count: killed with a batch on its way, ${places.length} kills, 0 failures`);
  });

  it("around its commit has stored its reply, or its successor stores another, never both", async () => {
    const found = new Map<string, number>();
    const killings: readonly Killing[] = [
      { joinAt: `batch ${fixture.batches}`, endAt: "commit held" },
      { joinAt: "commit held", endAt: "commit sent" },
      { joinAt: "commit held", endAt: "commit sent", late: "postgres" },
      { joinAt: "batch 5", endAt: "committed" },
    ];
    await inParallel(
      killings.map((killing) => async () => {
        const name = killing.late === undefined ? killing.endAt : `${killing.endAt} late`;
        found.set(name, (await kill(killing)).storedBy);
      }),
      atOnce,
    );

    // What was sent and not answered may have been stored.
    expect([1, 2]).toContain(found.get("commit sent"));
    found.delete("commit sent");
    expect(Object.fromEntries(found)).toStrictEqual({
      "commit held": 2,
      "commit sent late": 2,
      committed: 1,
    });
    console.log(`count: killed around the commit, ${killings.length} kills, 0 failures`);
  });

  it("writes another text than its successor", () => {
    expect(textOfReply("first")).not.toBe(textOfReply("second"));
  });
});
