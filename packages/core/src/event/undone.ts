/** The fields of a fact, or of an outline of one, that decide what a reset undoes. */
export interface Undoable {
  readonly n: number;
  readonly type: string;
  readonly to?: number | undefined;
  readonly approvalId?: string | undefined;
  readonly input?: { readonly kind?: unknown } | undefined;
}

/**
 * The facts that a reset has not undone: a claim with `to` undoes those above it, except those of
 * people. A stop is undone too, since it was for the run that is, and so is the answer to an undone
 * question.
 */
export function withoutUndone<F extends Undoable>(facts: readonly F[]): readonly F[] {
  let live: F[] = [];
  for (const fact of facts) {
    const to = fact.type === "session_claimed" ? fact.to : undefined;
    if (to !== undefined) {
      const asked = new Set(
        live.map((past) =>
          past.type === "approval_requested" && past.n <= to ? past.approvalId : undefined,
        ),
      );
      live = live.filter((past) => past.n <= to || staysAccepted(past, asked));
    }
    live.push(fact);
  }
  return live;
}

function staysAccepted(fact: Undoable, asked: ReadonlySet<string | undefined>): boolean {
  const { type, approvalId, input } = fact;
  if (type === "approval_resolved") return approvalId !== undefined && asked.has(approvalId);
  if (type === "input_accepted") return input?.kind !== "abort";
  return type === "queue_updated";
}
