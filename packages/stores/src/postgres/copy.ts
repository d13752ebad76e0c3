import { MillraceError } from "@millrace/core";
import type { CreateOptions, ForkOptions, SessionRecord } from "@millrace/core/ports";
import { forkDetails, itemsOf, newDetails, requireFirst } from "@millrace/core/store-kit";
import type { StoreDetails } from "@millrace/core/store-kit";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { Fact, SessionUid } from "@millrace/core";
import { SessionLedger } from "@millrace/core/memory";
import { checkBodies } from "../fact-text.ts";
import type { Bound, Connection } from "./connection.ts";
import type { FactRow } from "./fact-row.ts";
import { readFacts } from "./lookup.ts";
import { insertSession, newSession } from "./new-session.ts";
import { recordOf } from "./row.ts";
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
  const { uid, sessionId: id } = details;
  const { row, rows } = newSession(details, facts, key);
  await connection.retrying(() =>
    connection.transaction(async ({ send, commit }) => {
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

function* insertFacts(
  { statements, tenant }: CopyOptions,
  uid: SessionUid,
  rows: readonly FactRow[],
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
