import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { Cursor } from "../event/cursor.ts";
import { sessionUid } from "../ids.ts";
import { count, sessionUid as anyUid } from "../testing/arbitraries.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { decodeCursor, encodeCursor } from "./cursor-codec.ts";

vi.setConfig({ testTimeout: patience });

/** The longest header value that servers take. */
const maxCursorLength = 256;
const times = runs(10_000, 2_000_000, 5_000);

const cursor: fc.Arbitrary<Cursor> = fc
  .tuple(
    anyUid,
    count,
    fc.uniqueArray(fc.record({ lane: count, epoch: count, seq: count }), {
      maxLength: 24,
      selector: ({ lane }) => lane,
    }),
  )
  .map(([uid, head, lanes]) => ({
    uid,
    head,
    lanes: lanes.toSorted((left, right) => left.lane - right.lane),
  }));

describe("cursors", () => {
  it("a cursor comes back, without the lanes for which there was no room", () => {
    let whole = 0;

    fc.assert(
      fc.property(cursor, (given) => {
        const text = encodeCursor(given);
        const back = decodeCursor(text);
        if (text.length > maxCursorLength || !/^[A-Za-z0-9_.~-]+$/.test(text))
          throw new Error(text);
        if (back?.uid !== given.uid || back.head !== given.head) throw new Error("not its head");
        const kept = given.lanes.slice(0, back.lanes.length);
        if (JSON.stringify(back.lanes) !== JSON.stringify(kept)) throw new Error("not its lanes");
        if (encodeCursor(back) !== text) throw new Error("another text for what came back");
        if (back.lanes.length === given.lanes.length) whole += 1;
        else if (text.length + laneLength(given, back.lanes.length) <= maxCursorLength)
          throw new Error("left out a lane for which there was room");
      }),
      { numRuns: times },
    );

    expect(whole).toBeGreaterThan(times / 4);
    expect(whole).toBeLessThan(times);
    console.log(`count: cursors come back, ${times} cursors, 0 failures`);
  });

  it("any text is a cursor in its one spelling, or nothing", () => {
    const letter = fc.constantFrom(..."1.a0~zZ-_.~.~ \n".split(""));
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.string({ unit: letter, maxLength: 20 }),
      fc.string({ unit: letter, maxLength: 20 }).map((rest) => `1.uid.${rest}`),
      fc
        .tuple(cursor.map(encodeCursor), fc.nat(40), letter)
        .map(([whole, at, other]) => whole.slice(0, at) + other + whole.slice(at + 1)),
    );
    let decoded = 0;

    fc.assert(
      fc.property(text, (given) => {
        const back = decodeCursor(given);
        if (back === undefined) return;
        decoded += 1;
        if (encodeCursor(back) !== given) throw new Error("a second spelling");
      }),
      { numRuns: times },
    );

    expect(decoded).toBeGreaterThan(times / 40);
    console.log(`count: no text breaks the cursor decoder, ${times} texts, 0 failures`);
  });

  it("the text is what it has always been, since it is stored by clients", () => {
    const given: Cursor = {
      uid: sessionUid("u-1_Z"),
      head: 46_655,
      lanes: [
        { lane: 0, epoch: 2 ** 30 + 2 ** 12, seq: 35 },
        { lane: 36, epoch: 1, seq: 0 },
      ],
    };

    expect(encodeCursor(given)).toBe("1.u-1_Z.zzz.0~hra3nk~z.10~1~0");
    expect(decodeCursor("1.u-1_Z.zzz.0~hra3nk~z.10~1~0")).toStrictEqual(given);
  });

  it.each([
    ["nothing", ""],
    ["another version", "2.u.1"],
    ["no head", "1.u"],
    ["no uid", "1..1"],
    ["a uid of other letters", "1.ü.1"],
    ["a long uid", `1.${"u".repeat(65)}.1`],
    ["a leading zero", "1.u.01"],
    ["upper case", "1.u.A"],
    ["a sign", "1.u.-1"],
    ["a space", "1.u. 1"],
    ["a number beyond 2^53 - 1", "1.u.2gosa7pa2gw"],
    ["an empty lane", "1.u.1."],
    ["half a lane", "1.u.1.0~1"],
    ["a lane and a half", "1.u.1.0~1~2~3"],
    ["a lane twice", "1.u.1.0~1~2.0~1~2"],
    ["lanes out of order", "1.u.1.1~1~2.0~1~2"],
    ["a line end", "1.u.1\n"],
    [
      "too long",
      `1.u.1${Array.from({ length: 60 }, (_, lane) => `.${lane.toString(36)}~1~1`).join("")}`,
    ],
    ["a megabyte", "1.u.1".padEnd(1024 * 1024, "0")],
  ])("%s is no cursor", (_, text) => {
    expect(decodeCursor(text)).toBeUndefined();
  });

  it("the longest uid and head leave room for lanes", () => {
    const lanes = Array.from({ length: 40 }, (_, lane) => ({ lane, epoch: 2 ** 52, seq: 2 ** 40 }));
    const given: Cursor = {
      uid: sessionUid("u".repeat(64)),
      head: Number.MAX_SAFE_INTEGER,
      lanes,
    };

    const back = decodeCursor(encodeCursor(given));

    expect(back?.lanes.length).toBeGreaterThan(5);
    expect(back?.lanes).toStrictEqual(lanes.slice(0, back?.lanes.length));
  });
});

function laneLength({ lanes }: Cursor, at: number): number {
  const { lane, epoch, seq } = lanes[at] ?? { lane: 0, epoch: 0, seq: 0 };
  return `.${lane.toString(36)}~${epoch.toString(36)}~${seq.toString(36)}`.length;
}
