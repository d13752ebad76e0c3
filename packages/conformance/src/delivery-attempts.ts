import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase, deliveryLossCase } from "./delivery-case.ts";
import type { DeliveryFixture, LosableDeliveryFixture } from "./delivery-fixture.ts";
import { itemText, laneText } from "./delivery-text.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";
import { textItem } from "./session-store-bodies.ts";

/** A newer attempt replaces the older one for every viewer; an older one changes nothing. */
export const attemptCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("a second attempt replaces the first on every screen", async (session) => {
    const viewers = [createViewer(session), createViewer(session), createViewer(session)];
    viewers[0]?.connect();
    const first = await session.start();
    await first.write("a first att");
    viewers[1]?.connect();
    await assertSame(session, viewers.slice(0, 2));

    const second = await session.start({ again: first });
    await second.write("a second");
    viewers[2]?.connect();

    await assertSame(session, viewers);
    for (const viewer of viewers) {
      assertEqual(laneText(viewer.state(), 0), "a second", "the text");
      await viewer.cut();
    }
  }),
  deliveryCase("a zombie's writes are refused and reach no viewer", async (session) => {
    const viewers = [createViewer(session), createViewer(session)];
    viewers[0]?.connect();
    const zombie = await session.start();
    await zombie.write("alive, ");
    const holder = await session.start({ again: zombie });
    await holder.write("the holder");

    await zombie.write("undead");
    viewers[1]?.connect();

    assert(zombie.laneWriter.fenced.aborted, "the zombie is fenced");
    assert(!holder.laneWriter.fenced.aborted, "the holder is not fenced");
    await assertSame(session, viewers);
    assertEqual(await session.commit(zombie), false, "the zombie commits");
    assertEqual(await session.commit(holder), true, "the holder commits");
    await assertSame(session, viewers);
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
  deliveryCase("batches that come after their item change nothing", async (session) => {
    const viewer = createViewer(session);
    viewer.connect();
    const first = await session.start();
    await first.write("first");
    const second = await session.start({ again: first });
    await session.commit(second);
    await session.start({ lane: 1 });

    await first.write(" and late");

    await assertSame(session, [viewer]);
    assertEqual(laneText(viewer.state(), 0), undefined, "the draft of the first attempt");
    await viewer.cut();
  }),
  deliveryCase(
    "an item that ends with other content discards what was streamed",
    async (session) => {
      const viewers = [createViewer(session), createViewer(session, { cutEvery: 1 })];
      for (const viewer of viewers) viewer.connect();
      const writer = await session.start();
      await writer.write("what was streamed");
      await assertSame(session, viewers);

      await session.commit(writer, { ...textItem(writer.itemId, "what it came to") });

      await assertSame(session, viewers);
      for (const viewer of viewers) {
        const [item] = viewer.state().items.toArray();
        assertEqual(item && itemText(item.parts), "what it came to", "the item");
        await viewer.cut();
      }
    },
  ),
  deliveryCase("another driver's claim takes the drafts off every screen", async (session) => {
    const viewers = [createViewer(session), createViewer(session)];
    viewers[0]?.connect();
    const late = [await session.start(), await session.start({ lane: 1, tool: true })];
    for (const writer of late) await writer.write("of the old driver");
    await assertSame(session, viewers.slice(0, 1));

    await session.claim();
    for (const writer of late) await writer.write(", too late");
    viewers[1]?.connect();

    await assertSame(session, viewers);
    for (const viewer of viewers) assertEqual(viewer.state().lanes.length, 0, "drafts");
    const writer = await session.start({ itemId: late[0]?.itemId });
    await writer.write("of the new driver");
    await assertSame(session, viewers);
    for (const viewer of viewers) await viewer.cut();
  }),
  deliveryCase("the end of a turn takes what it left open off every screen", async (session) => {
    const viewer = createViewer(session);
    viewer.connect();
    for (let lane = 0; lane < 3; lane += 1) await (await session.start({ lane })).write("open");
    await assertSame(session, [viewer]);

    await session.nextTurn();

    await assertSame(session, [viewer]);
    assertEqual(viewer.state().lanes.length, 0, "drafts");
    await viewer.cut();
  }),
  deliveryCase("ten attempts one after the other end in one item", async (session) => {
    const viewers = [createViewer(session), createViewer(session, { cutEvery: 2 })];
    for (const viewer of viewers) viewer.connect();
    let writer = await session.start();
    for (let attempt = 2; attempt <= 10; attempt += 1) {
      await writer.write(`attempt ${attempt - 1}`);
      writer = await session.start({ again: writer });
    }
    await writer.write("attempt 10");
    await session.commit(writer);

    await assertSame(session, viewers);
    for (const viewer of viewers) {
      assertEqual(viewer.state().items.length, 1, "items");
      await viewer.cut();
    }
  }),
];

/** A lost log loses its fence. The store still fences the lane. */
export const zombieLossCases: readonly Case<LosableDeliveryFixture>[] = [
  deliveryLossCase(
    "a zombie that outlives the log's fence is overwritten by the holder",
    async (session, lose) => {
      const viewers = [createViewer(session), createViewer(session)];
      viewers[0]?.connect();
      const zombie = await session.start();
      await zombie.write("alive, ");
      const holder = await session.start({ again: zombie });
      await holder.write("the holder, ");
      await assertSame(session, viewers.slice(0, 1));

      await lose(0);
      await zombie.write("undead");
      viewers[1]?.connect();
      await holder.write("again");

      await assertSame(session, viewers, 500);
      assertEqual(await session.commit(zombie), false, "the zombie commits");
      assertEqual(await session.commit(holder), true, "the holder commits");
      await assertSame(session, viewers);
      for (const viewer of viewers) await viewer.cut();
    },
  ),
];
