import { joinBytes, partId } from "@millrace/core/writing";
import { assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";
import type { Viewer } from "./delivery-viewer.ts";

/** Lanes run side by side, each in its own order. */
export const laneCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("tools write beside the model, each text in its order", async (stage) => {
    const viewers = [createViewer(stage), createViewer(stage, { cutEvery: 3 })];
    for (const viewer of viewers) viewer.connect();
    const hands = [await stage.start()];
    for (let lane = 1; lane <= 5; lane += 1) hands.push(await stage.start({ lane, tool: true }));
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(hands.map((hand) => hand.write(`${hand.lane}.${round} `)));
    }
    await assertSame(stage, viewers);

    for (const hand of hands) await stage.commit(hand);

    await assertSame(stage, viewers);
    for (const viewer of viewers) {
      assertEqual(viewer.state().items.length, 6, "items");
      assertEqual(viewer.short(), 0, "items whose text was not told to the end");
      await viewer.cut();
    }
  }),
  deliveryCase("bytes are shown as they were written", async (stage) => {
    const viewers = [createViewer(stage), createViewer(stage)];
    viewers[0]?.connect();
    const hand = await stage.start();
    hand.give({ op: "begin_part", partId: picture, kind: "media", mediaType: "image/png" });
    const buffer = new Uint8Array(4);
    for (let chunk = 0; chunk < 8; chunk += 1) {
      // As when a file is read: the buffer is used again for each chunk.
      buffer.fill(chunk);
      hand.give({ op: "append_bytes", partId: picture, chunk: buffer });
      if (chunk % 2 > 0) await hand.writer.flush();
      if (chunk === 4) viewers[1]?.connect();
    }
    buffer.fill(255);

    const written = Uint8Array.from({ length: 32 }, (_, at) => Math.floor(at / 4));
    for (const viewer of viewers) {
      await stage.until(() => bytesOf(viewer).length === written.length, "all bytes");
      assertEqual(bytesOf(viewer), written, "the bytes");
    }
    for (const viewer of viewers) await viewer.cut();
  }),
];

const picture = partId("picture");

/** The bytes that a viewer is shown of the picture. */
function bytesOf(viewer: Viewer): Uint8Array {
  const part = viewer.state().lanes[0]?.draft.parts[0];
  return joinBytes(part?.state === "open" ? part.bytes : undefined);
}
