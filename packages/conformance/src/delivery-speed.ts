import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import { conversationItems, converse } from "./delivery-conversation.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";

/** How fast somebody reads is nobody else's concern. */
export const speedCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("viewers at different speeds end in the same state", async (stage) => {
    const paces = [0, 1, 20, 300].map((ms) => () => stage.clock.sleep(ms));
    const viewers = paces.map((pace) => createViewer(stage, { pace }));
    for (const viewer of viewers) viewer.connect();

    await converse(stage, () => stage.clock.advance(5));

    await assertSame(stage, viewers, 500);
    for (const viewer of viewers) {
      assertEqual(viewer.state().items.length, conversationItems, "items");
      assertEqual(viewer.snapshots(), 1, "snapshots");
      await viewer.cut();
    }
  }),
  deliveryCase("a viewer who stops reading holds up nobody", async (stage) => {
    const goesOn = Promise.withResolvers<void>();
    const pace = (): Promise<void> => goesOn.promise;
    const slow = createViewer(stage, { pace });
    const quick = createViewer(stage);
    slow.connect();
    quick.connect();

    await converse(stage, () => stage.until(() => quick.caughtUp(), "the quick one is there"));
    assertEqual(slow.messages(), 1, "messages of the slow one");
    goesOn.resolve();

    await assertSame(stage, [slow, quick], 1_000);
    await slow.cut();
    await quick.cut();
  }),
  deliveryCase(
    "a log that keeps little sends its readers to the lane's writer",
    async (stage) => {
      const early = createViewer(stage);
      const hand = await stage.start();
      await hand.write("the beginning, ");
      early.connect();
      await early.cut(1);
      for (let batch = 0; batch < 60; batch += 1) await hand.write(`${batch} `);
      const late = createViewer(stage);

      early.connect();
      late.connect();

      await assertSame(stage, [early, late], 100);
      await stage.commit(hand);
      await assertSame(stage, [early, late]);
      await early.cut();
      await late.cut();
    },
    { batchesPerLane: 5 },
  ),
  deliveryCase(
    "viewers who come and go see every text though the log keeps little",
    async (stage) => {
      const viewers = [1, 2, 5].map((cutEvery) => createViewer(stage, { cutEvery }));
      for (const viewer of viewers) viewer.connect();
      const hand = await stage.start();
      // A viewer may join when much has been said: it has to be told enough to go and come back.
      const back = (): boolean => viewers.every((viewer) => viewer.connections() > 1);
      for (let batch = 0; batch < 40 || (batch < 1_000 && !back()); batch += 1) {
        await hand.write(`${batch} `);
        await stage.clock.advance(50);
      }
      await stage.commit(hand);

      await assertSame(stage, viewers, 100);
      for (const viewer of viewers) {
        assert(viewer.connections() > 1, "it came and went");
        await viewer.cut();
      }
    },
    { batchesPerLane: 2 },
  ),
];
