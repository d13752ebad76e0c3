import type { Part } from "@millrace/core";
import { describe, expect, test } from "vitest";
import type { VendorEvent } from "../framing/framing.ts";
import { sseFraming } from "../framing/sse.ts";
import type { Protocol } from "../protocol.ts";
import { decode, printDecoded } from "./decode.ts";
import type { Decoded } from "./decode.ts";
import { bytesOf, goldenPath, scenariosOf } from "./fixtures.ts";
import type { Expectation } from "./fixtures.ts";

/** One test for each scenario of a protocol, and one for each row that must have a scenario. */
export function testFixtures<State>(
  protocol: Protocol<VendorEvent, State>,
  rows: readonly string[],
): void {
  const scenarios = scenariosOf(protocol.id);
  describe(`fixtures of ${protocol.id}`, () => {
    test.each(scenarios)("$name: $about", async ({ name, expect: expected }) => {
      const decoded = decode(protocol, sseFraming(), [bytesOf(protocol.id, name)]);
      expect(decoded.draft.fault).toBeUndefined();
      expect(summary(decoded, expected)).toEqual(expected);
      await expect(printDecoded(decoded)).toMatchFileSnapshot(goldenPath(protocol.id, name));
    });

    test.each(rows)("row %s has a scenario", (row) => {
      expect(scenarios.filter((scenario) => scenario.rows.includes(row))).not.toEqual([]);
    });
  });
}

/** The result in the form of the expectation, for the fields that it names. */
function summary({ draft, end }: Decoded, expected: Expectation): Expectation {
  const parts = draft.parts.flatMap((part): readonly Part[] =>
    part.state === "committed" ? [part.part] : [],
  );
  const all: Required<Expectation> = {
    stop: end.stop,
    code: end.cause?.code ?? "",
    text: parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("|"),
    reasoning: parts.flatMap((part) => (part.kind === "reasoning" ? [part.text] : [])).join("|"),
    calls: parts.flatMap((part) =>
      part.kind !== "tool_call"
        ? []
        : [
            part.fault === undefined
              ? `${part.tool}(${part.raw})`
              : `${part.tool}!${part.fault.code}`,
          ],
    ),
    usage: { ...end.usage },
  };
  const named = Object.keys(expected) as (keyof Expectation)[];
  return Object.fromEntries(named.map((name) => [name, all[name]])) as unknown as Expectation;
}
