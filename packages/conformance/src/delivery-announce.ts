import type { Fact } from "@millrace/core";
import type { Batch, EventLog } from "@millrace/core/ports";
import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import { deafLog, messyLog } from "./delivery-faults.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { laneText } from "./delivery-text.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";

/** Time between two polls, and between two signs of life of a silent lane. */
const quietMs = 16_000;

/** Announcements may be lost, doubled and out of order. Nobody notices. */
export const announcementCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("a lost batch is fetched when the next one comes", async (stage) => {
    const lost = new Set([2, 3, 5]);
    const log = deafLog(stage.log, (message) => !("n" in message) && lost.has(message.last));
    const viewer = createViewer(stage, { log });
    viewer.connect();
    const hand = await stage.start();

    for (const word of ["a ", "b ", "c ", "d ", "e ", "f "]) await hand.write(word);

    await assertSame(stage, [viewer]);
    assertEqual(viewer.snapshots(), 1, "snapshots");
    await viewer.cut();
  }),
  deliveryCase("a lost opening is fetched too", async (stage) => {
    const log = deafLog(stage.log, (message) => !("n" in message) && message.first === 0);
    const viewer = createViewer(stage, { log });
    viewer.connect();
    await stage.until(() => viewer.messages() > 0, "joined");
    const hand = await stage.start();

    await hand.write("text");

    await assertSame(stage, [viewer]);
    await viewer.cut();
  }),
  deliveryCase("a lost fact is fetched at the next poll", async (stage) => {
    const log = deafLog(stage.log, (message) => "n" in message);
    const viewer = createViewer(stage, { log });
    viewer.connect();
    await stage.until(() => viewer.messages() > 0, "joined");
    await stage.say();
    await stage.clock.advance(100);
    assert(!viewer.caughtUp(), "the fact was lost");

    await stage.clock.advance(quietMs);

    await assertSame(stage, [viewer]);
    assertEqual(viewer.snapshots(), 1, "snapshots");
    await viewer.cut();
  }),
  deliveryCase("a lost last batch is fetched when its lane says where it is", async (stage) => {
    const log = deafLog(stage.log, (message) => !("n" in message) && says(message, "last"));
    const viewer = createViewer(stage, { log });
    viewer.connect();
    const hand = await stage.start();
    await hand.write("first ");
    await stage.until(() => laneText(viewer.state(), 0) === "first ", "the first word");
    await hand.write("last");
    await stage.clock.advance(100);
    assert(!viewer.caughtUp(), "the batch was lost");

    await stage.clock.advance(quietMs);

    await assertSame(stage, [viewer]);
    await viewer.cut();
  }),
  deliveryCase("who hears nothing at all for a while catches up on its own", async (stage) => {
    let deaf = true;
    const log = deafLog(stage.log, () => deaf);
    const viewer = createViewer(stage, { log });
    viewer.connect();
    await stage.until(() => viewer.messages() > 0, "joined");
    const hand = await stage.start();
    await hand.write("unheard, ");
    await stage.say();
    await hand.write("all of it");
    await stage.clock.advance(100);
    deaf = false;

    await stage.clock.advance(quietMs);

    await assertSame(stage, [viewer]);
    assertEqual(viewer.snapshots(), 1, "snapshots");
    await viewer.cut();
  }),
  ...[2, 3, 5, 7].map((every) =>
    deliveryCase(`who hears one message in ${every} ends like the others`, async (stage) => {
      let count = 0;
      const log = deafLog(stage.log, () => {
        count += 1;
        return count % every > 0;
      });
      const viewers = [createViewer(stage, { log }), createViewer(stage)];
      for (const viewer of viewers) viewer.connect();
      for (let turn = 0; turn < 3; turn += 1) {
        const hand = await stage.start();
        for (const word of ["one ", "two ", "three ", "four"]) await hand.write(word);
        await stage.say();
        await stage.commit(hand);
      }

      await assertSame(stage, viewers, 1_000);
      for (const viewer of viewers) await viewer.cut();
    }),
  ),
  deliveryCase(
    "messages that come twice and out of order are told once and in order",
    async (stage) => {
      const viewer = createViewer(stage, { log: messyLog(stage.log) });
      viewer.connect();
      await stage.until(() => viewer.messages() > 0, "joined");
      for (let turn = 0; turn < 4; turn += 1) {
        const hand = await stage.start({ lane: turn });
        for (const word of ["one ", "two ", "three"]) await hand.write(word);
        await stage.say();
        if (turn > 1) await stage.commit(hand);
      }

      await assertSame(stage, [viewer], 1_000);
      assertEqual(viewer.snapshots(), 1, "snapshots");
      await viewer.cut();
    },
  ),
  deliveryCase(
    "a subscription that breaks is made anew, or the viewer is told and comes back",
    async (stage) => {
      const isOutage = (error: unknown): boolean =>
        error instanceof Error && error.message === "the connection broke";
      const viewer = createViewer(stage, { log: breaking(stage.log), isOutage });
      viewer.connect();
      await stage.until(() => viewer.messages() > 0, "joined");
      const hand = await stage.start();
      for (const word of ["one ", "two ", "three"]) {
        await hand.write(word);
        await stage.until(viewer.caughtUp, `all up to ${word}`, 100); // it may pause before it tries again
      }
      await stage.commit(hand);
      await stage.say();

      await assertSame(stage, [viewer], 5_000);
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

function says(batch: Batch, text: string): boolean {
  return batch.events.some(
    (event) =>
      event.type === "content_delta" &&
      event.delta.op === "append_text" &&
      event.delta.chunk === text,
  );
}
