import { test } from "vitest";
import { runs } from "../kit/runs.ts";
import { expectNothingRefused, timeFor } from "./histories.ts";
import { vendorTargets } from "./vendors.ts";

const count = runs(150, 2_500, 125);

test.for(
  vendorTargets
    .filter(({ name }) => name === "anthropic")
    .flatMap((target) => (["error", "drop_block"] as const).map((net) => [net, target] as const)),
)(
  "Anthropic refuses nothing, whatever changes between its requests (%s)",
  { timeout: timeFor(count) },
  async ([net, target]) => await expectNothingRefused(target, net, count),
);
