import { itemId, sessionUid } from "@millrace/core/writing";
import type { SessionStore } from "@millrace/core/ports";
import { assert, assertEqual, assertRejects, within } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import { deafLog } from "./delivery-faults.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { laneText } from "./delivery-text.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";
import type { Viewer } from "./delivery-viewer.ts";

/** Whoever joins, at whatever moment, sees what is there and what follows. */
export const joinCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("viewers who join at every batch all end in the same state", async (stage) => {
    const viewers: Viewer[] = [];
    const join = (): void => {
      const viewer = createViewer(stage);
      viewer.connect();
      viewers.push(viewer);
    };
    join();
    const hand = await stage.start();
    for (let batch = 0; batch < 15; batch += 1) {
      join();
      await hand.write(`word ${batch}, `);
    }
    join();
    await stage.commit(hand);
    join();

    await assertSame(stage, viewers);
    for (const viewer of viewers) await viewer.cut();
  }),
  deliveryCase("whoever joins mid-word is shown the word so far at once", async (stage) => {
    const hand = await stage.start();
    await hand.write("a beginning wi");
    const viewer = createViewer(stage);

    viewer.connect();
    await stage.until(() => viewer.messages() > 0, "the first message");

    assertEqual(viewer.snapshots(), 1, "how many snapshots came");
    assertEqual(laneText(viewer.state(), 0), "a beginning wi", "the text");
    await viewer.cut();
  }),
  deliveryCase("a snapshot costs as much for a hundred deltas as for one", async (stage) => {
    const hand = await stage.start();
    for (let delta = 0; delta < 100; delta += 1) await hand.write("x");
    const viewer = createViewer(stage);

    viewer.connect();
    await stage.until(() => viewer.messages() > 0, "the first message");
    await viewer.cut();

    assertEqual(viewer.messages(), 1, "how many messages came");
    assertEqual(laneText(viewer.state(), 0), "x".repeat(100), "the text");
  }),
  deliveryCase("whoever joins a finished session is shown all of it", async (stage) => {
    await stage.say();
    const hand = await stage.start();
    await hand.write("all of it");
    await stage.commit(hand);
    const viewer = createViewer(stage);

    viewer.connect();

    await assertSame(stage, [viewer]);
    assertEqual(viewer.messages(), 1, "how many messages came");
    await viewer.cut();
  }),
  deliveryCase(
    "whoever joins between a lane's opening and its first batch is not left out",
    async (stage) => {
      const epoch = 2 ** 30 + 2 ** 12 * 900 + 1;
      await stage.store.open(stage.uid, { lane: 5, epoch, itemId: itemId("early") });
      const viewer = createViewer(stage);
      viewer.connect();
      await stage.until(() => viewer.messages() > 0, "the first message");

      const hand = await stage.start();
      await hand.write("after all");
      await stage.until(() => viewer.caughtUp(), "the viewer is caught up");
      await viewer.cut();
    },
  ),
  deliveryCase("what is said between subscribing and reading comes once", async (stage) => {
    const hand = await stage.start();
    await hand.write("before, ");
    let reads = 0;
    const store: SessionStore = {
      ...stage.store,
      read: async (uid, options) => {
        const facts = await stage.store.read(uid, options);
        reads += 1;
        if (reads === 1) {
          await stage.say();
          await hand.write("meanwhile, ");
        }
        return facts;
      },
      floors: async (uid) => {
        await hand.write("and then, ");
        const floors = await stage.store.floors(uid);
        await stage.say();
        await hand.write("and later");
        return floors;
      },
    };
    const viewer = createViewer(stage, { store });

    viewer.connect();

    await assertSame(stage, [viewer]);
    await viewer.cut();
  }),
  deliveryCase("a batch waits for the facts that its writer knew", async (stage) => {
    // Facts are never announced to this viewer, so each of them must be fetched for its batch.
    const log = deafLog(stage.log, (message) => "n" in message);
    const viewer = createViewer(stage, { log });
    viewer.connect();
    await stage.until(() => viewer.messages() > 0, "the first message");

    const first = await stage.start();
    await first.write("first turn");
    await stage.commit(first);
    const second = await stage.start();
    await second.write("second turn");

    await stage.until(() => laneText(viewer.state(), 0) === "second turn", "the second turn");
    assert(viewer.state().items.length === 1, "the item of the first turn is there");
    await assertSame(stage, [viewer]);
    await viewer.cut();
  }),
  deliveryCase("to follow a session that is not there is an error", async (stage) => {
    const { store, log, clock, sessionId } = stage;
    const uid = sessionUid(`nobody_${crypto.randomUUID()}`);

    const reader = stage.follow({ store, log, clock, uid, sessionId });

    await assertRejects(() => reader.next(), "unknown_session", "the first message");
  }),
  deliveryCase("a signal ends a viewer without an error", async (stage) => {
    const { store, log, clock, uid, sessionId } = stage;
    const end = new AbortController();
    const reader = stage.follow({ store, log, clock, uid, sessionId, signal: end.signal });
    await reader.next();

    const next = reader.next();
    end.abort();

    const over = await within(next, "the end");
    assertEqual(over.done, true, "it is over");
    const never = stage.follow({ store, log, clock, uid, sessionId, signal: AbortSignal.abort() });
    for await (const _ of never) await Promise.resolve();
  }),
  deliveryCase("a viewer who leaves its loop is gone, without a signal", async (stage) => {
    const { store, log, clock, uid, sessionId } = stage;
    const watch = async (messages: number): Promise<void> => {
      let seen = 0;
      for await (const _ of stage.follow({ store, log, clock, uid, sessionId })) {
        seen += 1;
        if (seen === messages) break;
        await stage.say();
      }
    };

    await within(watch(1), "leaving after the first message");
    await within(watch(3), "leaving after messages that came live");
  }),
  deliveryCase("a deleted session ends its viewers", async (stage) => {
    const { store, log, clock, uid, sessionId } = stage;
    const reader = stage.follow({ store, log, clock, uid, sessionId });
    await reader.next();
    const next = reader.next();

    await store.remove(uid);
    await log.remove(uid);

    const over = await within(next, "the end");
    assertEqual(over.done, true, "it is over");
  }),
];
