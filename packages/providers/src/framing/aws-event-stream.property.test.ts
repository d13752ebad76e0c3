import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { Random } from "../../../../tests/kit/random.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import {
  awsEvent,
  awsException,
  awsRawMessage,
  joined,
} from "../testing/encode/aws-event-stream.ts";
import { rounds } from "../testing/encode/rounds.ts";
import { awsEventStream } from "./aws-event-stream.ts";
import type { Framed, VendorEvent } from "./framing.ts";

const forever = { timeout: 24 * 3_600_000 };

function read(chunks: Iterable<Uint8Array>): readonly Framed<VendorEvent>[] {
  const framer = awsEventStream().open();
  const framed: Framed<VendorEvent>[] = [];
  for (const chunk of chunks) framed.push(...framer.feed(chunk));
  return [...framed, ...framer.end()];
}

/** Messages of all sorts: short and long, of known types and of none, with headers of all types. */
function write(random: Random): readonly Uint8Array[] {
  return Array.from({ length: 1 + random.below(6) }, () => {
    const text = random.pick(["a", "日本", "😀", '"', "\\", " "]).repeat(random.below(80));
    const payload = JSON.stringify({ text, n: random.below(100) });
    const draw = random.below(6);
    if (draw === 0) return awsException("throttlingException", payload);
    if (draw === 1) return awsRawMessage(headersOf(random), payload);
    if (draw === 2) return awsEvent("metadata", payload.padEnd(random.below(5_000)));
    return awsEvent(random.pick(["contentBlockDelta", "messageStop"]), payload);
  });
}

/** A header of each type, in any order. */
function headersOf(random: Random): Uint8Array {
  const sizes = [0, 0, 1, 2, 4, 8, 0, 0, 8, 16];
  const bytes = sizes.flatMap((size, type) => {
    const length = type === 6 || type === 7 ? random.below(300) : undefined;
    const lead = length === undefined ? [] : [length >> 8, length & 0xff];
    const value = Array.from({ length: length ?? size }, () => 0x61 + random.below(26));
    return [[2, 0x68, 0x30 + type, type, ...lead, ...value]];
  });
  return Uint8Array.from(random.chance(0.5) ? bytes.flat() : bytes.toReversed().flat());
}

/** Chunks of one buffer that is reused, as a socket's may be. */
function* cut(bytes: Uint8Array, longest: number, random: Random): Generator<Uint8Array> {
  const buffer = new Uint8Array(longest);
  for (let at = 0; at < bytes.length;) {
    const size = Math.min(random.below(longest + 1), bytes.length - at);
    buffer.set(bytes.subarray(at, at + size));
    yield buffer.subarray(0, size);
    buffer.fill(0x7b);
    at += size;
  }
}

test("how the bytes are cut into chunks changes nothing", forever, async () => {
  const count = runs(2_000, 1_000_000);

  const failures = await rounds(count, function* (seed) {
    const random = new Random(seed);
    const bytes = joined(write(random));
    const whole = read([bytes]);
    const longest = random.pick([1, 3, 16, 100, 2_000]);
    if (!isDeepStrictEqual(read(cut(bytes, longest, random)), whole)) yield `seed ${seed}`;
  });

  expect(failures).toEqual([]);
  console.log(`count: AWS messages in any chunks are the same, ${count} streams, 0 failures`);
});

test(
  "a changed bit never changes an event: what was before it stays, and a fault follows",
  forever,
  async () => {
    const count = runs(10_000, 1_000_000);

    const failures = await rounds(count, function* (seed) {
      const random = new Random(-1 - seed);
      const messages = write(random);
      const bytes = joined(messages);
      const at = 1 + random.below(bytes.length - 1);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
      let start = 0;
      const before = messages.filter((message) => (start += message.length) <= at);
      const framed = read([bytes]);
      const kept = framed.slice(0, -1);
      const { kind } = framed.at(-1) ?? { kind: "none" };
      if (kind !== "fault" || !isDeepStrictEqual(kept, read(before))) {
        yield `seed ${seed}, byte ${at}: ${kind}`;
      }
    });

    expect(failures).toEqual([]);
    console.log(`count: a changed bit of AWS messages is found, ${count} streams, 0 failures`);
  },
);
