import { assert, assertEqual, assertOutcome, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import {
  blobCase,
  bytesOf,
  hashOf,
  keep,
  mediaType,
  readAll,
  streamOf,
} from "./blob-store-fixture.ts";
import type { BlobCase, BlobStoreFixture } from "./blob-store-fixture.ts";

/** What is kept, what is not, and that nothing is kept by half. */
export const putCases: readonly Case<BlobStoreFixture>[] = [
  blobCase("bytes that are put are found by their SHA-256", async (opened) => {
    const bytes = bytesOf(300_001);
    const hash = await hashOf(bytes);

    const answer = await opened.blobs.put(opened.place, bytes, { mediaType });

    const blob = { hash, size: bytes.length, mediaType };
    assertEqual(answer, { outcome: "stored", blob }, "the answer");
    assertEqual(await opened.blobs.find(opened.place, hash), blob, "what is found");
    assertEqual(await readAll(opened, hash), bytes, "what is read");
  }),
  blobCase("a stream gives the same blob as the bytes at once", async (opened) => {
    const bytes = bytesOf(700_003);
    for (const piece of [20_000, 65_536, 262_144, 262_145, 700_003]) {
      const place = await opened.newPlace("default");
      const blob = await keep({ ...opened, place }, streamOf(bytes, piece));
      assertEqual(blob.hash, await hashOf(bytes), `the hash in pieces of ${piece}`);
      assertEqual(await readAll({ ...opened, place }, blob.hash), bytes, `in pieces of ${piece}`);
    }
  }),
  blobCase("no bytes are a blob as well", async (opened) => {
    const { hash, size } = await keep(opened, new Uint8Array(0));

    assertEqual(size, 0, "the size");
    assertEqual(await readAll(opened, hash), new Uint8Array(0), "what is read");
  }),
  blobCase("the same bytes twice are kept once, with their first media type", async (opened) => {
    const { blobs, place } = opened;
    const bytes = bytesOf(50_000);
    const first = await keep(opened, bytes);

    const again = await blobs.put(place, streamOf(bytes), { mediaType: "text/plain" });

    assertEqual(again, { outcome: "exists", blob: first }, "the answer");
    assertEqual(await blobs.find(place, first.hash), first, "what is found");
    assertEqual(await blobs.total(place), bytes.length, "the total");
  }),
  blobCase("of many that put the same bytes at once, one stores them", async (opened) => {
    const { blobs, place } = opened;
    const bytes = bytesOf(400_000);

    const answers = await Promise.all(
      Array.from({ length: 8 }, () => blobs.put(place, streamOf(bytes, 30_000), { mediaType })),
    );

    const stored = answers.filter(({ outcome }) => outcome === "stored");
    const exist = answers.filter(({ outcome }) => outcome === "exists");
    assertEqual([stored.length, exist.length], [1, 7], "the answers");
    assertEqual(await readAll(opened, await hashOf(bytes)), bytes, "what is read");
    assertEqual(await blobs.total(place), bytes.length, "the total");
  }),
  blobCase("a limit admits as many bytes as it says, and not one more", async (opened) => {
    const { blobs, place } = opened;
    const limit = 300_000;
    for (const size of [limit - 1, limit]) {
      const answer = await blobs.put(place, streamOf(bytesOf(size)), { mediaType, limit });
      assertOutcome(answer, "stored", `${size} bytes`);
    }
    const above = bytesOf(limit + 1);
    for (const bytes of [above, streamOf(above), streamOf(above, 20_000)]) {
      const answer = await blobs.put(place, bytes, { mediaType, limit });
      assertEqual(answer, { outcome: "too_large", limit }, "the answer");
    }
    assertEqual(await blobs.find(place, await hashOf(above)), undefined, "what is found");
    assertEqual(await blobs.total(place), 2 * limit - 1, "the total");
  }),
  blobCase("a stream above the limit is not read to its end, and is closed", async (opened) => {
    let given = 0;
    let closed = false;
    async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        for (;;) {
          given += 1;
          yield bytesOf(10_000, given);
        }
      } finally {
        closed = true;
      }
    }
    const options = { mediaType, limit: 1_000_000 };
    const answer = await opened.blobs.put(opened.place, endless(), options);

    assertOutcome(answer, "too_large", "an endless stream");
    assert(given < 200, `${given} pieces were read`);
    assert(closed, "the stream is closed");
  }),
  blobCase("bytes with another hash than was asked for are not kept", async (opened) => {
    const { blobs, place } = opened;
    const bytes = bytesOf(70_000);
    const hash = await hashOf(bytes);
    const digest = await hashOf(bytesOf(70_000, 2));

    const wrong = await blobs.put(place, streamOf(bytes), { mediaType, digest });

    assertEqual(wrong, { outcome: "digest_mismatch", hash }, "the answer");
    assertEqual(await blobs.find(place, hash), undefined, "what is found");
    assertEqual(await blobs.total(place), 0, "the total");
    const right = await blobs.put(place, streamOf(bytes), { mediaType, digest: hash });
    assertOutcome(right, "stored", "the put with its own hash");
  }),
  blobCase("a stream that fails midway leaves nothing, and its error comes out", async (opened) => {
    const { blobs, place } = opened;
    const bytes = bytesOf(600_000);
    for (const after of [0, 1, 299_000, 599_999]) {
      const error = await blobs
        .put(place, failing(bytes, after), { mediaType })
        .catch((reason: unknown) => reason);
      assert(error instanceof Error && error.message === "cut off", `got ${String(error)}`);
    }
    assertEqual(await blobs.total(place), 0, "the total");
    for (const size of [0, 1, 299_000, 599_999]) {
      const part = await hashOf(bytes.slice(0, size));
      assertEqual(await blobs.find(place, part), undefined, `the first ${size} bytes`);
    }
    await keep(opened, bytes);
  }),
  blobCase("a caller may change its bytes once they are put", async (opened) => {
    const bytes = bytesOf(1_000);
    const before = bytes.slice();
    async function* reused(): AsyncGenerator<Uint8Array, void, undefined> {
      yield bytes;
      bytes.fill(0);
      yield bytes;
    }
    const { hash } = await keep(opened, reused());

    const expected = new Uint8Array(2_000);
    expected.set(before);
    assertEqual(await readAll(opened, hash), expected, "what is read");
  }),
  blobCase("what can't be a place, a limit or a digest is refused", async ({ blobs, place }) => {
    const bytes = bytesOf(10);
    const refused = [
      { mediaType: "x".repeat(256) },
      { mediaType: "half a pair \ud800" },
      { mediaType: "image/png\r\nset-cookie: a" },
      { mediaType: "image/\0" },
      { mediaType, limit: -1 },
      { mediaType, limit: 1.5 },
      { mediaType, digest: "sha256-abc" },
      { mediaType, digest: `sha256-${"A".repeat(64)}` },
    ];
    for (const options of refused) {
      await assertRejects(() => blobs.put(place, bytes, options), "invalid_event", "put");
    }
    const foreign = { ...place, uid: "../up" as BlobCase["place"]["uid"] }; // no uid: that is the case
    await assertRejects(() => blobs.put(foreign, bytes, { mediaType }), "invalid_id", "put");
    await assertRejects(() => blobs.find({ ...place, tenant: "" }, "x"), "invalid_id", "find");
    assertEqual(await blobs.total(place), 0, "the total");
  }),
];

/** Gives so many bytes, and then fails. */
async function* failing(
  bytes: Uint8Array,
  after: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* streamOf(bytes.slice(0, after), 50_000);
  throw new Error("cut off");
}
