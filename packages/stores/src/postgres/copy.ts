import { MillraceError } from "@millrace/core";
import type { CreateOptions, ForkOptions, SessionRecord } from "@millrace/core/ports";
import {
  foldTitle,
  forkDetails,
  isChild,
  itemsOf,
  newDetails,
  noWork,
  parentOf,
  refuseOrphan,
  requireFirst,
  rowOf,
  workAfter,
} from "@millrace/core/store-kit";
import type { StoreDetails } from "@millrace/core/store-kit";
import { emptyState, replay, withoutUndone } from "@millrace/core/reading";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { Fact, SessionId, SessionUid } from "@millrace/core";
import { SessionLedger } from "@millrace/core/memory";
import { checkBodies } from "../fact-text.ts";
import type { Bound, Connection, Transaction } from "./connection.ts";
import { beginChain, encodeFacts } from "./fact-row.ts";
import { readFacts } from "./lookup.ts";
import {
  encodeClosedLanes,
  encodeMetadata,
  encodeName,
  encodeWork,
  optional,
  recordOf,
} from "./row.ts";
import type { SessionRow } from "./row.ts";
import type { Statements } from "./statements.ts";
import { factColumns, itemColumns, onlyRow } from "./writing.ts";

/** What creating sessions needs. */
export interface CopyOptions {
  readonly connection: Connection;
  readonly statements: Statements;
  readonly tenant: string;
  readonly makeUid: () => string;
  readonly now: () => number;
}

/** Facts in one statement. Bounded, so that no statement grows with the session. */
const factsPerStatement = 256;

/** Creates a session, with its first input if it is given one. Throws `session_exists`. */
export async function createSession(
  options: CopyOptions,
  { first, ...request }: CreateOptions,
): Promise<SessionRecord> {
  const { makeUid, now } = options;
  const details = newDetails(request, { uid: sessionUid(makeUid()), createdAt: now() });
  if (first === undefined) return insertCopy(options, details);
  checkBodies([first.body]);
  const ledger = new SessionLedger({ ...details, now });
  requireFirst(ledger.accept(first.key, first.body).outcome, details.sessionId);
  return insertCopy(options, details, { facts: ledger.facts, key: first.key });
}

/** Facts that a session begins with, and the key of the first. */
interface Beginning {
  readonly facts: readonly Fact[];
  readonly key?: string;
}

async function insertCopy(
  options: CopyOptions,
  details: StoreDetails,
  { facts, key }: Beginning = { facts: [] },
): Promise<SessionRecord> {
  const { connection } = options;
  const { uid, sessionId: id, createdAt } = details;
  const metadata = encodeMetadata(id, details.metadata);
  const begun = beginChain({ uid, sessionId: id, metadata });
  const rows = encodeFacts(facts, begun, key);
  const chain = rows.at(-1)?.hash ?? begun;
  const work = workAfter(noWork, withoutUndone(facts));
  const updatedAt = Math.max(createdAt, work.updatedAt);
  const copied = rowOf(replay(emptyState(uid, id), facts), [], { ...work, updatedAt });
  const row: SessionRow = { ...copied, metadata, details, chain, version: 0, workKnown: true };
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
  options: CopyOptions,
  uid: SessionUid,
  request: ForkOptions,
): Promise<SessionRecord> {
  const { connection, statements, tenant, now, makeUid } = options;
  const { n, added = [] } = request;
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
  const own = { uid: sessionUid(makeUid()), createdAt: now() };
  const details = newDetails(forkDetails(request, source.details), own);
  return insertCopy(options, details, { facts: ledger.facts });
}

function insertSession({ statements, tenant }: CopyOptions, row: SessionRow): Bound {
  const { uid, sessionId, metadata, incarnation, head, closed, closedLanes, chain } = row;
  const progress = [incarnation, head, closed, encodeClosedLanes(closedLanes), chain];
  const values = [uid, tenant, encodeName(sessionId), metadata, ...progress, ...encodeWork(row)];
  return { statement: statements.create, values: [...values, ...encodeDetails(row.details)] };
}

/** The columns of details that are written once, and the title: owner, title, parent, creation. */
function encodeDetails(details: StoreDetails): readonly unknown[] {
  const { owner, title, parent, createdAt } = details;
  const unnamed = isChild(details) ? Buffer.alloc(0) : null;
  return [
    optional(owner),
    optional(title),
    optional(title && foldTitle(title)),
    parent === undefined ? unnamed : encodeName(parent.sessionId),
    optional(parent?.callId),
    createdAt,
  ];
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
