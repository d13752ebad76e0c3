import fc from "fast-check";
import { expect, test, vi } from "vitest";

import { runs } from "../../../../tests/kit/runs.ts";
import { limitBody } from "./limit-body.ts";
import { LineBuffer } from "./line-buffer.ts";

// Thousands of cases, on a machine that may do other things as well.
vi.setConfig({ testTimeout: 120_000 });

/** Cuts bytes into pieces of the given lengths, and the rest. */
function cut(bytes: Buffer, lengths: readonly number[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...pieces, bytes.subarray(at)];
}

test("lines are the same however their bytes are cut", () => {
  const count = runs(3_000, 300_000);
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: "binary" }).map((line) => line.toWellFormed().replaceAll(/[\r\n]/g, "")),
      ),
      fc.array(fc.nat(7)),
      fc.constantFrom("\n", "\r\n"),
      (lines, lengths, end) => {
        const bytes = Buffer.from(lines.map((line) => line + end).join(""));
        const buffer = new LineBuffer(10_000);

        const found = cut(bytes, lengths).flatMap((piece) => [...buffer.push(piece)]);

        expect(found).toEqual(lines);
      },
    ),
    { numRuns: count },
  );
  console.log(`count: ${count} texts in pieces`);
});

test("a line at its limit is taken, and one byte more ends everything", () => {
  const buffer = new LineBuffer(4);

  expect([...buffer.push(Buffer.from("abcd\nab"))]).toEqual(["abcd"]);
  expect(buffer.isFull).toBe(false);
  expect([...buffer.push(Buffer.from("cde"))]).toEqual([]);
  expect(buffer.isFull).toBe(true);
  expect([...buffer.push(Buffer.from("\nab\n"))]).toEqual([]);
});

async function readAll(body: string, type: string, limit: number): Promise<string> {
  let ends = 0;
  const response = new Response(body, { headers: { "content-type": type } });
  const limited = limitBody(response, limit, () => {
    ends += 1;
  });
  const text = await limited.text().catch((error: unknown) => `failed: ${String(error)}`);
  expect(ends).toBe(1);
  return text;
}

test("an answer at its limit is read, and one byte more fails", async () => {
  expect(await readAll("12345", "application/json", 5)).toBe("12345");
  expect(await readAll("123456", "application/json", 5)).toContain("more than 5 bytes");
});

test("of events each may be that long, whichever line ends they have", async () => {
  const events = "data: 1\n\ndata: 2\r\n\r\n".repeat(100);

  expect(await readAll(events, "text/event-stream; charset=utf-8", 12)).toBe(events);
  expect(await readAll(`${events}data: 123456`, "text/event-stream", 11)).toContain("more than 11");
  expect(await readAll("data: 1\ndata: 2\ndata: 3\n\n", "text/event-stream", 16)).toContain(
    "more than 16",
  );
});

test("status, headers and address survive, and what has no body is left alone", () => {
  const response = Response.json({}, { status: 418, headers: { "x-a": "b" } });
  const limited = limitBody(response, 5);

  expect([limited.status, limited.headers.get("x-a"), limited.url]).toEqual([418, "b", ""]);
  const empty = new Response(null, { status: 204 });
  expect(limitBody(empty, 5)).toBe(empty);
});
