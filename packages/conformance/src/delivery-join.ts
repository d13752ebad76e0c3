import { itemId, sessionUid } from "@millrace/core/writing";
import type { SessionStore } from "@millrace/core/ports";
import { assert, assertEqual, assertRejects, within } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import { lossyLog } from "./delivery-faults.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { laneText } from "./delivery-text.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";
import type { Viewer } from "./delivery-viewer.ts";

/** A viewer that joins at any moment sees what is there and what follows. */
export const joinCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("viewers that join at every batch all end in the same state", async (session) => {
    const viewers: Viewer[] = [];
    const join = (): void => {
      const viewer = createViewer(session);
      viewer.connect();
      viewers.push(viewer);
    };
    join();
    const writer = await session.start();
    for (let batch = 0; batch < 15; batch += 1) {
      join();
      await writer.write(`word ${batch}, `);
    }
    join();
    await session.commit(writer);
    join();

    await assertSame(session, viewers);
    for (const viewer of viewers) await viewer.cut();
  }),
  deliveryCase("a viewer that joins mid-word gets the word so far at once", async (session) => {
    const writer = await session.start();
    await writer.write("a beginning wi");
    const viewer = createViewer(session);

    viewer.connect();
    await session.until(() => viewer.messages() > 0, "the first message");

    assertEqual(viewer.snapshots(), 1, "how many snapshots came");
    assertEqual(laneText(viewer.state(), 0), "a beginning wi", "the text");
    await viewer.cut();
  }),
  deliveryCase("a snapshot costs as much for a hundred deltas as for one", async (session) => {
    const writer = await session.start();
    for (let delta = 0; delta < 100; delta += 1) await writer.write("x");
    const viewer = createViewer(session);

    viewer.connect();
    await session.until(() => viewer.messages() > 0, "the first message");
    await viewer.cut();

    assertEqual(viewer.messages(), 1, "how many messages came");
    assertEqual(laneText(viewer.state(), 0), "x".repeat(100), "the text");
  }),
  deliveryCase("a viewer that joins a finished session gets all of it", async (session) => {
    await session.acceptInput();
    const writer = await session.start();
    await writer.write("all of it");
    await session.commit(writer);
    const viewer = createViewer(session);

    viewer.connect();

    await assertSame(session, [viewer]);
    assertEqual(viewer.messages(), 1, "how many messages came");
    await viewer.cut();
  }),
  deliveryCase(
    "a viewer that joins between a lane's opening and its first batch misses nothing",
    async (session) => {
      const epoch = 2 ** 30 + 2 ** 12 * 900 + 1;
      await session.store.open(session.uid, { lane: 5, epoch, itemId: itemId("early") });
      const viewer = createViewer(session);
      viewer.connect();
      await session.until(() => viewer.messages() > 0, "the first message");

      const writer = await session.start();
      await writer.write("after all");
      await session.until(() => viewer.caughtUp(), "the viewer is caught up");
      await viewer.cut();
    },
  ),
  deliveryCase("what is written between subscribing and reading arrives once", async (session) => {
    const writer = await session.start();
    await writer.write("before, ");
    let reads = 0;
    const store: SessionStore = {
      ...session.store,
      read: async (uid, options) => {
        const facts = await session.store.read(uid, options);
        reads += 1;
        if (reads === 1) {
          await session.acceptInput();
          await writer.write("meanwhile, ");
        }
        return facts;
      },
      floors: async (uid) => {
        await writer.write("and then, ");
        const floors = await session.store.floors(uid);
        await session.acceptInput();
        await writer.write("and later");
        return floors;
      },
    };
    const viewer = createViewer(session, { store });

    viewer.connect();

    await assertSame(session, [viewer]);
    await viewer.cut();
  }),
  deliveryCase("a batch waits for the facts that its writer knew", async (session) => {
    // Facts are never announced to this viewer, so it must fetch each of them for its batch.
    const log = lossyLog(session.log, (message) => "n" in message);
    const viewer = createViewer(session, { log });
    viewer.connect();
    await session.until(() => viewer.messages() > 0, "the first message");

    const first = await session.start();
    await first.write("first turn");
    await session.commit(first);
    const second = await session.start();
    await second.write("second turn");

    await session.until(() => laneText(viewer.state(), 0) === "second turn", "the second turn");
    assert(viewer.state().items.length === 1, "the item of the first turn is there");
    await assertSame(session, [viewer]);
    await viewer.cut();
  }),
  deliveryCase("to follow a session that is not there is an error", async (session) => {
    const { store, log, clock, sessionId } = session;
    const uid = sessionUid(`missing_${crypto.randomUUID()}`);

    const reader = session.follow({ store, log, clock, uid, sessionId });

    await assertRejects(() => reader.next(), "unknown_session", "the first message");
  }),
  deliveryCase("a signal ends a viewer without an error", async (session) => {
    const { store, log, clock, uid, sessionId } = session;
    const end = new AbortController();
    const reader = session.follow({ store, log, clock, uid, sessionId, signal: end.signal });
    await reader.next();

    const next = reader.next();
    end.abort();

    const over = await within(next, "the end");
    assertEqual(over.done, true, "it is over");
    const never = session.follow({
      store,
      log,
      clock,
      uid,
      sessionId,
      signal: AbortSignal.abort(),
    });
    for await (const _ of never) await Promise.resolve();
  }),
  deliveryCase("a viewer that leaves its loop is gone, without a signal", async (session) => {
    const { store, log, clock, uid, sessionId } = session;
    const watch = async (messages: number): Promise<void> => {
      let seen = 0;
      for await (const _ of session.follow({ store, log, clock, uid, sessionId })) {
        seen += 1;
        if (seen === messages) break;
        await session.acceptInput();
      }
    };

    await within(watch(1), "leaving after the first message");
    await within(watch(3), "leaving after messages that came live");
  }),
  deliveryCase("a deleted session ends its viewers", async (session) => {
    const { store, log, clock, uid, sessionId } = session;
    const reader = session.follow({ store, log, clock, uid, sessionId });
    await reader.next();
    const next = reader.next();

    await store.remove(uid);
    await log.remove(uid);

    const over = await within(next, "the end");
    assertEqual(over.done, true, "it is over");
  }),
];
