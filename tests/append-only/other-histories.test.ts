import { test } from "vitest";
import { runs } from "../kit/runs.ts";
import { expectNothingRefused, timeFor } from "./histories.ts";
import { vendorTargets } from "./vendors.ts";

const count = runs(60, 1_000, 50);

/** Only Claude has a net that leaves out what does not fit. */
const played = vendorTargets
  .filter(({ name }) => name !== "anthropic")
  .flatMap((target) => [
    [target.name, "error", target] as const,
    ...(target.name === "bedrockAnthropic" ? [[target.name, "drop_block", target] as const] : []),
  ]);

test.for(played)(
  "%s refuses nothing, whatever changes between its requests (%s)",
  { timeout: timeFor(count) },
  async ([, net, target]) => await expectNothingRefused(target, net, count),
);
