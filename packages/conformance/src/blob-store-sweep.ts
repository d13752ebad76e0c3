import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { blobCase, bytesOf, keep, mediaType, pause, readAll, sweep } from "./blob-store-fixture.ts";
import type { BlobStoreFixture } from "./blob-store-fixture.ts";

/** Longer than the clock of a store is coarse. */
const aWhile = 30;
/** Longer than a call takes under load. */
const long = 1_500;

/** A sweep removes what is old and not named, and nothing else. */
export const sweepCases: readonly Case<BlobStoreFixture>[] = [
  blobCase("a sweep removes what the session does not name", async (opened) => {
    const { blobs, place } = opened;
    const named = await keep(opened, bytesOf(300_000));
    const unused = await keep(opened, bytesOf(300_000, 2));
    await pause(aWhile);

    const { removed, bytes } = await sweep(opened, [named.hash]);

    assert(removed >= 1 && bytes >= unused.size, `${removed} blobs of ${bytes} bytes are removed`);
    assertEqual(await blobs.find(place, unused.hash), undefined, "what is not named");
    assertEqual(await blobs.read(place, unused.hash), undefined, "its bytes");
    assertEqual(await readAll(opened, named.hash), bytesOf(300_000), "what is named");
    assertEqual(await blobs.total(place), named.size, "the total");
  }),
  blobCase("what is young stays, named or not", async (opened) => {
    const young = await keep(opened, bytesOf(1_000));

    await sweep(opened, [], 600_000);

    assertEqual(await opened.blobs.find(opened.place, young.hash), young, "what is found");
  }),
  blobCase("a session that is gone loses all its blobs", async (opened) => {
    const kept = [await keep(opened, bytesOf(10)), await keep(opened, bytesOf(20))];
    await pause(aWhile);

    await sweep(opened, undefined);

    for (const { hash } of kept) {
      assertEqual(await opened.blobs.find(opened.place, hash), undefined, "what is found");
    }
  }),
  blobCase("once it was named, a blob is not asked for again", async (opened) => {
    const { blobs, place } = opened;
    const { hash } = await keep(opened, bytesOf(1_000));
    await pause(aWhile);
    await sweep(opened, [hash]);
    let asked = 0;

    await blobs.sweep({
      ageMs: 0,
      named: async ({ uid }) => {
        if (uid === place.uid) asked += 1;
        return new Set();
      },
    });

    assertEqual(asked, 0, "the questions about its place");
    assert((await blobs.find(place, hash)) !== undefined, "it stays");
  }),
  blobCase("a sweep asks once for each place, by its tenant", async ({ blobs, newPlace }) => {
    const places = [await newPlace("default"), await newPlace("other")];
    for (const place of places) {
      for (const seed of [1, 2, 3]) await keep({ blobs, place }, bytesOf(100, seed));
    }
    await pause(aWhile);
    const asked: string[] = [];

    await blobs.sweep({
      ageMs: 0,
      named: async ({ tenant = "default", uid }) => {
        if (places.some((place) => place.uid === uid)) asked.push(`${tenant} ${uid}`);
        return new Set();
      },
    });

    const expected = places.map(({ tenant, uid }) => `${tenant} ${uid}`);
    assertEqual(asked.toSorted(), expected.toSorted(), "the questions");
    for (const place of places) assertEqual(await blobs.total(place), 0, "the total");
  }),
  blobCase("bytes that are put again, or renewed, count as young", async (opened) => {
    const { blobs, place } = opened;
    const old = await keep(opened, bytesOf(1_000));
    const again = await keep(opened, bytesOf(1_000, 2));
    const renewed = await keep(opened, bytesOf(1_000, 3));
    await pause(long);
    const since = Date.now();
    await blobs.put(place, bytesOf(1_000, 2), { mediaType });
    await blobs.find(place, renewed.hash, { renew: true });
    await blobs.find(place, old.hash); // only looked for

    await sweep(opened, [], Date.now() - since + long / 2);

    assertEqual(await blobs.find(place, old.hash), undefined, "the old one");
    assertEqual(await blobs.find(place, again.hash), again, "the one that was put again");
    assertEqual(await blobs.find(place, renewed.hash), renewed, "the one that was renewed");
  }),
  blobCase("what is put while a sweep asks for names stays", async (opened) => {
    const { blobs, place } = opened;
    const old = await keep(opened, bytesOf(1_000));
    await pause(long);
    const fresh = bytesOf(1_000, 2);

    await blobs.sweep({
      ageMs: long / 2,
      named: async ({ uid }) => {
        if (uid === place.uid) {
          await keep(opened, fresh);
          await keep(opened, bytesOf(1_000)); // the old one once more
        }
        return new Set();
      },
    });

    assertEqual(await blobs.total(place), 2_000, "the total");
    assertEqual(await blobs.find(place, old.hash), old, "the one that was put again");
  }),
];
