import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { goldenFile, sectionsWithoutCase } from "../../../../tests/kit/golden.ts";
import type { VendorEvent } from "../framing/framing.ts";
import type { Protocol } from "../protocol.ts";
import { decode, printDecoded } from "./decode.ts";
import { summaryOf } from "./expectation.ts";
import { bytesOf, fixturePath, framingOf, scenariosOf } from "./fixtures.ts";
import { offeredContext } from "./offers.ts";

/** One test for each scenario of a protocol, and one for each row that must have a scenario. */
export function testFixtures<State>(
  protocol: Protocol<VendorEvent, State>,
  rows: readonly string[],
): void {
  const scenarios = scenariosOf(protocol.id);
  const names = scenarios.map(({ name }) => name);
  const streams = fixturePath(protocol.id, "streams.txt");
  const deltas = fixturePath(protocol.id, "deltas.txt");
  describe(`fixtures of ${protocol.id}`, () => {
    const expectGolden = goldenFile(deltas, names);

    test.each(scenarios)("$name: $about", ({ name, offers, expect: expected }) => {
      const offered = offeredContext(protocol, offers);
      const bytes = bytesOf(protocol.id, name);
      const decoded = decode(protocol, framingOf(protocol.id), [bytes], offered);
      expect(decoded.draft.fault).toBeUndefined();
      expect(summaryOf(decoded, expected)).toEqual(expected);
      expectGolden(name, printDecoded(decoded));
    });

    test("every stream and every golden has a scenario, and the folder has no other file", () => {
      expect(sectionsWithoutCase(streams, names)).toEqual([]);
      expect(sectionsWithoutCase(deltas, names)).toEqual([]);
      expect(readdirSync(dirname(streams)).toSorted()).toEqual([
        "deltas.txt",
        "scenarios.json",
        "streams.txt",
      ]);
    });

    test.each(rows)("row %s has a scenario", (row) => {
      expect(scenarios.filter((scenario) => scenario.rows.includes(row))).not.toEqual([]);
    });
  });
}
