import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import { converse, conversationItems } from "./delivery-conversation.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { laneText } from "./delivery-text.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";

/** A viewer that reconnects with its cursor misses nothing and sees nothing twice. */
export const resumeCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("a viewer that is cut after every message sees every text once", async (session) => {
    const viewer = createViewer(session);
    await converse(session, async () => {
      while (!viewer.caughtUp()) {
        viewer.connect();
        await viewer.cut(1);
      }
    });

    await assertSame(session, [viewer]);
    assertEqual(viewer.state().items.length, conversationItems, "how many items there are");
    assertEqual(viewer.short(), 0, "items whose text was incomplete");
    assertEqual(viewer.snapshots(), 1, "snapshots: the first one, and none for a cursor");
  }),
  ...[1, 2, 3, 5, 8].map((messages) =>
    deliveryCase(
      `a viewer cut off after every ${messages} messages misses nothing`,
      async (session) => {
        const viewer = createViewer(session, { cutEvery: messages });
        viewer.connect();

        await converse(session, () => session.until(() => viewer.caughtUp(), "caught up"));

        await assertSame(session, [viewer]);
        assertEqual(viewer.short(), 0, "items whose text was incomplete");
        assertEqual(viewer.snapshots(), 1, "snapshots");
        assert(viewer.connections() > 40 / messages, `only ${viewer.connections()} connections`);
        await viewer.cut();
      },
    ),
  ),
  deliveryCase(
    "a viewer that was disconnected for any part of it catches up from its cursor",
    async (session) => {
      const viewers = Array.from({ length: 12 }, () => createViewer(session));
      let pauses = 0;
      await converse(session, async () => {
        pauses += 1;
        for (const [at, viewer] of viewers.entries()) {
          // Each viewer is connected for four pauses, and disconnected for as many as its number.
          if (pauses % (4 + at) >= 4) continue;
          viewer.connect();
          await session.until(() => viewer.caughtUp(), `viewer ${at} is caught up`);
          await viewer.cut();
        }
      });
      for (const viewer of viewers) viewer.connect();

      await assertSame(session, viewers);
      for (const viewer of viewers) {
        assertEqual(viewer.snapshots(), 1, "snapshots");
        await viewer.cut();
      }
    },
  ),
  deliveryCase("a welcome of many facts and lanes can be cut off anywhere", async (session) => {
    const backlog = 12;
    const viewers = Array.from({ length: backlog }, () => createViewer(session));
    for (const viewer of viewers) {
      viewer.connect();
      await viewer.cut(1);
    }
    for (let lane = 0; lane < 4; lane += 1) {
      const writer = await session.start({ lane });
      await writer.write(`lane ${lane} `);
      await session.acceptInput();
    }
    const again = await session.start({ lane: 2, again: session.open.get(2) });
    await again.write("lane 2 again");

    for (const [messages, viewer] of viewers.entries()) {
      viewer.connect();
      await viewer.cut(Math.min(messages + 1, 8));
      viewer.connect();
    }

    await assertSame(session, viewers);
    for (const viewer of viewers) {
      assertEqual(viewer.snapshots(), 1, "snapshots");
      await viewer.cut();
    }
  }),
  deliveryCase(
    "a cursor with nothing new behind it brings nothing until something is",
    async (session) => {
      const writer = await session.start();
      await writer.write("so far");
      const viewer = createViewer(session);
      viewer.connect();
      await viewer.cut(1);
      viewer.connect();

      await session.clock.advance(100);
      const quiet = viewer.messages();
      await writer.write(" so good");
      await session.until(() => viewer.caughtUp(), "caught up");

      assertEqual(quiet, 1, "messages before something was new");
      assertEqual(viewer.messages(), 2, "messages after it");
      await viewer.cut();
    },
  ),
  deliveryCase(
    "a viewer that reconnects after the item gets the item, and no draft",
    async (session) => {
      const viewer = createViewer(session);
      const writer = await session.start();
      await writer.write("one ");
      viewer.connect();
      await viewer.cut(1);
      await writer.write("two");
      await session.commit(writer);

      viewer.connect();

      await assertSame(session, [viewer]);
      assertEqual(viewer.snapshots(), 1, "snapshots");
      assertEqual(viewer.state().lanes.length, 0, "drafts");
      await viewer.cut();
    },
  ),
  deliveryCase(
    "a viewer that reconnects after a second attempt gets only that",
    async (session) => {
      const viewer = createViewer(session);
      const first = await session.start();
      await first.write("the first attempt");
      viewer.connect();
      await viewer.cut(1);
      const second = await session.start({ again: first });
      await second.write("the second");

      viewer.connect();

      await assertSame(session, [viewer]);
      assertEqual(laneText(viewer.state(), 0), "the second", "the text");
      await viewer.cut();
    },
  ),
  deliveryCase(
    "a cursor too small for all lanes still brings back all of them",
    async (session) => {
      const viewer = createViewer(session, { cutEvery: 20 });
      viewer.connect();
      const lanes = Array.from({ length: 30 }, (_, lane) => lane);
      for (const lane of lanes) await (await session.start({ lane })).write(`lane ${lane}: `);
      await session.until(() => viewer.caughtUp(), "caught up");
      assert((viewer.cursor() ?? "").length <= 256, "a cursor fits into a header");
      await viewer.cut();
      for (const writer of session.open.values()) await writer.write("more");

      viewer.connect();

      await assertSame(session, [viewer]);
      assertEqual(viewer.snapshots(), 1, "snapshots");
      await viewer.cut();
    },
  ),
];
