import { defineTool } from "@millrace/agent";
import { z } from "zod";
import { payments } from "./payments.ts";

// #region refund
export const refund = defineTool({
  name: "refund",
  description: "Gives a customer's money back",
  input: z.object({ order: z.string(), cents: z.number().int() }),
  effect: "effectful", // the default: runs at most once; a lost outcome is shown as unknown, never repeated
  approve: ({ cents }) => (cents > 5_000 ? "ask" : "allow"),
  run: ({ order, cents }, { effectKey, session }) =>
    payments.of(session.tenant).refund(order, cents, { idempotencyKey: effectKey }),
});
// #endregion
