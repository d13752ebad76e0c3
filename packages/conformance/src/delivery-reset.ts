import { assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { itemText } from "./delivery-text.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";

/** After an operator's reset nobody goes on showing what was undone. */
export const resetCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("a reset is a snapshot to everybody who watches", async (stage) => {
    const viewers = [createViewer(stage), createViewer(stage, { cutEvery: 1 })];
    for (const viewer of viewers) viewer.connect();
    const kept = await stage.start();
    await kept.write("kept");
    await stage.commit(kept);
    const to = stage.head;
    const undone = await stage.start();
    await undone.write("undone");
    await stage.commit(undone);
    await stage.say();
    const draft = await stage.start();
    await draft.write("a draft");
    await assertSame(stage, viewers);

    await stage.claim(to);

    await assertSame(stage, viewers);
    for (const viewer of viewers) {
      const texts = viewer
        .state()
        .items.toArray()
        .map(({ parts }) => itemText(parts));
      assertEqual(texts, ["kept"], "the items");
      assertEqual(viewer.state().queue.length, 1, "inputs: people are not unsaid");
      assertEqual(viewer.snapshots(), 2, "snapshots");
      await viewer.cut();
    }
  }),
  deliveryCase("whoever was away during a reset comes back to a snapshot", async (stage) => {
    const viewer = createViewer(stage);
    const hand = await stage.start();
    await hand.write("undone");
    await stage.commit(hand);
    viewer.connect();
    await viewer.cut(1);
    await stage.claim(3);
    await stage.begin();

    viewer.connect();

    await assertSame(stage, [viewer]);
    assertEqual(viewer.snapshots(), 2, "snapshots");
    assertEqual(viewer.state().items.length, 0, "items");
    await viewer.cut();
  }),
  deliveryCase("whoever has seen a reset needs no second snapshot", async (stage) => {
    const viewer = createViewer(stage);
    await stage.say();
    await stage.claim(1);
    viewer.connect();
    await viewer.cut(1);
    await stage.begin();

    viewer.connect();

    await assertSame(stage, [viewer]);
    assertEqual(viewer.snapshots(), 1, "snapshots");
    await viewer.cut();
  }),
  deliveryCase(
    "an undone step is taken anew under its old id, before everybody's eyes",
    async (stage) => {
      const viewers = [createViewer(stage), createViewer(stage, { cutEvery: 1 })];
      for (const viewer of viewers) viewer.connect();
      const to = stage.head;
      const hand = await stage.start({ itemId: "step" });
      await hand.write("the first time");
      await stage.commit(hand);
      await stage.claim(to);
      await stage.begin();

      const anew = await stage.start({ itemId: "step" });
      await anew.write("the second time");
      await assertSame(stage, viewers);
      await stage.commit(anew);

      await assertSame(stage, viewers);
      for (const viewer of viewers) {
        const texts = viewer
          .state()
          .items.toArray()
          .map(({ parts }) => itemText(parts));
        assertEqual(texts, ["the second time"], "the items");
        await viewer.cut();
      }
    },
  ),
  deliveryCase("resets one after the other leave everybody at the same state", async (stage) => {
    const viewers = [createViewer(stage), createViewer(stage, { cutEvery: 2 })];
    for (const viewer of viewers) viewer.connect();
    for (let round = 1; round <= 4; round += 1) {
      const hand = await stage.start();
      await hand.write(`round ${round}`);
      await stage.say();
      await stage.commit(hand);
      await stage.claim(stage.head - round);
      await stage.begin();
    }

    await assertSame(stage, viewers);
    for (const viewer of viewers) await viewer.cut();
  }),
];
