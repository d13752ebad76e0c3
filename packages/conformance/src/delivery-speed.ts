import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import { conversationItems, converse } from "./delivery-conversation.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";

/** The speed of one reader does not affect others. */
export const speedCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("viewers at different speeds end in the same state", async (session) => {
    const paces = [0, 1, 20, 300].map((ms) => () => session.clock.sleep(ms));
    const viewers = paces.map((pace) => createViewer(session, { pace }));
    for (const viewer of viewers) viewer.connect();

    await converse(session, () => session.clock.advance(5));

    await assertSame(session, viewers, 500);
    for (const viewer of viewers) {
      assertEqual(viewer.state().items.length, conversationItems, "items");
      assertEqual(viewer.snapshots(), 1, "snapshots");
      await viewer.cut();
    }
  }),
  deliveryCase("a viewer that stops reading delays no other", async (session) => {
    const goesOn = Promise.withResolvers<void>();
    const pace = (): Promise<void> => goesOn.promise;
    const slow = createViewer(session, { pace });
    const quick = createViewer(session);
    slow.connect();
    quick.connect();

    await converse(session, () => session.until(() => quick.caughtUp(), "the quick one is there"));
    assertEqual(slow.messages(), 1, "messages of the slow one");
    goesOn.resolve();

    await assertSame(session, [slow, quick], 1_000);
    await slow.cut();
    await quick.cut();
  }),
  deliveryCase(
    "a log that keeps little sends its readers to the lane's writer",
    async (session) => {
      const early = createViewer(session);
      const writer = await session.start();
      await writer.write("the beginning, ");
      early.connect();
      await early.cut(1);
      for (let batch = 0; batch < 60; batch += 1) await writer.write(`${batch} `);
      const late = createViewer(session);

      early.connect();
      late.connect();

      await assertSame(session, [early, late], 100);
      await session.commit(writer);
      await assertSame(session, [early, late]);
      await early.cut();
      await late.cut();
    },
    { batchesPerLane: 5 },
  ),
  deliveryCase(
    "viewers that reconnect see every text though the log keeps little",
    async (session) => {
      const viewers = [1, 2, 5].map((cutEvery) => createViewer(session, { cutEvery }));
      for (const viewer of viewers) viewer.connect();
      const writer = await session.start();
      // A viewer may join late: it must get enough messages to be cut and reconnect.
      const back = (): boolean => viewers.every((viewer) => viewer.connections() > 1);
      const joined = (): boolean => viewers.every((viewer) => viewer.messages() > 0);
      await session.until(joined, "all have joined");
      for (let batch = 0; batch < 40 || (batch < 1_000 && !back()); batch += 1) {
        await writer.write(`${batch} `);
        await session.clock.advance(50);
      }
      await session.commit(writer);

      await assertSame(session, viewers, 100);
      for (const viewer of viewers) {
        assert(viewer.connections() > 1, "it came and went");
        await viewer.cut();
      }
    },
    { batchesPerLane: 2 },
  ),
];
