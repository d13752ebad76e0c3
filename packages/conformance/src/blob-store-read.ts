import { assert, assertEqual, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import { blobCase, bytesOf, hashOf, keep, mediaType, readAll } from "./blob-store-fixture.ts";
import type { BlobStoreFixture } from "./blob-store-fixture.ts";

/** What is read, by whom, and what a removal leaves. */
export const readCases: readonly Case<BlobStoreFixture>[] = [
  blobCase("ranges give those bytes: first, last, middle, none", async (opened) => {
    const size = 800_000;
    const bytes = bytesOf(size);
    const { hash } = await keep(opened, bytes);
    const ranges = [
      { start: 0, end: 1 },
      { start: size - 1 },
      { start: size - 1, end: size },
      { start: 262_143, end: 262_145 },
      { start: 262_144, end: 524_288 },
      { start: 100, end: 700_001 },
      { start: 0, end: size + 100 },
      { start: 5, end: 5 },
      { start: 9, end: 3 },
      { start: size },
      { start: size + 5, end: size + 9 },
    ];
    for (const range of ranges) {
      const expected = bytes.slice(range.start, Math.max(range.start, range.end ?? size));
      const what = `the bytes from ${range.start} to ${range.end ?? "the end"}`;
      assertEqual(await readAll(opened, hash, range), expected, what);
    }
  }),
  blobCase("what is no range is refused", async (opened) => {
    const { hash } = await keep(opened, bytesOf(10));
    for (const range of [{ start: -1 }, { start: 0.5 }, { start: 0, end: -2 }, { start: NaN }]) {
      await assertRejects(() => readAll(opened, hash, range), "invalid_event", "read");
    }
  }),
  blobCase("a large blob comes in pieces", async (opened) => {
    const bytes = bytesOf(3_000_000);
    const { hash } = await keep(opened, bytes);
    const sizes: number[] = [];
    for await (const piece of (await opened.blobs.read(opened.place, hash)) ?? []) {
      sizes.push(piece.length);
    }
    assert(Math.max(...sizes) <= 1_048_576, `the largest piece has ${Math.max(...sizes)} bytes`);
    assert(Math.min(...sizes) > 0, "no piece is empty");
  }),
  blobCase("a reader may leave at any piece, and may change what it was given", async (opened) => {
    const { blobs, place } = opened;
    const bytes = bytesOf(900_000);
    const { hash } = await keep(opened, bytes);
    await blobs.read(place, hash); // never begun
    for await (const piece of (await blobs.read(place, hash)) ?? []) {
      piece.fill(0);
      break;
    }
    assertEqual(await readAll(opened, hash), bytes, "what is read after");
  }),
  blobCase("many read the same blob at once", async (opened) => {
    const bytes = bytesOf(600_000);
    const { hash } = await keep(opened, bytes);

    const all = await Promise.all(Array.from({ length: 16 }, () => readAll(opened, hash)));

    for (const read of all) assertEqual(read, bytes, "what is read");
  }),
  blobCase("a hash opens nothing in the place of another session or tenant", async (opened) => {
    const { blobs, place, newPlace } = opened;
    const bytes = bytesOf(40_000);
    const { hash } = await keep(opened, bytes);
    const others = [
      await newPlace("default"),
      await newPlace("other"),
      { ...place, tenant: "other" },
    ];
    for (const other of others) {
      assertEqual(await blobs.find(other, hash), undefined, "what another place finds");
      assertEqual(await blobs.find(other, hash, { renew: true }), undefined, "what it renews");
      assertEqual(await blobs.read(other, hash), undefined, "what another place reads");
      assertEqual(await blobs.total(other), 0, "its total");
      await blobs.remove(other);
    }
    assertEqual(await readAll(opened, hash), bytes, "what the own place reads");
  }),
  blobCase("a place without a tenant is that of the tenant default", async (opened) => {
    const { blobs, place } = opened;
    const { hash } = await keep(opened, bytesOf(100));

    assertEqual((await blobs.find({ uid: place.uid }, hash))?.hash, hash, "what is found");
  }),
  blobCase("the same bytes in two places are two blobs", async (opened) => {
    const { blobs, place, newPlace } = opened;
    const other = await newPlace("default");
    const bytes = bytesOf(40_000);
    const { hash } = await keep(opened, bytes);
    const answer = await blobs.put(other, bytes, { mediaType: "text/plain" });
    assertEqual(answer.outcome, "stored", "the answer in the other place");

    await blobs.remove(place);

    assertEqual(await readAll({ blobs, place: other }, hash), bytes, "what the other reads");
    assertEqual((await blobs.find(other, hash))?.mediaType, "text/plain", "its media type");
  }),
  blobCase("what is not there, or no hash, is not found", async ({ blobs, place }) => {
    const missing = await hashOf(bytesOf(77));
    const none = [
      "",
      "x",
      "../../etc/passwd",
      missing.toUpperCase(),
      missing.slice(7),
      `${missing}0`,
    ];
    for (const hash of [missing, ...none, "sha256-\0"]) {
      assertEqual(await blobs.find(place, hash), undefined, JSON.stringify(hash));
      assertEqual(await blobs.find(place, hash, { renew: true }), undefined, "renewed");
      assertEqual(await blobs.read(place, hash), undefined, JSON.stringify(hash));
    }
  }),
  blobCase("a total is the sum of the sizes", async (opened) => {
    const { blobs, place } = opened;
    assertEqual(await blobs.total(place), 0, "of an empty place");
    for (const size of [0, 1, 1_000, 500_000]) await keep(opened, bytesOf(size));

    assertEqual(await blobs.total(place), 501_001, "the total");
  }),
  blobCase("a removal takes all blobs of its place, and may be repeated", async (opened) => {
    const { blobs, place } = opened;
    const kept = [await keep(opened, bytesOf(10)), await keep(opened, bytesOf(600_000))];

    await blobs.remove(place);
    await blobs.remove(place);

    for (const { hash } of kept) {
      assertEqual(await blobs.find(place, hash), undefined, "what is found");
      assertEqual(await blobs.read(place, hash), undefined, "what is read");
    }
    assertEqual(await blobs.total(place), 0, "the total");
  }),
  blobCase("a put during which its place is removed keeps nothing", async ({ blobs, place }) => {
    const bytes = bytesOf(900_000);
    async function* removing(): AsyncGenerator<Uint8Array, void, undefined> {
      yield bytes.slice(0, 600_000);
      await blobs.remove(place);
      yield bytes.slice(600_000);
    }
    const put = (): Promise<unknown> => blobs.put(place, removing(), { mediaType });

    await assertRejects(put, "unknown_session", "the put");

    assertEqual(await blobs.find(place, await hashOf(bytes)), undefined, "what is found");
    assertEqual(await blobs.total(place), 0, "the total");
  }),
  blobCase("a read during a removal ends whole or with an error", async (opened) => {
    const { blobs, place } = opened;
    const bytes = bytesOf(2_000_000);
    const { hash } = await keep(opened, bytes);
    let size = 0;
    let failed = false;
    try {
      for await (const piece of (await blobs.read(place, hash)) ?? []) {
        assertEqual(piece, bytes.slice(size, size + piece.length), "a piece");
        if (size === 0) await blobs.remove(place);
        size += piece.length;
      }
    } catch (error) {
      failed = (error as { readonly code?: unknown }).code === "unknown_blob";
      if (!failed) throw error;
    }
    assert(failed || size === bytes.length, `it ended after ${size} bytes as if it were whole`);
  }),
];
