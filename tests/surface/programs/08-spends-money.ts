// A tool that spends money.
import { defineTool } from "@millrace/agent";
import { z } from "zod";
import { agent } from "./01-one-file.ts";

interface Payments {
  of(tenant: string): {
    refund(
      order: string,
      cents: number,
      options: { idempotencyKey: string },
    ): Promise<{ id: string }>;
  };
}
declare const payments: Payments;
declare function confirm(question: { readonly tool: string }): Promise<"allow" | "deny">;

export const refund = defineTool({
  name: "refund",
  description: "Gives a customer's money back",
  input: z.object({ order: z.string(), cents: z.number().int() }),
  effect: "effectful", // the default: runs at most once; a lost outcome is shown as unknown, never repeated
  approve: ({ cents }) => (cents > 5_000 ? "ask" : "allow"),
  run: ({ order, cents }, { effectKey, session }) =>
    payments.of(session.tenant).refund(order, cents, { idempotencyKey: effectKey }),
});

await agent.run("Refund order A1", { ask: (question) => confirm(question) }).result;
