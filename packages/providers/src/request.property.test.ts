import type { ModelRequest } from "@millrace/core/ports";
import { describe, expect, test } from "vitest";
import { brokenLaws, shrinkRequest } from "./testing/request-laws.ts";
import type { Target } from "./testing/request-laws.ts";
import { targets } from "./testing/targets.ts";
import type { NativeTarget } from "./testing/targets.ts";
import { firstSeed, runs } from "../../../tests/kit/runs.ts";
import { generateRequest } from "./testing/transcripts.ts";
import type { GeneratedRequest, Native } from "./testing/transcripts.ts";

/** One target per protocol: the transcript's own, if it has that protocol. */
function targetsOf(home: Native, seed: number): readonly NativeTarget[] {
  return [...Map.groupBy(targets, ({ protocol }) => protocol).values()].flatMap((models) => {
    const own = models.find((target) => target === home) ?? models[seed % models.length];
    return own === undefined ? [] : [own];
  });
}

/** A vendor's own settings are for its target alone, and those that vendors share for all. */
function requestFor(target: NativeTarget, request: GeneratedRequest): ModelRequest {
  const { home, shared, settings, ...rest } = request;
  return { ...rest, settings: home === target ? { ...settings, ...shared } : shared };
}

/** The fault without its place, so that one fault in two places counts once. */
function faultOf(law: string): string {
  return law
    .replaceAll(/\[\d+\]/g, "[]")
    .replace(/: [^:]*$/, (tail) => tail.replaceAll(/\d/g, "0"));
}

function report(target: Target, seed: number, request: ModelRequest, law: string): string {
  const fault = faultOf(law);
  const smallest = shrinkRequest(request, (smaller) =>
    brokenLaws(target, smaller).some((each) => faultOf(each) === fault),
  );
  return `${target.protocol}/${target.model}, seed ${seed}: ${law}\n${JSON.stringify(smallest)}`;
}

describe("requests", () => {
  const count = runs(30_000, 20_000_000, 150);

  test(
    "what is made of any transcript is a request that its vendor takes, with nothing lost or betrayed",
    { timeout: 600_000 * Math.max(1, count / 200_000) },
    () => {
      const first = firstSeed;
      const found = new Map<string, string>();
      for (let seed = first; seed < first + count; seed += 1) {
        const generated = generateRequest(seed, targets);
        for (const target of targetsOf(generated.home, seed)) {
          const request = requestFor(target, generated);
          const [law] = brokenLaws(target, request);
          if (law === undefined) continue;
          const fault = `${target.protocol} ${faultOf(law)}`;
          if (!found.has(fault)) found.set(fault, report(target, seed, request, law));
          if (found.size > 20) break;
        }
      }

      expect([...found.values()].join("\n\n")).toBe("");
      const laws = "a request is valid and keeps all words and results and betrays nothing";
      console.log(`count: ${laws}, ${count} transcripts x 5 dialects, 0 failures`);
    },
  );
});
