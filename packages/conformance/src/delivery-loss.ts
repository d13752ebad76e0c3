import type { Fact } from "@millrace/core";
import type { Batch, EventLog } from "@millrace/core/ports";
import { assert, assertEqual, within } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase, deliveryLossCase } from "./delivery-case.ts";
import { failingLog, lossyLog } from "./delivery-faults.ts";
import type { DeliveryFixture, LosableDeliveryFixture } from "./delivery-fixture.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";

/** An unreachable log costs time, not text. */
export const outageCases: readonly Case<DeliveryFixture>[] = [
  ...(["before", "after"] as const).map((when) =>
    deliveryCase(`appends that fail ${when} they are stored lose nothing`, async (session) => {
      let failing = false;
      const log = failingLog(session.log, () => (failing ? when : undefined));
      const viewer = createViewer(session);
      viewer.connect();
      const writer = await session.start({ log });
      await writer.write("before, ");
      failing = true;
      await writer.write("during, ");
      await writer.write("still during, ");
      await session.clock.advance(3_000);
      failing = false;
      await writer.write("after");

      await assertSame(session, [viewer], 500);
      assertEqual(viewer.snapshots(), 1, "snapshots");
      await session.commit(writer);
      await assertSame(session, [viewer], 500);
      assertEqual(viewer.short(), 0, "items whose text was incomplete");
      await viewer.cut();
    }),
  ),
  deliveryCase("what could not be written is written once the log is back", async (session) => {
    let failing = true;
    const log = failingLog(session.log, () => (failing ? "before" : undefined));
    const viewer = createViewer(session);
    viewer.connect();
    const writer = await session.start({ log });
    await writer.write("the last text for long");
    failing = false;

    // There is no nudge, and nothing follows: the writer retries by itself.
    await assertSame(session, [viewer], 50);
    await viewer.cut();
  }),
  deliveryCase("an item is committed though its log can't be reached", async (session) => {
    const log = failingLog(session.log, () => "before");
    const viewer = createViewer(session);
    viewer.connect();
    const writer = await session.start({ log });
    await writer.write("never streamed");

    const committing = session.commit(writer);
    await session.until(() => viewer.state().items.length === 1, "the item", 500);

    assertEqual(await within(committing, "the commit"), true, "it was committed");
    await assertSame(session, [viewer]);
    await viewer.cut();
  }),
  deliveryCase("a lost request for a re-seed is made again", async (session) => {
    const asked = { times: 0 };
    const log: EventLog = {
      ...lossyLog(session.log, () => false),
      // This viewer's log has lost the beginning of the lane …
      read: async (uid, lane, after) =>
        (await session.log.read(uid, lane, after)).filter(({ first }) => first > 4),
      // … and its first two nudges are lost.
      nudge: async (uid, nudge) => {
        if (nudge.kind === "reseed") asked.times += 1;
        return asked.times > 2 ? await session.log.nudge(uid, nudge) : undefined;
      },
    };
    const writer = await session.start();
    for (const word of ["a ", "b ", "c ", "d ", "e "]) await writer.write(word);
    const viewer = createViewer(session, { log });
    viewer.connect();

    for (const times of [1, 2, 3]) {
      await session.until(() => asked.times >= times, `${times} requests`);
      await session.clock.advance(1_500);
      await writer.write("more ");
    }

    await assertSame(session, [viewer]);
    await viewer.cut();
  }),
  deliveryCase(
    "a lost request for a re-seed is made again, though nothing more is written",
    async (session) => {
      let asked = 0;
      // Heartbeats of the lane, which would reveal the gap, are dropped too.
      const isMissed = (message: Fact | Batch): boolean =>
        "last" in message && message.first > 0 && /missed|lane_idled/.test(JSON.stringify(message));
      const log: EventLog = {
        ...lossyLog(session.log, isMissed),
        read: async (...where) =>
          (await session.log.read(...where)).filter((one) => !isMissed(one)),
        nudge: async (uid, nudge) => {
          if (nudge.kind !== "reseed") return session.log.nudge(uid, nudge);
          asked += 1;
          return asked > 1 ? session.log.nudge(uid, nudge) : undefined;
        },
      };
      const viewer = createViewer(session, { log });
      viewer.connect();
      const writer = await session.start();
      await writer.write("seen, ");
      await session.until(viewer.caughtUp, "what comes before");
      await writer.write("missed, ");
      await writer.write("the last text for long");

      await assertSame(session, [viewer], 1_000);
      assert(asked > 1, "it asked again");
      await viewer.cut();
    },
  ),
];

/** The log loses data; its writers do not. */
export const lossCases: readonly Case<LosableDeliveryFixture>[] = [
  deliveryLossCase("a log lost in the middle is filled by its writers", async (session, lose) => {
    const viewers = [createViewer(session), createViewer(session)];
    viewers[0]?.connect();
    const writers = [await session.start(), await session.start({ lane: 1, tool: true })];
    for (const writer of writers) await writer.write("before, ");

    await lose();
    viewers[1]?.connect();
    for (const writer of writers) await writer.write("after");

    await assertSame(session, viewers);
    assertEqual(viewers[0]?.snapshots(), 1, "snapshots of a connected viewer");
    for (const viewer of viewers) await viewer.cut();
  }),
  deliveryLossCase(
    "a writer whose lane was lost writes all of it again by itself",
    async (session, lose) => {
      const writer = await session.start();
      await writer.write("before, ");
      const viewer = createViewer(session, { log: withoutNudges(session.log) });
      viewer.connect();
      await assertSame(session, [viewer]);
      await lose();

      await writer.write("after");

      await assertSame(session, [viewer]);
      const held = await session.log.read(session.uid, 0);
      assertEqual(held[0]?.first, 0, "the first batch that is held begins at 0");
      await viewer.cut();
    },
  ),
  deliveryLossCase(
    "a viewer that joins after a loss gets an idle lane from its writer",
    async (session, lose) => {
      const writer = await session.start();
      await writer.write("written before the loss");
      await lose(0);
      const viewer = createViewer(session);

      viewer.connect();

      await assertSame(session, [viewer]);
      await viewer.cut();
    },
  ),
  deliveryLossCase(
    "a viewer that was disconnected during a loss gets all of it",
    async (session, lose) => {
      const viewer = createViewer(session);
      const writer = await session.start();
      await writer.write("seen, ");
      viewer.connect();
      await viewer.cut(1);
      await writer.write("missed, ");
      await lose();
      await writer.write("and missed");

      viewer.connect();

      await assertSame(session, [viewer]);
      assertEqual(viewer.snapshots(), 1, "snapshots");
      await viewer.cut();
    },
  ),
  deliveryLossCase("a loss after every batch costs no text", async (session, lose) => {
    const viewers = [createViewer(session), createViewer(session, { cutEvery: 2 })];
    for (const viewer of viewers) viewer.connect();
    const writer = await session.start();
    for (let batch = 0; batch < 20; batch += 1) {
      await writer.write(`${batch} `);
      await lose(0);
      await session.clock.advance(1_100);
    }
    await session.commit(writer);

    await assertSame(session, viewers);
    for (const viewer of viewers) await viewer.cut();
  }),
  deliveryLossCase("a loss at the very end leaves the item", async (session, lose) => {
    const viewer = createViewer(session);
    const writer = await session.start();
    await writer.write("all of it");
    await lose();
    await session.commit(writer);
    await lose();

    viewer.connect();

    await assertSame(session, [viewer]);
    await viewer.cut();
  }),
];

/** A log without nudges. */
function withoutNudges(log: EventLog): EventLog {
  return { ...log, nudge: async () => undefined };
}
