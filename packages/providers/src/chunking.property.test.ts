import { describe, expect, test } from "vitest";
import { same } from "./testing/encode/compare.ts";
import { dialects } from "./testing/encode/dialects.ts";
import type { Dialect } from "./testing/encode/dialects.ts";
import type { Decoded } from "./testing/decode.ts";
import { Random } from "../../../tests/kit/random.ts";
import { rounds } from "./testing/encode/rounds.ts";
import { recordedStreams } from "./testing/fixtures.ts";
import type { Recorded } from "./testing/fixtures.ts";
import { replyOf } from "./testing/replies.ts";
import { isChange, runs } from "../../../tests/kit/runs.ts";

const forever = { timeout: 24 * 3_600_000 };

/** Compares everything but the draft, which is the fold of the deltas. */
function agree(left: Decoded, right: Decoded): boolean {
  return (
    same(left.deltas, right.deltas) &&
    same(left.end, right.end) &&
    left.unknown === right.unknown &&
    left.bad === right.bad &&
    left.alive === right.alive
  );
}

/** The bytes in chunks of one buffer that is reused, as a socket's may be. */
function* cut(bytes: Uint8Array, sizes: () => number): Generator<Uint8Array> {
  const buffer = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length;) {
    const size = Math.min(sizes(), bytes.length - at);
    buffer.set(bytes.subarray(at, at + size));
    yield buffer.subarray(0, size);
    buffer.fill(0x7b, 0, size);
    at += size;
  }
}

/**
 * Draws the lengths of the chunks: sometimes a few bytes, else many, with empty ones between them.
 */
function drawSizes(length: number, random: Random): () => number {
  const longest = random.chance(0.03)
    ? random.pick([1, 2, 7])
    : random.pick([40, 200, 1_000, length]);
  const empty = random.chance(0.2) ? 0.2 : 0;
  return () => (empty > 0 && random.chance(empty) ? 0 : 1 + random.below(longest));
}

/** True where a cut is most likely to break a reader: beside a line end, or inside a character. */
function isDelicate(bytes: Uint8Array, at: number): boolean {
  const [before = 0, after = 0] = [bytes[at - 1], bytes[at]];
  return [before, after].some((byte) => byte === 0x0a || byte === 0x0d || byte >= 0x80);
}

/**
 * Cuts at every byte: each 64th in one decoding, so that 64 decodings cover all of them. The
 * delicate ones also in two chunks, and in a campaign all of them. With a change a part of these.
 */
function* everyCut(dialect: Dialect, { name, bytes, offers }: Recorded): Generator<string, void> {
  const options = dialect.offered(offers);
  const read = (chunks: Iterable<Uint8Array>): Decoded => dialect.read(chunks, options);
  const whole = read([bytes]);
  const all = runs(0, 1) === 1;
  for (let at = 1; at < bytes.length; at += 1) {
    if (!all && !(isDelicate(bytes, at) && at % delicateStep === 0)) continue;
    if (!agree(whole, read([bytes.subarray(0, at), bytes.subarray(at)]))) yield `${name} at ${at}`;
  }
  for (let first = 1 + (bytes.length % step); first <= stride; first += step) {
    let next = first;
    const sizes = (): number => {
      const size = next;
      next = stride;
      return size;
    };
    if (!agree(whole, read(cut(bytes, sizes)))) yield `${name} at each ${stride}th from ${first}`;
  }
  if (!agree(whole, read(cut(bytes, () => 1)))) yield `${name} byte by byte`;
}

const stride = 64;
const step = isChange ? 16 : 1;
const delicateStep = isChange ? 5 : 1;

describe("how bytes are cut into chunks changes nothing", () => {
  test.each(dialects)(
    "in the fixtures of $name, wherever they are cut",
    forever,
    async (dialect) => {
      const recorded = recordedStreams(dialect.name);
      let cuts = 0;

      const failures = await rounds(recorded.length, function* (at) {
        const stream = recorded[at] as Recorded;
        cuts += stream.bytes.length - 1;
        yield* everyCut(dialect, stream);
      });

      expect(failures).toEqual([]);
      expect(cuts).toBeGreaterThan(1_000);
      console.log(
        `count: cuts of fixtures of ${dialect.name} change nothing, ${cuts} cuts, 0 failures`,
      );
    },
  );

  test("in generated streams, at any bytes", forever, async () => {
    const ways = 5;
    const count = Math.ceil(runs(100_000, 30_000_000) / ways);

    const failures = await rounds(count, function* (seed) {
      const random = new Random(-1 - seed);
      const { name, encode, read } = random.pick(dialects);
      const { bytes } = encode(replyOf(-1 - seed), random);
      const whole = read([bytes]);
      for (let way = 0; way < ways; way += 1) {
        const sizes = drawSizes(bytes.length, random);
        if (!agree(whole, read(cut(bytes, sizes)))) yield `seed ${seed}, ${name}, way ${way}`;
      }
    });

    expect(failures).toEqual([]);
    console.log(
      `count: chunks of generated streams change nothing, ${count * ways} ways, 0 failures`,
    );
  });
});
