import { expect, it } from "vitest";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";
import { measure, quantile } from "../testing/program.ts";

/** Microseconds of CPU for an event and a viewer, in turns; and bytes for an idle connection. */
interface Costs {
  readonly bytes: number;
  readonly memory: { readonly raw: number; readonly hub: number };
  readonly costs: Readonly<Record<"write" | "hub" | "together" | "socket", readonly number[]>>;
}

const limits = { hub: 0.75, together: 0.15, idle: 1.1 };

/** Other load only ever adds, so the quiet rounds of each are compared. */
function figures({ memory, costs }: Costs) {
  const quiet = (way: keyof Costs["costs"]): number => quantile(costs[way], 0.25);
  const ratio = (way: keyof Costs["costs"]): number => quiet(way) / quiet("write");
  return { quiet, ratio, idle: memory.hub / memory.raw };
}

function within(costs: Costs): boolean {
  const { ratio, idle } = figures(costs);
  return ratio("hub") < limits.hub && ratio("together") < limits.together && idle < limits.idle;
}

it("an event costs a viewer of a hub less than a bare res.write of its bytes", async () => {
  const costs = await retryWhenNoisy(() => measure<Costs>("cost-run.ts"), within);
  const { bytes, memory } = costs;
  const { quiet, ratio, idle } = figures(costs);

  console.log(
    `count: delivery of ${bytes} bytes to 1,000 viewers: ${ratio("hub").toFixed(2)} times res.write`,
    `(${quiet("hub").toFixed(1)} us to ${quiet("write").toFixed(1)}),`,
    `a chunk to the bare socket ${ratio("socket").toFixed(2)} times,`,
    `16 pending ${ratio("together").toFixed(3)} times;`,
    `idle ${(memory.hub / 1024).toFixed(1)} KB to ${(memory.raw / 1024).toFixed(1)}, ${idle.toFixed(2)} times`,
  );
  expect(ratio("hub")).toBeLessThan(limits.hub);
  expect(ratio("together")).toBeLessThan(limits.together);
  expect(idle).toBeLessThan(limits.idle);
}, 600_000);
