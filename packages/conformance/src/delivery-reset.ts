import { assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { itemText } from "./delivery-text.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";

/** After an operator's reset no viewer shows what was undone. */
export const resetCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("a reset is a snapshot to every viewer", async (session) => {
    const viewers = [createViewer(session), createViewer(session, { cutEvery: 1 })];
    for (const viewer of viewers) viewer.connect();
    const kept = await session.start();
    await kept.write("kept");
    await session.commit(kept);
    const to = session.head;
    const undone = await session.start();
    await undone.write("undone");
    await session.commit(undone);
    await session.acceptInput();
    const draft = await session.start();
    await draft.write("a draft");
    await assertSame(session, viewers);

    await session.claim(to);

    await assertSame(session, viewers);
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
  deliveryCase("a viewer that was disconnected during a reset gets a snapshot", async (session) => {
    const viewer = createViewer(session);
    const writer = await session.start();
    await writer.write("undone");
    await session.commit(writer);
    viewer.connect();
    await viewer.cut(1);
    await session.claim(3);
    await session.begin();

    viewer.connect();

    await assertSame(session, [viewer]);
    assertEqual(viewer.snapshots(), 2, "snapshots");
    assertEqual(viewer.state().items.length, 0, "items");
    await viewer.cut();
  }),
  deliveryCase("a viewer that has seen a reset gets no second snapshot", async (session) => {
    const viewer = createViewer(session);
    await session.acceptInput();
    await session.claim(1);
    viewer.connect();
    await viewer.cut(1);
    await session.begin();

    viewer.connect();

    await assertSame(session, [viewer]);
    assertEqual(viewer.snapshots(), 1, "snapshots");
    await viewer.cut();
  }),
  deliveryCase(
    "an undone step is repeated under its old id, visible to every viewer",
    async (session) => {
      const viewers = [createViewer(session), createViewer(session, { cutEvery: 1 })];
      for (const viewer of viewers) viewer.connect();
      const to = session.head;
      const writer = await session.start({ itemId: "step" });
      await writer.write("the first time");
      await session.commit(writer);
      await session.claim(to);
      await session.begin();

      const anew = await session.start({ itemId: "step" });
      await anew.write("the second time");
      await assertSame(session, viewers);
      await session.commit(anew);

      await assertSame(session, viewers);
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
  deliveryCase(
    "resets one after the other leave every viewer in the same state",
    async (session) => {
      const viewers = [createViewer(session), createViewer(session, { cutEvery: 2 })];
      for (const viewer of viewers) viewer.connect();
      for (let round = 1; round <= 4; round += 1) {
        const writer = await session.start();
        await writer.write(`round ${round}`);
        await session.acceptInput();
        await session.commit(writer);
        await session.claim(session.head - round);
        await session.begin();
      }

      await assertSame(session, viewers);
      for (const viewer of viewers) await viewer.cut();
    },
  ),
];
