import { joinBytes, partId } from "@millrace/core/writing";
import { assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { deliveryCase } from "./delivery-case.ts";
import type { DeliveryFixture } from "./delivery-fixture.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";
import type { Viewer } from "./delivery-viewer.ts";

/** Lanes run in parallel, each in its own order. */
export const laneCases: readonly Case<DeliveryFixture>[] = [
  deliveryCase("tools write beside the model, each text in its order", async (session) => {
    const viewers = [createViewer(session), createViewer(session, { cutEvery: 3 })];
    for (const viewer of viewers) viewer.connect();
    const writers = [await session.start()];
    for (let lane = 1; lane <= 5; lane += 1)
      writers.push(await session.start({ lane, tool: true }));
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(writers.map((writer) => writer.write(`${writer.lane}.${round} `)));
    }
    await assertSame(session, viewers);

    for (const writer of writers) await session.commit(writer);

    await assertSame(session, viewers);
    for (const viewer of viewers) {
      assertEqual(viewer.state().items.length, 6, "items");
      assertEqual(viewer.short(), 0, "items whose text was incomplete");
      await viewer.cut();
    }
  }),
  deliveryCase("bytes are shown as they were written", async (session) => {
    const viewers = [createViewer(session), createViewer(session)];
    viewers[0]?.connect();
    const writer = await session.start();
    writer.writeDelta({ op: "begin_part", partId: picture, kind: "media", mediaType: "image/png" });
    const buffer = new Uint8Array(4);
    for (let chunk = 0; chunk < 8; chunk += 1) {
      // As when a file is read: the buffer is reused for each chunk.
      buffer.fill(chunk);
      writer.writeDelta({ op: "append_bytes", partId: picture, chunk: buffer });
      if (chunk % 2 > 0) await writer.laneWriter.flush();
      if (chunk === 4) viewers[1]?.connect();
    }
    buffer.fill(255);

    const written = Uint8Array.from({ length: 32 }, (_, at) => Math.floor(at / 4));
    for (const viewer of viewers) {
      await session.until(() => bytesOf(viewer).length === written.length, "all bytes");
      assertEqual(bytesOf(viewer), written, "the bytes");
    }
    for (const viewer of viewers) await viewer.cut();
  }),
];

const picture = partId("picture");

/** The bytes of the picture in a viewer's state. */
function bytesOf(viewer: Viewer): Uint8Array {
  const part = viewer.state().lanes[0]?.draft.parts[0];
  return joinBytes(part?.state === "open" ? part.bytes : undefined);
}
