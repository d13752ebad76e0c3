import { MillraceError } from "@millrace/core";
import {
  advanceRow,
  childDetails,
  isReset,
  itemsOf,
  nothingFound,
  noWork,
  numberFacts,
  workAfter,
} from "@millrace/core/store-kit";
import type { StoreCall } from "@millrace/core/store-kit";
import { withoutUndone } from "@millrace/core/reading";
import { sessionUid } from "@millrace/core/writing";
import type { Fact, SessionUid } from "@millrace/core";
import { checkBodies } from "../fact-text.ts";
import { isTaken } from "./connection.ts";
import type { Bound, Connection, Rows, Transaction } from "./connection.ts";
import { encodeFacts } from "./fact-row.ts";
import type { FactRow } from "./fact-row.ts";
import { bindLookup, noneUnused, readFacts, unusedOf } from "./lookup.ts";
import type { Bind, Unused } from "./lookup.ts";
import { insertSession, newSession } from "./new-session.ts";
import { decodeRow, encodeClosedLanes, encodeFloors, encodeId, encodeWork } from "./row.ts";
import type { SessionRow } from "./row.ts";
import type { Statements } from "./statements.ts";

/** What the calls of a store share. */
export interface WriterOptions {
  readonly connection: Connection;
  readonly statements: Statements;
  readonly tenant: string;
  /** The store's clock, which gives facts their time. */
  readonly now: () => number;
  readonly makeUid: () => string;
  /** Makes a new token for each call, by which a retry recognises what it stored. */
  readonly makeToken: () => string;
}

/** What a call stores. */
interface Written {
  readonly row: SessionRow;
  readonly facts: readonly Fact[];
  readonly statement: Bound;
}

/** Rows kept in memory. They are small, and a row that is not kept costs one more round trip. */
const maxRemembered = 1_000;

/**
 * The calls that write, decided by the store's rules from the session's row. If this process has the
 * row from its last call, a call is one round trip: decided in memory, and stored if the row is
 * unchanged. Otherwise, and if the row has changed, it is two: the row is locked and read, then
 * written.
 */
export class SessionWriter {
  readonly #options: WriterOptions;
  readonly #remembered = new Map<SessionUid, SessionRow>();

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Makes a call. Throws `unknown_session`, and `invalid_event` for a fact that can't be read again. */
  async write<Answer>(uid: SessionUid, call: StoreCall<Answer>): Promise<Answer> {
    checkBodies(call.bodies);
    const token = this.#options.makeToken();
    return this.#options.connection.retrying(async (again) => {
      const row = this.#remembered.get(uid);
      this.#remembered.delete(uid);
      const unused = unusedOf(call.lookup);
      const isOne = call.child === undefined && unused !== undefined;
      if (row !== undefined && isOne && stores(call) && !again) {
        const written = await this.#writeKnown(row, call, { token, unused });
        if (written !== undefined) return call.answer(written.facts, written.row.head);
      }
      return this.#writeLocked(uid, call, { token, again });
    });
  }

  /** Drops the row of a removed session. */
  forget(uid: SessionUid): void {
    this.#remembered.delete(uid);
  }

  /** Undefined if nothing was stored: only a lookup finds the reason. */
  async #writeKnown<Answer>(
    row: SessionRow,
    call: StoreCall<Answer>,
    { token, unused }: { readonly token: string; readonly unused: Unused },
  ): Promise<Written | undefined> {
    if (call.refuse(row, nothingFound) !== undefined) return undefined;
    const written = this.#encode(row, call, { token, unused, all: [] });
    try {
      const [won = []] = await this.#options.connection.once(written.statement);
      if (won.length === 0) return undefined;
    } catch (error) {
      if (isTaken(error)) return undefined;
      throw error;
    }
    this.#remember(written.row);
    return written;
  }

  async #writeLocked<Answer>(
    uid: SessionUid,
    call: StoreCall<Answer>,
    { token, again }: { readonly token: string; readonly again: boolean },
  ): Promise<Answer> {
    const { connection, statements, tenant } = this.#options;
    const bind: Bind = (name, ...values) => ({
      statement: statements[name],
      values: [uid, tenant, ...values],
    });
    const lookup = bindLookup(call.lookup, bind);
    // If an earlier try was stored and only its answer was lost, its facts have our token.
    const mine = again ? [bind("token", token)] : [];
    return connection.transaction(async ({ send, commit }) => {
      const [rows = [], ...answers] = await send(bind("lock"), ...mine, ...lookup.statements);
      const row = onlyRow(uid, rows);
      const stored = again ? readFacts(uid, answers[0]) : [];
      if (stored.length > 0 || row.floors.some((floor) => floor.token === token)) {
        return call.answer(stored, stored.at(-1)?.n ?? row.head);
      }
      const found = lookup.read(row, answers.slice(mine.length));
      const refusal = call.refuse(row, found);
      if (refusal !== undefined || !stores(call)) {
        this.#remember(row);
        return refusal ?? call.answer([], row.head);
      }
      const counted = row.workKnown ? row : await countWork(row, bind, send);
      const written = this.#encode(counted, call, { token, unused: noneUnused, all: found.all });
      const reset = resetStatements(written.facts, bind);
      const besides = [...reset, ...this.#childOf(counted, call)];
      const [won = []] = (await commit(...besides, written.statement)).slice(besides.length);
      if (won.length === 0) {
        throw new MillraceError("broken_port", `the row of ${uid} changed while it was locked`);
      }
      this.#remember(written.row);
      return call.answer(written.facts, written.row.head);
    });
  }

  /** What makes the session of a sub-agent, which is then there if and only if the intent is. */
  #childOf<Answer>({ details }: SessionRow, { child }: StoreCall<Answer>): readonly Bound[] {
    if (child === undefined) return [];
    const { now, makeUid } = this.#options;
    const own = { uid: sessionUid(makeUid()), createdAt: now() };
    return [insertSession(this.#options, newSession(childDetails(child, details, own)).row)];
  }

  #encode<Answer>(
    row: SessionRow,
    { bodies, floor, lookup, driver }: StoreCall<Answer>,
    besides: { readonly token: string; readonly unused: Unused; readonly all: readonly Fact[] },
  ): Written {
    const { now, tenant, statements } = this.#options;
    const { token, unused, all } = besides;
    const facts = numberFacts(bodies, row, now());
    const rows = encodeFacts(facts, row.chain, lookup.key);
    const next: SessionRow = {
      ...row,
      ...advanceRow(row, facts, { all, floor: floor && { ...floor, token }, driver }),
      chain: rows.at(-1)?.hash ?? row.chain,
      version: row.version + 1,
    };
    const items = itemsOf(bodies.some(isReset) ? [...all, ...facts] : facts);
    const lanes = [encodeClosedLanes(next.closedLanes), encodeFloors(next.floors)];
    const known = [row.uid, tenant, row.version, row.chain];
    const after = [next.incarnation, next.head, next.closed, ...lanes, next.chain];
    const values = [
      ...known,
      ...after,
      ...encodeWork(next),
      ...(rows.length > 0 ? [token, ...factColumns(rows)] : []),
      ...(items.size > 0 ? itemColumns(items) : []),
      ...(lookup.by === undefined ? [] : [encodeId(lookup.by)]),
      ...unused.filter((id) => id !== null),
    ];
    const [item, key, input] = unused;
    const statement = statements.write({
      facts: rows.length > 0,
      items: items.size > 0,
      engine: lookup.by !== undefined,
      unused: [item !== null, key !== null, input !== null],
    });
    return { row: next, facts, statement: { statement, values } };
  }

  #remember(row: SessionRow): void {
    if (!row.workKnown) return; // the next write has to count it, under the lock
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size >= maxRemembered && oldest !== undefined) {
      this.#remembered.delete(oldest);
    }
    this.#remembered.set(row.uid, row);
  }
}

/** The columns of facts, each as one array, in the order in which the statements take them. */
export function factColumns(rows: readonly FactRow[]): readonly (readonly unknown[])[] {
  return [
    rows.map(({ n }) => n),
    rows.map(({ type }) => type),
    rows.map(({ about }) => about),
    rows.map(({ key }) => key),
    rows.map(({ body }) => body),
    rows.map(({ hash }) => hash),
  ];
}

/** The columns of items, likewise. */
export function itemColumns(items: ReturnType<typeof itemsOf>): readonly (readonly unknown[])[] {
  return [[...items.keys()].map(encodeId), [...items.values()].map(({ n }) => n)];
}

/** The one row that was found. Throws `unknown_session`. */
export function onlyRow(uid: SessionUid, rows: Rows = []): SessionRow {
  const [columns] = rows;
  if (columns !== undefined) return decodeRow(columns);
  throw new MillraceError("unknown_session", `no session has the uid ${uid}`);
}

/** A row whose work is counted from all facts. */
async function countWork(
  row: SessionRow,
  bind: Bind,
  send: Transaction["send"],
): Promise<SessionRow> {
  const [bodies] = await send(bind("read", 0, null));
  const facts = withoutUndone(readFacts(row.uid, bodies));
  const { updatedAt } = row;
  return { ...row, ...workAfter({ ...noWork, updatedAt }, facts), workKnown: true };
}

/** What a reset deletes: items are made anew, and a checkpoint of what it undoes is void. */
function resetStatements(facts: readonly Fact[], bind: Bind): readonly Bound[] {
  const resets = facts.filter(isReset);
  if (resets.length === 0) return [];
  const lowest = Math.min(...resets.map((fact) => ("to" in fact ? fact.to : fact.n)));
  return [bind("clearItems"), bind("clearCheckpoint", lowest, resets.at(-1)?.n)];
}

function stores<Answer>({ bodies, floor }: StoreCall<Answer>): boolean {
  return bodies.length > 0 || floor !== undefined;
}
