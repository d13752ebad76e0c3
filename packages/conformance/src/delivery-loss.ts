import type { Fact } from "@millrace/core";
import type { Batch, EventLog } from "@millrace/core/ports";
import { assert, assertEqual, within } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase, deliveryLossCase } from "./delivery-case.ts";
import { brokenLog, deafLog } from "./delivery-faults.ts";
import type { DeliveryFixture, LosableDeliveryFixture } from "./delivery-fixture.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";

/** A log that can't be reached for a while costs time, not text. */
export const outageCases: readonly Case<DeliveryFixture>[] = [
  ...(["before", "after"] as const).map((when) =>
    deliveryCase(`appends that fail ${when} they are stored lose nothing`, async (stage) => {
      let failing = false;
      const log = brokenLog(stage.log, () => (failing ? when : undefined));
      const viewer = createViewer(stage);
      viewer.connect();
      const hand = await stage.start({ log });
      await hand.write("before, ");
      failing = true;
      await hand.write("during, ");
      await hand.write("still during, ");
      await stage.clock.advance(3_000);
      failing = false;
      await hand.write("after");

      await assertSame(stage, [viewer], 500);
      assertEqual(viewer.snapshots(), 1, "snapshots");
      await stage.commit(hand);
      await assertSame(stage, [viewer], 500);
      assertEqual(viewer.short(), 0, "items whose text was not told to the end");
      await viewer.cut();
    }),
  ),
  deliveryCase("what could not be written is written once the log is back", async (stage) => {
    let failing = true;
    const log = brokenLog(stage.log, () => (failing ? "before" : undefined));
    const viewer = createViewer(stage);
    viewer.connect();
    const hand = await stage.start({ log });
    await hand.write("the last that is said for long");
    failing = false;

    // Nobody asks for it, and nothing follows: the writer tries again by itself.
    await assertSame(stage, [viewer], 50);
    await viewer.cut();
  }),
  deliveryCase("an item is committed though its log can't be reached", async (stage) => {
    const log = brokenLog(stage.log, () => "before");
    const viewer = createViewer(stage);
    viewer.connect();
    const hand = await stage.start({ log });
    await hand.write("never streamed");

    const committing = stage.commit(hand);
    await stage.until(() => viewer.state().items.length === 1, "the item", 500);

    assertEqual(await within(committing, "the commit"), true, "it was committed");
    await assertSame(stage, [viewer]);
    await viewer.cut();
  }),
  deliveryCase("a lost request for a re-seed is made again", async (stage) => {
    const asked = { times: 0 };
    const log: EventLog = {
      ...deafLog(stage.log, () => false),
      // This viewer's log has forgotten how the lane began …
      read: async (uid, lane, after) =>
        (await stage.log.read(uid, lane, after)).filter(({ first }) => first > 4),
      // … and its first two requests get lost.
      nudge: async (uid, nudge) => {
        if (nudge.kind === "reseed") asked.times += 1;
        return asked.times > 2 ? await stage.log.nudge(uid, nudge) : undefined;
      },
    };
    const hand = await stage.start();
    for (const word of ["a ", "b ", "c ", "d ", "e "]) await hand.write(word);
    const viewer = createViewer(stage, { log });
    viewer.connect();

    for (const times of [1, 2, 3]) {
      await stage.until(() => asked.times >= times, `${times} requests`);
      await stage.clock.advance(1_500);
      await hand.write("more ");
    }

    await assertSame(stage, [viewer]);
    await viewer.cut();
  }),
  deliveryCase(
    "a lost request for a re-seed is made again, though nothing more is said",
    async (stage) => {
      let asked = 0;
      // Nor is it heard that the lane lives, by which a gap would be noticed too.
      const isMissed = (message: Fact | Batch): boolean =>
        "last" in message && message.first > 0 && /missed|lane_idled/.test(JSON.stringify(message));
      const log: EventLog = {
        ...deafLog(stage.log, isMissed),
        read: async (...where) => (await stage.log.read(...where)).filter((one) => !isMissed(one)),
        nudge: async (uid, nudge) => {
          if (nudge.kind !== "reseed") return stage.log.nudge(uid, nudge);
          asked += 1;
          return asked > 1 ? stage.log.nudge(uid, nudge) : undefined;
        },
      };
      const viewer = createViewer(stage, { log });
      viewer.connect();
      const hand = await stage.start();
      await hand.write("seen, ");
      await stage.until(viewer.caughtUp, "what comes before");
      await hand.write("missed, ");
      await hand.write("the last that is said for long");

      await assertSame(stage, [viewer], 1_000);
      assert(asked > 1, "it asked again");
      await viewer.cut();
    },
  ),
];

/** The log forgets. Its writers don't. */
export const lossCases: readonly Case<LosableDeliveryFixture>[] = [
  deliveryLossCase("a log lost in the middle is filled by its writers", async (stage, lose) => {
    const viewers = [createViewer(stage), createViewer(stage)];
    viewers[0]?.connect();
    const hands = [await stage.start(), await stage.start({ lane: 1, tool: true })];
    for (const hand of hands) await hand.write("before, ");

    await lose();
    viewers[1]?.connect();
    for (const hand of hands) await hand.write("after");

    await assertSame(stage, viewers);
    assertEqual(viewers[0]?.snapshots(), 1, "snapshots of who was there");
    for (const viewer of viewers) await viewer.cut();
  }),
  deliveryLossCase("a writer whose lane was lost says all of it by itself", async (stage, lose) => {
    const hand = await stage.start();
    await hand.write("before, ");
    const viewer = createViewer(stage, { log: mute(stage.log) });
    viewer.connect();
    await assertSame(stage, [viewer]);
    await lose();

    await hand.write("after");

    await assertSame(stage, [viewer]);
    const held = await stage.log.read(stage.uid, 0);
    assertEqual(held[0]?.first, 0, "the first batch that is held begins at 0");
    await viewer.cut();
  }),
  deliveryLossCase(
    "who joins after a loss is shown a silent lane by its writer",
    async (stage, lose) => {
      const hand = await stage.start();
      await hand.write("said before the loss");
      await lose(0);
      const viewer = createViewer(stage);

      viewer.connect();

      await assertSame(stage, [viewer]);
      await viewer.cut();
    },
  ),
  deliveryLossCase("who was away during a loss comes back to all of it", async (stage, lose) => {
    const viewer = createViewer(stage);
    const hand = await stage.start();
    await hand.write("seen, ");
    viewer.connect();
    await viewer.cut(1);
    await hand.write("missed, ");
    await lose();
    await hand.write("and missed");

    viewer.connect();

    await assertSame(stage, [viewer]);
    assertEqual(viewer.snapshots(), 1, "snapshots");
    await viewer.cut();
  }),
  deliveryLossCase("a loss after every batch costs no text", async (stage, lose) => {
    const viewers = [createViewer(stage), createViewer(stage, { cutEvery: 2 })];
    for (const viewer of viewers) viewer.connect();
    const hand = await stage.start();
    for (let batch = 0; batch < 20; batch += 1) {
      await hand.write(`${batch} `);
      await lose(0);
      await stage.clock.advance(1_100);
    }
    await stage.commit(hand);

    await assertSame(stage, viewers);
    for (const viewer of viewers) await viewer.cut();
  }),
  deliveryLossCase("a loss at the very end leaves the item", async (stage, lose) => {
    const viewer = createViewer(stage);
    const hand = await stage.start();
    await hand.write("all of it");
    await lose();
    await stage.commit(hand);
    await lose();

    viewer.connect();

    await assertSame(stage, [viewer]);
    await viewer.cut();
  }),
];

/** The log as somebody sees it who can't ask for anything. */
function mute(log: EventLog): EventLog {
  return { ...log, nudge: async () => undefined };
}
