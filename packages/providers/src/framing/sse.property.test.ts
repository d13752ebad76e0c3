import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { Random } from "../../../../tests/kit/random.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import type { Framed, VendorEvent } from "./framing.ts";
import { sseFraming } from "./sse.ts";

const forever = { timeout: 24 * 3_600_000 };

/** Values that a comparison of whole events could get wrong. */
const values = [
  "a",
  " the",
  "\\n",
  '\\"',
  "\\\\",
  "\\u0041",
  "\\x",
  "\u6f22",
  "\u{1f600}",
  "\n",
  "\r",
  "\n\n",
  '"}\n\ndata: {"text":"b',
  "\\",
  "\t",
  "a".repeat(90),
  "\\t".repeat(40),
];

const documents = [
  '{"type":"delta","text":"@"}',
  '{"n":#,"choices":[{"index":#,"delta":{"content":"@"}}]}',
  '{"type":"delta","text":"@","other":"@"}',
  "[DONE]",
];

/** What stands around a document: the forms that vendors send, and others that the grammar takes. */
const frames = [
  "data: @\n\n",
  "event: delta\ndata: @\n\n",
  "event: other\ndata: @\n\n",
  "data:@\n\n",
  "data: @\r\n\r\n",
  "data: @\r\r",
  "data: @\n\r\n",
  "id: 7\ndata: @\n\n",
  "data: @\nid: 7\n\n",
  "event: a\nevent: delta\ndata: @\n\n",
  ": alive\n\n",
  ": alive\ndata: @\n\n",
  "\n\ndata: @\n\n",
  "unknown: 1\ndata: @\n\n",
  "retry: 5\n\n",
  "data: @\ndata: \n\n",
];

function write(random: Random): string {
  const [frame, document] = [random.pick(frames), random.pick(documents)];
  const steady = random.next();
  const pick = (list: readonly string[]): string =>
    random.chance(steady) ? (list[0] as string) : random.pick(list);
  const texts = Array.from({ length: 2 + random.below(12) }, () => {
    const filled = pick([document, ...documents])
      .replaceAll("@", () => pick(values))
      .replaceAll("#", () => String(random.below(12)));
    return pick([frame, ...frames]).replace("@", () => filled);
  });
  return (random.chance(0.2) ? "\uFEFF" : "") + texts.join("");
}

function frame(templates: boolean, chunks: Iterable<Uint8Array>): readonly Framed<VendorEvent>[] {
  const framer = sseFraming({ templates }).open();
  const framed: Framed<VendorEvent>[] = [];
  for (const chunk of chunks) framed.push(...framer.feed(chunk));
  return [...framed, ...framer.end()];
}

/**
 * Chunks of any length, or each a line or a few: a reader must not take a line for an event if an
 * unfinished one stands before it.
 */
function* cut(bytes: Uint8Array, random: Random): Generator<Uint8Array> {
  const byLines = random.chance(0.5);
  const longest = random.pick([1, 3, 40, 200, bytes.length]);
  for (let at = 0; at < bytes.length;) {
    let end = at + 1 + random.below(longest);
    if (byLines) {
      end = at;
      for (let lines = 1 + random.below(6); lines > 0; lines -= 1) {
        end = bytes.indexOf(0x0a, end) + 1 || bytes.length;
      }
    }
    yield bytes.subarray(at, end);
    at = end;
  }
}

test(
  "events are framed the same with templates and without, however they are written and cut",
  forever,
  () => {
    const streams = runs(4_000, 400_000);
    let events = 0;
    for (let seed = 0; seed < streams; seed += 1) {
      const random = new Random(seed);
      const text = write(random);
      const bytes = new TextEncoder().encode(text);
      const expected = frame(false, [bytes]);
      events += expected.length;
      const found = frame(true, cut(bytes, random));
      if (!isDeepStrictEqual(found, expected))
        expect(found, JSON.stringify(text)).toEqual(expected);
    }
    console.log(`count: framing with templates, ${events} events as without, 0 failures`);
  },
);
