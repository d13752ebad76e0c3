import fc from "fast-check";
import { expect, it, vi } from "vitest";
import type { Batch } from "../event/batch.ts";
import type { LiveEvent } from "../event/event.ts";
import { partId } from "../ids.ts";
import { text } from "../testing/arbitraries.ts";
import { batch } from "../testing/event-arbitraries.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { createBatchEncoder } from "./batch-encoder.ts";
import { encodeMessage } from "./message-codec.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(5_000, 2_000_000);

/** Names that look like what the encoder looks for, among others. */
const name = fc.oneof(
  text,
  fc.constantFrom(',"first":', '"events":[', '""}}]}', "a", '"', "\\", "\u2028", "😀"),
);
const events = fc.array(
  fc
    .record({ part: fc.constantFrom("p", '"}}', ',"first":'), chunk: name })
    .map(({ part, chunk }): LiveEvent => ({
      type: "content_delta",
      delta: { op: "append_text", partId: partId(part), chunk },
    })),
  { minLength: 1, maxLength: 3 },
);
/** A batch as it comes, or with text alone, which is what is written by the short way. */
const anyBatch: fc.Arbitrary<Batch> = fc.oneof(
  batch,
  fc
    .tuple(batch, events, name.filter(isName))
    .map(([one, said, item]) => ({ ...one, itemId: item as Batch["itemId"], events: said })),
);
function isName(value: string): boolean {
  return value !== "";
}

/** Batches of which each differs from the one before it in a few fields, as those of a few lanes do. */
const series = fc
  .tuple(anyBatch, fc.array(fc.tuple(anyBatch, fc.nat(4_095)), { maxLength: 6 }))
  .map(([first, others]) => {
    const all = [first];
    for (const [other, mask] of others) {
      const entries: [string, unknown][] = Object.entries(all.at(-1) ?? first);
      const mixed = entries.map(([key, value], at) => [
        key,
        (mask >> at) % 2 === 0 ? value : other[key as keyof Batch],
      ]);
      all.push(Object.fromEntries(mixed) as Batch); // each field is one of a batch
    }
    return all;
  });

it("a batch encoder writes every batch as encodeMessage does, whatever it wrote before", () => {
  let batches = 0;
  fc.assert(
    fc.property(series, (all) => {
      const encode = createBatchEncoder();
      for (const one of all) expect(encode(one)).toBe(encodeMessage(one));
      batches += all.length;
    }),
    { numRuns: times },
  );
  console.log(`count: batch encoder, ${batches} batches in ${times} series, 0 differences`);
});

it("fields that a batch has beyond those of the protocol are not written", () => {
  const [first] = fc.sample(fc.tuple(batch, events), 1);
  const [one, said] = first as [Batch, LiveEvent[]];
  const more = {
    secret: 1,
    ...one,
    events: said.map((event) => ({ secret: 1, ...event })),
  } as Batch;

  expect(createBatchEncoder()(more)).toBe(encodeMessage(more));
  expect(createBatchEncoder()(more)).not.toContain("secret");
});
