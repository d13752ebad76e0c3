import type { Fact } from "@millrace/core";
import { emptyState, replay, withoutUndone } from "@millrace/core/reading";
import { foldTitle, noWork, rowOf, workAfter } from "@millrace/core/store-kit";
import type { StoreDetails } from "@millrace/core/store-kit";
import type { Bound } from "./connection.ts";
import { beginChain, encodeFacts } from "./fact-row.ts";
import type { FactRow } from "./fact-row.ts";
import { encodeClosedLanes, encodeMetadata, encodeName, encodeWork, optional } from "./row.ts";
import type { SessionRow } from "./row.ts";
import type { Statements } from "./statements.ts";

/** The row of a new session, and the rows of the facts with which it begins. Throws `invalid_event` for odd metadata. */
export function newSession(
  details: StoreDetails,
  facts: readonly Fact[] = [],
  key?: string,
): { readonly row: SessionRow; readonly rows: readonly FactRow[] } {
  const { uid, sessionId: id, createdAt } = details;
  const metadata = encodeMetadata(id, details.metadata);
  const begun = beginChain({ uid, sessionId: id, metadata });
  const rows = encodeFacts(facts, begun, key);
  const chain = rows.at(-1)?.hash ?? begun;
  const work = workAfter(noWork, withoutUndone(facts));
  const updatedAt = Math.max(createdAt, work.updatedAt);
  const copied = rowOf(replay(emptyState(uid, id), facts), [], { ...work, updatedAt });
  return {
    row: { ...copied, metadata, details, chain, version: 0, workKnown: true },
    rows,
  };
}

/** Inserts the row, unless there is a session of its name. */
export function insertSession(
  { statements, tenant }: { readonly statements: Statements; readonly tenant: string },
  row: SessionRow,
): Bound {
  const { uid, sessionId, metadata, incarnation, head, closed, closedLanes, chain } = row;
  const progress = [incarnation, head, closed, encodeClosedLanes(closedLanes), chain];
  const values = [uid, tenant, encodeName(sessionId), metadata, ...progress, ...encodeWork(row)];
  return { statement: statements.create, values: [...values, ...encodeDetails(row.details)] };
}

/** The columns of details that are written once, and the title: owner, title, parent, creation. */
function encodeDetails(details: StoreDetails): readonly unknown[] {
  const { owner, title, parent, createdAt } = details;
  return [
    optional(owner),
    optional(title),
    optional(title && foldTitle(title)),
    parent === undefined ? null : encodeName(parent.sessionId),
    optional(parent?.callId),
    parent?.uid ?? null,
    createdAt,
  ];
}
