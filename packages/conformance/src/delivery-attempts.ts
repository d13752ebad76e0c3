import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase, deliveryLossCase } from "./delivery-case.ts";
import type { DeliveryFixture, LosableDeliveryFixture } from "./delivery-fixture.ts";
import { itemText, laneText } from "./delivery-text.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";
import { textItem } from "./session-store-bodies.ts";

/** A newer attempt replaces the older one on every screen; an older one changes nothing. */
export const attemptCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("a second attempt replaces the first on every screen", async (stage) => {
    const viewers = [createViewer(stage), createViewer(stage), createViewer(stage)];
    viewers[0]?.connect();
    const first = await stage.start();
    await first.write("a first att");
    viewers[1]?.connect();
    await assertSame(stage, viewers.slice(0, 2));

    const second = await stage.start({ again: first });
    await second.write("a second");
    viewers[2]?.connect();

    await assertSame(stage, viewers);
    for (const viewer of viewers) {
      assertEqual(laneText(viewer.state(), 0), "a second", "the text");
      await viewer.cut();
    }
  }),
  deliveryCase("a zombie's writes are refused and seen by nobody", async (stage) => {
    const viewers = [createViewer(stage), createViewer(stage)];
    viewers[0]?.connect();
    const zombie = await stage.start();
    await zombie.write("alive, ");
    const holder = await stage.start({ again: zombie });
    await holder.write("the holder");

    await zombie.write("undead");
    viewers[1]?.connect();

    assert(zombie.writer.fenced.aborted, "the zombie is told that it is fenced");
    assert(!holder.writer.fenced.aborted, "the holder is not fenced");
    await assertSame(stage, viewers);
    assertEqual(await stage.commit(zombie), false, "the zombie commits");
    assertEqual(await stage.commit(holder), true, "the holder commits");
    await assertSame(stage, viewers);
    for (const viewer of viewers) {
      assertEqual(
        viewer
          .state()
          .items.toArray()
          .map(({ parts }) => itemText(parts)),
        ["the holder"],
        "it",
      );
      await viewer.cut();
    }
  }),
  deliveryCase("batches that come after their item change nothing", async (stage) => {
    const viewer = createViewer(stage);
    viewer.connect();
    const first = await stage.start();
    await first.write("first");
    const second = await stage.start({ again: first });
    await stage.commit(second);
    await stage.start({ lane: 1 });

    await first.write(" and late");

    await assertSame(stage, [viewer]);
    assertEqual(laneText(viewer.state(), 0), undefined, "the draft of the first attempt");
    await viewer.cut();
  }),
  deliveryCase("an item that ends with other content discards what was streamed", async (stage) => {
    const viewers = [createViewer(stage), createViewer(stage, { cutEvery: 1 })];
    for (const viewer of viewers) viewer.connect();
    const hand = await stage.start();
    await hand.write("what was streamed");
    await assertSame(stage, viewers);

    await stage.commit(hand, { ...textItem(hand.itemId, "what it came to") });

    await assertSame(stage, viewers);
    for (const viewer of viewers) {
      const [item] = viewer.state().items.toArray();
      assertEqual(item && itemText(item.parts), "what it came to", "the item");
      await viewer.cut();
    }
  }),
  deliveryCase("another driver's claim takes the drafts off every screen", async (stage) => {
    const viewers = [createViewer(stage), createViewer(stage)];
    viewers[0]?.connect();
    const late = [await stage.start(), await stage.start({ lane: 1, tool: true })];
    for (const hand of late) await hand.write("of the old driver");
    await assertSame(stage, viewers.slice(0, 1));

    await stage.claim();
    for (const hand of late) await hand.write(", too late");
    viewers[1]?.connect();

    await assertSame(stage, viewers);
    for (const viewer of viewers) assertEqual(viewer.state().lanes.length, 0, "drafts");
    const hand = await stage.start({ itemId: late[0]?.itemId });
    await hand.write("of the new driver");
    await assertSame(stage, viewers);
    for (const viewer of viewers) await viewer.cut();
  }),
  deliveryCase("the end of a turn takes what it left open off every screen", async (stage) => {
    const viewer = createViewer(stage);
    viewer.connect();
    for (let lane = 0; lane < 3; lane += 1) await (await stage.start({ lane })).write("open");
    await assertSame(stage, [viewer]);

    await stage.turn();

    await assertSame(stage, [viewer]);
    assertEqual(viewer.state().lanes.length, 0, "drafts");
    await viewer.cut();
  }),
  deliveryCase("ten attempts one after the other end in one item", async (stage) => {
    const viewers = [createViewer(stage), createViewer(stage, { cutEvery: 2 })];
    for (const viewer of viewers) viewer.connect();
    let hand = await stage.start();
    for (let attempt = 2; attempt <= 10; attempt += 1) {
      await hand.write(`attempt ${attempt - 1}`);
      hand = await stage.start({ again: hand });
    }
    await hand.write("attempt 10");
    await stage.commit(hand);

    await assertSame(stage, viewers);
    for (const viewer of viewers) {
      assertEqual(viewer.state().items.length, 1, "items");
      await viewer.cut();
    }
  }),
];

/** With the log its fence is lost. The store still knows who holds the lane. */
export const zombieLossCases: readonly Case<LosableDeliveryFixture>[] = [
  deliveryLossCase(
    "a zombie that outlives the log's fence is overwritten by the holder",
    async (stage, lose) => {
      const viewers = [createViewer(stage), createViewer(stage)];
      viewers[0]?.connect();
      const zombie = await stage.start();
      await zombie.write("alive, ");
      const holder = await stage.start({ again: zombie });
      await holder.write("the holder, ");
      await assertSame(stage, viewers.slice(0, 1));

      await lose(0);
      await zombie.write("undead");
      viewers[1]?.connect();
      await holder.write("again");

      await assertSame(stage, viewers, 500);
      assertEqual(await stage.commit(zombie), false, "the zombie commits");
      assertEqual(await stage.commit(holder), true, "the holder commits");
      await assertSame(stage, viewers);
      for (const viewer of viewers) await viewer.cut();
    },
  ),
];
