// Stands for a payment service: it gives money back once for each idempotency key.
const refunds = new Map<string, { readonly id: string; readonly cents: number }>();

export const payments = {
  of: (tenant: string) => ({
    async refund(order: string, cents: number, { idempotencyKey }: { idempotencyKey: string }) {
      const done = refunds.get(idempotencyKey) ?? { id: `${tenant}-${order}`, cents };
      refunds.set(idempotencyKey, done);
      return done;
    },
  }),
  /** The amounts paid back, for tests. */
  paid: (): readonly number[] => [...refunds.values()].map(({ cents }) => cents),
};
