// A tool that spends money. Small refunds run by themselves; above the limit a person is asked.
import { setTimeout as sleep } from "node:timers/promises";
import { defineTool } from "@millrace/agent";
import { z } from "zod";

/** In cents. */
const limit = 5_000;

export const refund = defineTool({
  name: "refund",
  description: "Gives a customer's money back",
  input: z.object({ order: z.string(), cents: z.int().positive(), reason: z.string() }),
  effect: "effectful", // runs at most once; an outcome that was lost is shown as unknown, never repeated
  approve: ({ cents }) => (cents > limit ? "ask" : "allow"),
  run: async ({ order, cents }, { progress, signal }) => {
    progress({ message: `paying back ${(cents / 100).toFixed(2)} €` });
    // Call your payment service here, with `effectKey`, which a tool is given too, as its idempotency key.
    await sleep(1_000, undefined, { signal });
    return { reference: `R-${order}`, order, cents };
  },
});
