import { expect, it } from "vitest";
import { measure, quantile } from "../testing/program.ts";

/** Microseconds of CPU for an event and a viewer, in turns; and bytes for an idle connection. */
interface Costs {
  readonly bytes: number;
  readonly memory: { readonly raw: number; readonly hub: number };
  readonly costs: Readonly<Record<"write" | "hub" | "together" | "socket", readonly number[]>>;
}

it("an event costs a viewer of a hub less than a bare res.write of its bytes", async () => {
  const { bytes, memory, costs } = await measure<Costs>("cost-run.ts");
  const { write, hub, together, socket } = costs;
  // What else the machine does only ever adds, so the quiet rounds of each are compared.
  const calm = (costs: readonly number[]): number => quantile(costs, 0.25);
  const ratio = (of: readonly number[]): number => calm(of) / calm(write);
  const idle = memory.hub / memory.raw;

  console.log(
    `count: delivery of ${bytes} bytes to 1,000 viewers: ${ratio(hub).toFixed(2)} times res.write`,
    `(${calm(hub).toFixed(1)} us to ${calm(write).toFixed(1)}),`,
    `a chunk to the bare socket ${ratio(socket).toFixed(2)} times,`,
    `16 pending ${ratio(together).toFixed(3)} times;`,
    `idle ${(memory.hub / 1024).toFixed(1)} KB to ${(memory.raw / 1024).toFixed(1)}, ${idle.toFixed(2)} times`,
  );
  expect(ratio(hub)).toBeLessThan(0.75);
  expect(ratio(together)).toBeLessThan(0.15);
  expect(idle).toBeLessThan(1.1);
}, 300_000);
