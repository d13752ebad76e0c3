import { MillraceError } from "@millrace/core";
import { itemsOf, noWork, parentOf, refuseOrphan, rowOf, workAfter } from "@millrace/core/ports";
import { emptyState, replay, withoutUndone } from "@millrace/core/reading";
import { checkJson } from "@millrace/core/wire";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { Fact, SessionId, SessionUid } from "@millrace/core";
import type { CreateOptions, SessionRecord, SessionStore } from "@millrace/core/ports";
import { SessionLedger } from "@millrace/core/memory";
import { checkBodies } from "../fact-text.ts";
import type { Bound, Connection, Transaction } from "./connection.ts";
import { beginChain, encodeFacts } from "./fact-row.ts";
import { readFacts } from "./lookup.ts";
import { encodeClosedLanes, encodeName, encodeWork, recordOf } from "./row.ts";
import type { SessionRow } from "./row.ts";
import type { Statements } from "./statements.ts";
import { factColumns, itemColumns, onlyRow } from "./writing.ts";

/** What creating sessions needs. */
export interface CopyOptions {
  readonly connection: Connection;
  readonly statements: Statements;
  readonly tenant: string;
  readonly makeUid: () => string;
}

/** Facts in one statement. Bounded, so that no statement grows with the session. */
const factsPerStatement = 256;

/** Creates a session that begins with these facts. Throws `session_exists`. */
export async function createSession(
  options: CopyOptions,
  { sessionId: id, metadata }: { readonly sessionId: SessionId; readonly metadata: string },
  facts: readonly Fact[] = [],
): Promise<SessionRecord> {
  const { connection, makeUid } = options;
  const uid = sessionUid(makeUid());
  const rows = encodeFacts(facts, beginChain({ uid, sessionId: id, metadata }));
  const chain = rows.at(-1)?.hash ?? beginChain({ uid, sessionId: id, metadata });
  const copied = rowOf(
    replay(emptyState(uid, id), facts),
    [],
    workAfter(noWork, withoutUndone(facts)),
  );
  const row: SessionRow = { ...copied, metadata, chain, version: 0, workKnown: true };
  await connection.retrying(() =>
    connection.transaction(async ({ send, commit }) => {
      await refuseRemovedParent(options, id, send);
      // A row under our uid was inserted by this try, or by an earlier one whose answer was lost.
      const own = { statement: options.statements.row, values: [uid, options.tenant] };
      const make = [insertSession(options, row), own];
      const [made = [], found = []] = await (facts.length > 0 ? send : commit)(...make);
      if (found.length === 0) {
        throw new MillraceError("session_exists", `there is a session ${id} already`);
      }
      if (facts.length > 0 && made.length > 0) {
        await commit(...insertFacts(options, uid, rows, facts));
      }
    }),
  );
  return recordOf(row, options.tenant);
}

/** Throws `unknown_session` for the name of a child whose parent was removed. */
async function refuseRemovedParent(
  { statements, tenant }: CopyOptions,
  id: SessionId,
  send: Transaction["send"],
): Promise<void> {
  const parent = parentOf(id);
  if (parent === undefined) return;
  const values = [parent, tenant];
  const [, removed = []] = await send(
    { statement: statements.lockParent, values },
    { statement: statements.isRemoved, values },
  );
  refuseOrphan(id, removed.length > 0);
}

/** Creates a session that begins with another one's facts up to `n`, and with the facts in `added`. */
export async function forkSession(
  options: CopyOptions & { readonly now: () => number },
  uid: SessionUid,
  request: Parameters<SessionStore["fork"]>[1],
): Promise<SessionRecord> {
  const { connection, statements, tenant, now } = options;
  const { n, metadata, added = [] } = request;
  const id = sessionId(request.sessionId);
  checkBodies(added);
  const [rows, bodies] = await connection.retrying(() =>
    connection.once(
      { statement: statements.row, values: [uid, tenant] },
      { statement: statements.read, values: [uid, tenant, 0, n] },
    ),
  );
  const source = onlyRow(uid, rows);
  const ledger = new SessionLedger({ uid, sessionId: id, now });
  ledger.load(readFacts(uid, bodies).map((fact) => ({ ...fact, sessionId: id })));
  ledger.acceptAll(added);
  const own = metadata === undefined ? source.metadata : encodeMetadata(id, metadata);
  return createSession(options, { sessionId: id, metadata: own }, ledger.facts);
}

/** The column of metadata. Throws `invalid_event` for what is not plain JSON. */
export function encodeMetadata(id: SessionId, metadata: CreateOptions["metadata"]): string {
  if (checkJson(metadata ?? {}) === undefined) return JSON.stringify(metadata ?? {});
  throw new MillraceError("invalid_event", `the metadata of ${id} is not plain JSON`);
}

function insertSession({ statements, tenant }: CopyOptions, row: SessionRow): Bound {
  const { uid, sessionId, metadata, incarnation, head, closed, closedLanes, chain } = row;
  const progress = [incarnation, head, closed, encodeClosedLanes(closedLanes), chain];
  const values = [uid, tenant, encodeName(sessionId), metadata, ...progress, ...encodeWork(row)];
  return { statement: statements.create, values };
}

function* insertFacts(
  { statements, tenant }: CopyOptions,
  uid: SessionUid,
  rows: ReturnType<typeof encodeFacts>,
  facts: readonly Fact[],
): Generator<Bound, void, undefined> {
  for (let from = 0; from < rows.length; from += factsPerStatement) {
    const some = rows.slice(from, from + factsPerStatement);
    yield { statement: statements.insertFacts, values: [uid, tenant, ...factColumns(some)] };
  }
  const items = itemsOf(facts);
  if (items.size === 0) return;
  yield { statement: statements.insertItems, values: [uid, tenant, ...itemColumns(items)] };
}
