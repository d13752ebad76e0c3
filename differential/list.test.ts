import { describe, expect, it } from "vitest";
import { differencesOf } from "./compare.ts";
import { faultsOf, renewed } from "./list.ts";
import type { Reason, Row } from "./list.ts";
import { failedReading } from "./reading.ts";
import type { Reading } from "./reading.ts";

const whole: Reading = {
  failed: false,
  text: "Hi",
  reasoning: "",
  calls: [],
  stop: "end",
  usage: "unknown",
};
const place = { stream: "openai-chat/text", contender: "openai" };
const found = differencesOf(place, whole, { ...whole, text: "Hi there" });
const reasons: Record<string, Reason> = {
  lost: { who: "ours", why: "w", evidence: "e" },
  defect: { who: "theirs", why: "w", evidence: "e" },
};

function listed(reason: string): readonly Row[] {
  return found.map((difference) => ({ ...difference, reason }));
}

function faults(stays: readonly Row[], defects: readonly Row[] = []): readonly string[] {
  const used = new Set([...stays, ...defects].map(({ reason }) => reason));
  const known = Object.entries(reasons).filter(([name]) => used.has(name));
  const rows = { "differences.jsonl": stays, "defects.jsonl": defects };
  return faultsOf(found, rows, Object.fromEntries(known));
}

describe("the list of differences", () => {
  it("passes if it holds exactly what was found", () => {
    expect(faults(listed("lost"))).toEqual([]);
    expect(faults([], listed("defect"))).toEqual([]);
  });

  it("fails for a difference that is not listed", () => {
    expect(faults([])).toEqual([expect.stringMatching(/^not listed: .*Hi there/)]);
  });

  it("fails for a row that no longer occurs", () => {
    const gone = listed("lost").map((row) => ({ ...row, field: "stop" as const }));
    expect(faults([...listed("lost"), ...gone])).toEqual([
      expect.stringMatching(/^listed, no longer occurs: /),
    ]);
  });

  it("fails if a value on either side changes", () => {
    for (const side of ["ours", "theirs"]) {
      const other = listed("lost").map((row) => ({ ...row, [side]: '"Bye"' }));
      expect(faults(other)).toHaveLength(2);
    }
  });

  it("fails for a row without a known reason, and for one in the wrong file", () => {
    expect(faults(listed("unjudged"))).toEqual([expect.stringMatching(/^has no known reason: /)]);
    expect(faults(listed("defect"))).toEqual([expect.stringMatching(/^is in the other list/)]);
    expect(faults([], listed("lost"))).toEqual([expect.stringMatching(/^is in the other list/)]);
  });

  it("fails for a place that is listed twice, and for a reason that explains nothing", () => {
    const rows = {
      "differences.jsonl": [...listed("lost"), ...listed("lost")],
      "defects.jsonl": [],
    };
    expect(faultsOf(found, rows, reasons)).toEqual([
      "listed twice: openai-chat/text openai text",
      "reason without a difference: defect",
    ]);
  });

  it("is written anew with the reasons that it had, and a new row has none", () => {
    const rows = { "differences.jsonl": [], "defects.jsonl": listed("defect") };
    expect(renewed(found, rows)["defects.jsonl"]).toEqual(listed("defect"));
    const none = { "differences.jsonl": [], "defects.jsonl": [] };
    expect(renewed(found, none)["differences.jsonl"]).toEqual(listed("unjudged"));
  });
});

describe("two readings", () => {
  it("differ by each field that is not the same", () => {
    const other: Reading = { ...whole, stop: "length", calls: ["f({})"] };
    expect(differencesOf(place, whole, other).map(({ field }) => field)).toEqual(["calls", "stop"]);
  });

  it("differ by the failure alone if one of them failed", () => {
    expect(differencesOf(place, whole, failedReading).map(({ field }) => field)).toEqual([
      "failed",
    ]);
    expect(differencesOf(place, failedReading, failedReading)).toEqual([]);
  });

  it("of long values differ by a hash of the whole", () => {
    const long = "a".repeat(500);
    expect(
      differencesOf(place, { ...whole, text: long }, { ...whole, text: `${long}b` }),
    ).toHaveLength(1);
  });
});
