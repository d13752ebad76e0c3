import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { text } from "../testing/arbitraries.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { createSseDecoder, encodeSse, encodeSseComment } from "./sse.ts";
import type { SseEvent, SseItem } from "./sse.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(100_000, 50_000_000, 5_000);

/** Data that tries to be more than data. */
const hostileData = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom("\n", "\r", "\r\n", "\n\n", "\r\r", "\uFEFF", ":") },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          "data: x",
          "event: forged",
          "id: 9",
          "retry: 1",
          ": ",
          "data",
          " ",
        ),
      },
      { weight: 2, arbitrary: text },
    ),
    { maxLength: 6 },
  )
  .map((pieces) => pieces.join(""));
const oneLine = fc.oneof(text, hostileData).map((line) => line.replaceAll(/[\r\n\0]/g, ""));
const event: fc.Arbitrary<SseEvent> = fc.record(
  {
    data: hostileData,
    event: oneLine.filter((type) => type !== "message"),
    id: oneLine,
    retry: fc.nat(40_000),
  },
  { requiredKeys: ["data"] },
);
const cuts = fc.array(fc.nat(200), { maxLength: 6 });

function cutAt(whole: string, places: readonly number[]): readonly string[] {
  const ends = [...places.map((place) => place % (whole.length + 1)), whole.length];
  let start = 0;
  return ends
    .toSorted((left, right) => left - right)
    .map((end) => {
      const piece = whole.slice(start, end);
      start = end;
      return piece;
    });
}

function decode(chunks: readonly string[], limit?: number): readonly SseItem[] {
  const decoder = createSseDecoder({ limit });
  return chunks.flatMap((chunk) => decoder.feed(chunk));
}

/** What a reader must see of these events, from the contract alone. */
function expected(events: readonly SseEvent[]): readonly SseItem[] {
  let id = "";
  return events.flatMap((sent): readonly SseItem[] => {
    id = sent.id ?? id;
    const data = sent.data.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
    const type = sent.event === undefined || sent.event === "" ? "message" : sent.event;
    const retry: readonly SseItem[] =
      sent.retry === undefined ? [] : [{ kind: "retry", ms: Math.min(sent.retry, 30_000) }];
    return [...retry, { kind: "event", event: type, data, id }];
  });
}

it("events come out as they went in, wherever the text is cut, and no data forges another", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 4 }), cuts, fc.boolean(), (events, places, alive) => {
      const comment = alive ? encodeSseComment("alive") : "";
      const whole = events.map((sent) => comment + encodeSse(sent)).join("");
      const items = decode(cutAt(whole, places));
      if (JSON.stringify(items) !== JSON.stringify(expected(events)))
        throw new Error(JSON.stringify(items));
    }),
    { numRuns: times },
  );
  console.log(`count: P30 (SSE frames), ${times} streams, 0 failures`);
});

it("any text gives the same whole and cut, and with any limit", () => {
  const raw = fc
    .array(fc.oneof(hostileData, fc.constantFrom("\n", "data: ", "id: ", "retry: 7", "\0")), {
      maxLength: 5,
    })
    .map((pieces) => pieces.join(""));
  const limit = fc.constantFrom(0, 3, 8, 20, undefined);
  const seen = { event: 0, retry: 0, overflow: 0 };

  fc.assert(
    fc.property(raw, cuts, limit, (whole, places, most) => {
      const items = decode([whole], most);
      const pieces = decode(cutAt(whole, places), most);
      const letters = decode(whole.split(""), most);
      for (const item of items) seen[item.kind] += 1;
      if (JSON.stringify(pieces) !== JSON.stringify(items)) throw new Error("cut");
      if (JSON.stringify(letters) !== JSON.stringify(items)) throw new Error("letter by letter");
    }),
    { numRuns: times / 2 },
  );

  expect(Math.min(seen.event, seen.retry, seen.overflow)).toBeGreaterThan(times / 400);
  console.log(`count: SSE cuts do not matter, ${times / 2} texts, 0 failures`);
});

it("an id or type with a line end or NUL never becomes a frame", () => {
  const broken = fc
    .tuple(oneLine, fc.constantFrom("\n", "\r", "\0", "\r\n"), oneLine)
    .map((pieces) => pieces.join(""));

  fc.assert(
    fc.property(broken, hostileData, (line, data) => {
      expect(() => encodeSse({ data, id: line })).toThrow("one line");
      expect(() => encodeSse({ data, event: line })).toThrow("one line");
      expect(() => encodeSseComment(line)).toThrow("one line");
    }),
    { numRuns: times / 50 },
  );
});
