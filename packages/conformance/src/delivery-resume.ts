import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import { converse, conversationItems } from "./delivery-conversation.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { laneText } from "./delivery-text.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";

/** Whoever is cut off and comes back with its cursor has missed nothing and sees nothing twice. */
export const resumeCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase(
    "a viewer who is cut off after every message sees every text once",
    async (stage) => {
      const viewer = createViewer(stage);
      await converse(stage, async () => {
        while (!viewer.caughtUp()) {
          viewer.connect();
          await viewer.cut(1);
        }
      });

      await assertSame(stage, [viewer]);
      assertEqual(viewer.state().items.length, conversationItems, "how many items there are");
      assertEqual(viewer.short(), 0, "items whose text was not told to the end");
      assertEqual(viewer.snapshots(), 1, "snapshots: the first one, and none for a cursor");
    },
  ),
  ...[1, 2, 3, 5, 8].map((messages) =>
    deliveryCase(
      `a viewer cut off after every ${messages} messages misses nothing`,
      async (stage) => {
        const viewer = createViewer(stage, { cutEvery: messages });
        viewer.connect();

        await converse(stage, () => stage.until(() => viewer.caughtUp(), "caught up"));

        await assertSame(stage, [viewer]);
        assertEqual(viewer.short(), 0, "items whose text was not told to the end");
        assertEqual(viewer.snapshots(), 1, "snapshots");
        assert(viewer.connections() > 40 / messages, `only ${viewer.connections()} connections`);
        await viewer.cut();
      },
    ),
  ),
  deliveryCase(
    "a viewer who was away for any part of it catches up from its cursor",
    async (stage) => {
      const viewers = Array.from({ length: 12 }, () => createViewer(stage));
      let pauses = 0;
      await converse(stage, async () => {
        pauses += 1;
        for (const [at, viewer] of viewers.entries()) {
          // Each is there for four pauses, and away for as many as its number says.
          if (pauses % (4 + at) >= 4) continue;
          viewer.connect();
          await stage.until(() => viewer.caughtUp(), `viewer ${at} is caught up`);
          await viewer.cut();
        }
      });
      for (const viewer of viewers) viewer.connect();

      await assertSame(stage, viewers);
      for (const viewer of viewers) {
        assertEqual(viewer.snapshots(), 1, "snapshots");
        await viewer.cut();
      }
    },
  ),
  deliveryCase("a welcome of many facts and lanes can be cut off anywhere", async (stage) => {
    const backlog = 12;
    const viewers = Array.from({ length: backlog }, () => createViewer(stage));
    for (const viewer of viewers) {
      viewer.connect();
      await viewer.cut(1);
    }
    for (let lane = 0; lane < 4; lane += 1) {
      const hand = await stage.start({ lane });
      await hand.write(`lane ${lane} `);
      await stage.say();
    }
    const again = await stage.start({ lane: 2, again: stage.open.get(2) });
    await again.write("lane 2 again");

    for (const [messages, viewer] of viewers.entries()) {
      viewer.connect();
      await viewer.cut(Math.min(messages + 1, 8));
      viewer.connect();
    }

    await assertSame(stage, viewers);
    for (const viewer of viewers) {
      assertEqual(viewer.snapshots(), 1, "snapshots");
      await viewer.cut();
    }
  }),
  deliveryCase(
    "a cursor with nothing new behind it brings nothing until something is",
    async (stage) => {
      const hand = await stage.start();
      await hand.write("so far");
      const viewer = createViewer(stage);
      viewer.connect();
      await viewer.cut(1);
      viewer.connect();

      await stage.clock.advance(100);
      const quiet = viewer.messages();
      await hand.write(" so good");
      await stage.until(() => viewer.caughtUp(), "caught up");

      assertEqual(quiet, 1, "messages before something was new");
      assertEqual(viewer.messages(), 2, "messages after it");
      await viewer.cut();
    },
  ),
  deliveryCase(
    "whoever comes back after the item is told the item, and no draft",
    async (stage) => {
      const viewer = createViewer(stage);
      const hand = await stage.start();
      await hand.write("one ");
      viewer.connect();
      await viewer.cut(1);
      await hand.write("two");
      await stage.commit(hand);

      viewer.connect();

      await assertSame(stage, [viewer]);
      assertEqual(viewer.snapshots(), 1, "snapshots");
      assertEqual(viewer.state().lanes.length, 0, "drafts");
      await viewer.cut();
    },
  ),
  deliveryCase("whoever comes back after a second attempt is shown only that", async (stage) => {
    const viewer = createViewer(stage);
    const first = await stage.start();
    await first.write("the first attempt");
    viewer.connect();
    await viewer.cut(1);
    const second = await stage.start({ again: first });
    await second.write("the second");

    viewer.connect();

    await assertSame(stage, [viewer]);
    assertEqual(laneText(viewer.state(), 0), "the second", "the text");
    await viewer.cut();
  }),
  deliveryCase("a cursor too small for all lanes still brings back all of them", async (stage) => {
    const viewer = createViewer(stage, { cutEvery: 20 });
    viewer.connect();
    const lanes = Array.from({ length: 30 }, (_, lane) => lane);
    for (const lane of lanes) await (await stage.start({ lane })).write(`lane ${lane}: `);
    await stage.until(() => viewer.caughtUp(), "caught up");
    assert((viewer.cursor() ?? "").length <= 256, "a cursor fits into a header");
    await viewer.cut();
    for (const hand of stage.open.values()) await hand.write("more");

    viewer.connect();

    await assertSame(stage, [viewer]);
    assertEqual(viewer.snapshots(), 1, "snapshots");
    await viewer.cut();
  }),
];
