import { noUsage, runIdOf, inputId, sessionId, turnId } from "@millrace/core/writing";
import type { Usage } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { dueNotices, emptyWatch, watchAfter } from "./notices.ts";
import type { CostWatch } from "./notices.ts";

const minute = 60_000;
const runId = runIdOf(inputId("i1"));
const envelope = { v: 1, n: 1, sessionId: sessionId("s") } as const;

/** Requests with these tokens, read from the cache and minutes since the one before. */
function requests(
  rows: readonly (readonly [input: number, cached: number, minutes: number])[],
  breaksAt?: number,
): CostWatch {
  let time = 0;
  return rows.reduce((watch, [inputTokens, cachedTokens, minutes], at) => {
    time += minutes * minute;
    const usage: Usage = { ...noUsage, inputTokens, cachedTokens, cacheWriteTokens: 10 };
    const fact = { type: "usage_reported", usage, turnId: turnId("t"), time } as const;
    return watchAfter(watch, fact, breaksAt !== undefined && at >= breaksAt ? 1 : 0);
  }, emptyWatch);
}

const codes = (watch: CostWatch): readonly string[] =>
  dueNotices(watch, runId).map(({ code }) => code);

describe("requests that read little of the cache", () => {
  test.each<[string, Parameters<typeof requests>, readonly string[]]>([
    [
      "twice in a row are noticed",
      [
        [
          [9_000, 0, 0],
          [9_100, 10, 1],
          [9_200, 10, 1],
        ],
      ],
      ["cache_missed"],
    ],
    [
      "once are not",
      [
        [
          [9_000, 0, 0],
          [9_100, 10, 1],
          [9_200, 9_000, 1],
        ],
      ],
      [],
    ],
    [
      "are not if they are small",
      [
        [
          [900, 0, 0],
          [910, 10, 1],
          [920, 10, 1],
        ],
      ],
      [],
    ],
    [
      "are not if a fact says why",
      [
        [
          [9_000, 0, 0],
          [9_100, 10, 1],
          [9_200, 10, 1],
        ],
        2,
      ],
      [],
    ],
    [
      "and come late twice are noticed as late",
      [
        [
          [9_000, 0, 0],
          [9_100, 0, 6],
          [9_200, 0, 7],
        ],
      ],
      ["cache_expired"],
    ],
    [
      "and come a day later are not",
      [
        [
          [9_000, 0, 0],
          [9_100, 0, 1_440],
          [9_200, 0, 1_440],
        ],
      ],
      [],
    ],
  ])("%s", (_, given, expected) => {
    expect(codes(requests(...given))).toEqual(expected);
  });

  test("are not noticed where the vendor reports no cache", () => {
    const watch = {
      ...requests([
        [9_000, 0, 0],
        [9_100, 10, 1],
        [9_200, 10, 1],
      ]),
      caches: false,
    };

    expect(codes(watch)).toEqual([]);
  });

  test("are noticed once in a session", () => {
    const watch = requests([
      [9_000, 0, 0],
      [9_100, 10, 1],
      [9_200, 10, 1],
    ]);
    const [notice] = dueNotices(watch, runId);
    if (notice === undefined) throw new Error("nothing was noticed");

    expect(codes(watchAfter(watch, { ...notice, ...envelope, time: 0 }, 0))).toEqual([]);
  });
});

test("instructions that differ in three runs in a row are noticed", () => {
  const begin = { type: "run_started", runId, ...envelope, time: 0 } as const;
  const set = { type: "guidance_set", runId, turnId: turnId("t"), ...envelope, time: 0 } as const;
  const other = { ...set, guidance: { instructions: "Other." } };
  const after = (...facts: readonly (typeof begin | typeof other)[]): readonly string[] =>
    codes(facts.reduce((watch, fact) => watchAfter(watch, fact, 0), emptyWatch));

  expect(after(begin, other, begin, other)).toEqual([]);
  expect(after(begin, other, begin, begin, other, begin, other)).toEqual([]);
  expect(after(begin, other, begin, other, begin, other)).toEqual(["instructions_changed_often"]);
});
