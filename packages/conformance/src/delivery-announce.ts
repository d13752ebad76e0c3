import type { Fact } from "@millrace/core";
import type { Batch, EventLog } from "@millrace/core/ports";
import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import { lossyLog, duplicatingLog } from "./delivery-faults.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { laneText } from "./delivery-text.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";

/** The time between two polls, and between two heartbeats of an idle lane. */
const quietMs = 16_000;

/** Lost, duplicate and reordered announcements have no effect on viewers. */
export const announcementCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("a lost batch is fetched when the next one comes", async (session) => {
    const lost = new Set([2, 3, 5]);
    const log = lossyLog(session.log, (message) => !("n" in message) && lost.has(message.last));
    const viewer = createViewer(session, { log });
    viewer.connect();
    const writer = await session.start();

    for (const word of ["a ", "b ", "c ", "d ", "e ", "f "]) await writer.write(word);

    await assertSame(session, [viewer]);
    assertEqual(viewer.snapshots(), 1, "snapshots");
    await viewer.cut();
  }),
  deliveryCase("a lost opening is fetched too", async (session) => {
    const log = lossyLog(session.log, (message) => !("n" in message) && message.first === 0);
    const viewer = createViewer(session, { log });
    viewer.connect();
    await session.until(() => viewer.messages() > 0, "joined");
    const writer = await session.start();

    await writer.write("text");

    await assertSame(session, [viewer]);
    await viewer.cut();
  }),
  deliveryCase("a lost fact is fetched at the next poll", async (session) => {
    const log = lossyLog(session.log, (message) => "n" in message);
    const viewer = createViewer(session, { log });
    viewer.connect();
    await session.until(() => viewer.messages() > 0, "joined");
    await session.acceptInput();
    await session.clock.advance(100);
    assert(!viewer.caughtUp(), "the fact was lost");

    await session.clock.advance(quietMs);

    await assertSame(session, [viewer]);
    assertEqual(viewer.snapshots(), 1, "snapshots");
    await viewer.cut();
  }),
  deliveryCase("a lost last batch is fetched after its lane's next heartbeat", async (session) => {
    const log = lossyLog(session.log, (message) => !("n" in message) && contains(message, "last"));
    const viewer = createViewer(session, { log });
    viewer.connect();
    const writer = await session.start();
    await writer.write("first ");
    await session.until(() => laneText(viewer.state(), 0) === "first ", "the first word");
    await writer.write("last");
    await session.clock.advance(100);
    assert(!viewer.caughtUp(), "the batch was lost");

    await session.clock.advance(quietMs);

    await assertSame(session, [viewer]);
    await viewer.cut();
  }),
  deliveryCase(
    "a viewer that receives nothing for a while catches up by itself",
    async (session) => {
      let dropping = true;
      const log = lossyLog(session.log, () => dropping);
      const viewer = createViewer(session, { log });
      viewer.connect();
      await session.until(() => viewer.messages() > 0, "joined");
      const writer = await session.start();
      await writer.write("dropped, ");
      await session.acceptInput();
      await writer.write("all of it");
      await session.clock.advance(100);
      dropping = false;

      await session.clock.advance(quietMs);

      await assertSame(session, [viewer]);
      assertEqual(viewer.snapshots(), 1, "snapshots");
      await viewer.cut();
    },
  ),
  ...[2, 3, 5, 7].map((every) =>
    deliveryCase(
      `a viewer that receives one message in ${every} ends in the same state`,
      async (session) => {
        let count = 0;
        const log = lossyLog(session.log, () => {
          count += 1;
          return count % every > 0;
        });
        const viewers = [createViewer(session, { log }), createViewer(session)];
        for (const viewer of viewers) viewer.connect();
        for (let turn = 0; turn < 3; turn += 1) {
          const writer = await session.start();
          for (const word of ["one ", "two ", "three ", "four"]) await writer.write(word);
          await session.acceptInput();
          await session.commit(writer);
        }

        await assertSame(session, viewers, 1_000);
        for (const viewer of viewers) await viewer.cut();
      },
    ),
  ),
  deliveryCase("duplicate and reordered messages are shown once and in order", async (session) => {
    const viewer = createViewer(session, { log: duplicatingLog(session.log) });
    viewer.connect();
    await session.until(() => viewer.messages() > 0, "joined");
    for (let turn = 0; turn < 4; turn += 1) {
      const writer = await session.start({ lane: turn });
      for (const word of ["one ", "two ", "three"]) await writer.write(word);
      await session.acceptInput();
      if (turn > 1) await session.commit(writer);
    }

    await assertSame(session, [viewer], 1_000);
    assertEqual(viewer.snapshots(), 1, "snapshots");
    await viewer.cut();
  }),
  deliveryCase(
    "a broken subscription is renewed, or the viewer gets an error and reconnects",
    async (session) => {
      const isOutage = (error: unknown): boolean =>
        error instanceof Error && error.message === "the connection broke";
      const viewer = createViewer(session, { log: breaking(session.log), isOutage });
      viewer.connect();
      await session.until(() => viewer.messages() > 0, "joined");
      const writer = await session.start();
      for (const word of ["one ", "two ", "three"]) {
        await writer.write(word);
        await session.until(viewer.caughtUp, `all up to ${word}`, 100); // the writer may pause before it retries
      }
      await session.commit(writer);
      await session.acceptInput();

      await assertSame(session, [viewer], 5_000);
      assertEqual(viewer.snapshots(), 1, "snapshots");
      await viewer.cut();
    },
  ),
];

function breaking(log: EventLog): EventLog {
  async function* broken(
    tail: AsyncIterable<Fact | Batch>,
  ): AsyncGenerator<Fact | Batch, void, undefined> {
    for await (const message of tail) {
      yield message;
      throw new Error("the connection broke");
    }
  }
  return { ...log, tail: async (uid, options) => broken(await log.tail(uid, options)) };
}

function contains(batch: Batch, text: string): boolean {
  return batch.events.some(
    (event) =>
      event.type === "content_delta" &&
      event.delta.op === "append_text" &&
      event.delta.chunk === text,
  );
}
