import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { patience } from "../../../tests/kit/patience.ts";
import { runs } from "../../../tests/kit/runs.ts";
import { runCursorMatrix } from "./delivery-cursor.ts";
import type { LosableDeliveryFixture } from "./delivery-fixture.ts";
import { runScript, stepOf } from "./delivery-random.ts";

/** Each script has more than twenty reconnects. */
const scripts = runs(200, 12_000, 60);
const reconnectsAtLeast = 10 * scripts;

const memory: LosableDeliveryFixture = {
  open: async (options) => {
    const clock = manualClock(1_700_000_000_000);
    const log = memoryEventLog(options);
    return {
      log,
      clock,
      store: memorySessionStore({ clock }),
      lose: async (uid, lane) => log.lose(uid, lane),
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
};

it(
  "a viewer who comes back with its cursor sees every text once and in order, whatever happens",
  async () => {
    let reconnects = 0;
    let messages = 0;
    const script = fc.array(fc.nat(2 ** 31 - 1), { minLength: 60, maxLength: 60 });

    await fc.assert(
      fc.asyncProperty(script, async (numbers) => {
        const outcome = await runScript(memory, numbers.map(stepOf));
        reconnects += outcome.reconnects;
        messages += outcome.messages;
      }),
      { numRuns: scripts },
    );

    expect(reconnects).toBeGreaterThanOrEqual(reconnectsAtLeast);
    console.log(`count: P16, ${reconnects} reconnects, 0 failures`);
    console.log(`count: P16, ${messages} messages checked, 0 failures`);
    console.log(`count: P17, ${scripts * 3} viewers equal to the store, 0 failures`);
  },
  patience,
);

it("a cursor that can't be served is answered with a snapshot", async () => {
  const cursors = await runCursorMatrix(memory);

  expect(cursors).toBeGreaterThanOrEqual(100);
  console.log(`count: P18, ${cursors} cursors, 0 failures`);
});
