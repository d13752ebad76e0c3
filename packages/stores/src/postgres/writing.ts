import { MillraceError } from "@millrace/core";
import type { Clock, Fact, SessionUid } from "@millrace/core";
import { checkBodies } from "../fact-text.ts";
import { isTaken } from "./connection.ts";
import type { Bound, Connection, Rows } from "./connection.ts";
import { encodeFacts, numberFacts } from "./fact-row.ts";
import type { FactRow } from "./fact-row.ts";
import { lookUp, noneUnused, readFacts, unusedOf } from "./looking.ts";
import type { Bind, Unused } from "./looking.ts";
import { decodeRow, encodeClosedLanes, encodeFloors, encodeId } from "./row.ts";
import type { SessionRow } from "./row.ts";
import { advance, isReset, itemsOf, nothingSeen } from "./rules.ts";
import type { Call } from "./rules.ts";
import type { Statements } from "./statements.ts";

/** What the calls of a store share. */
export interface WriterOptions {
  readonly connection: Connection;
  readonly statements: Statements;
  readonly tenant: string;
  readonly clock: Clock;
  /** Makes the name of a call, never the same twice. */
  readonly makeToken: () => string;
}

/** What a call stores. */
interface Written {
  readonly row: SessionRow;
  readonly facts: readonly Fact[];
  readonly statement: Bound;
}

/** Rows are small, and what is forgotten costs one more round trip. */
const maxRemembered = 1_000;

/**
 * The calls that write, decided by the rules from the session's row. If this process knows the row
 * from its last call, a call is one round trip: decided here, and stored if the row is still that.
 * Else, and when that came to nothing, it is two: the row is locked and read, then written.
 */
export class SessionWriter {
  readonly #options: WriterOptions;
  readonly #remembered = new Map<SessionUid, SessionRow>();

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Makes a call. Throws `unknown_session`, and `invalid_event` for what could not be read again. */
  async write<Answer>(uid: SessionUid, call: Call<Answer>): Promise<Answer> {
    checkBodies(call.bodies);
    const token = this.#options.makeToken();
    return this.#options.connection.retrying(async (again) => {
      const row = this.#remembered.get(uid);
      this.#remembered.delete(uid);
      const unused = unusedOf(call.looks);
      if (row !== undefined && unused !== undefined && stores(call) && !again) {
        const written = await this.#writeKnown(row, call, { token, unused });
        if (written !== undefined) return call.answer(written.facts, written.row.head);
      }
      return this.#writeLocked(uid, call, { token, again });
    });
  }

  /** Forgets a session that is no more. */
  forget(uid: SessionUid): void {
    this.#remembered.delete(uid);
  }

  /** Gives nothing if nothing was stored: why not, only a look at what is there can say. */
  async #writeKnown<Answer>(
    row: SessionRow,
    call: Call<Answer>,
    { token, unused }: { readonly token: string; readonly unused: Unused },
  ): Promise<Written | undefined> {
    if (call.refuse(row, nothingSeen) !== undefined) return undefined;
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
    call: Call<Answer>,
    { token, again }: { readonly token: string; readonly again: boolean },
  ): Promise<Answer> {
    const { connection, statements, tenant } = this.#options;
    const bind: Bind = (name, ...values) => ({
      statement: statements[name],
      values: [uid, tenant, ...values],
    });
    const { statements: looks, see } = lookUp(uid, call.looks, bind);
    // When the answer to an earlier try was lost, its facts have our token if it came to pass.
    const mine = again ? [bind("token", token)] : [];
    return connection.transaction(async ({ send, commit }) => {
      const [rows = [], ...found] = await send(bind("lock"), ...mine, ...looks);
      const row = onlyRow(uid, rows);
      const stored = again ? readFacts(uid, found[0]) : [];
      if (stored.length > 0 || row.floors.some((floor) => floor.token === token)) {
        return call.answer(stored, stored.at(-1)?.n ?? row.head);
      }
      const seen = see(found.slice(mine.length));
      const refusal = call.refuse(row, seen);
      if (refusal !== undefined || !stores(call)) {
        this.#remember(row);
        return refusal ?? call.answer([], row.head);
      }
      const written = this.#encode(row, call, { token, unused: noneUnused, all: seen.all });
      const reset = call.bodies.some(isReset) ? [bind("clearItems")] : [];
      const [won = []] = (await commit(...reset, written.statement)).slice(reset.length);
      if (won.length === 0) {
        throw new MillraceError("broken_port", `the row of ${uid} changed while it was locked`);
      }
      this.#remember(written.row);
      return call.answer(written.facts, written.row.head);
    });
  }

  #encode<Answer>(
    row: SessionRow,
    { bodies, floor, looks }: Call<Answer>,
    besides: { readonly token: string; readonly unused: Unused; readonly all: readonly Fact[] },
  ): Written {
    const { clock, tenant, statements } = this.#options;
    const { token, unused, all } = besides;
    const facts = numberFacts(bodies, row, clock.now());
    const rows = encodeFacts(facts, row.chain, looks.key);
    const progress = advance(row, facts, { all, floor: floor && { ...floor, token } });
    const next: SessionRow = {
      ...row,
      ...progress,
      head: row.head + facts.length,
      chain: rows.at(-1)?.hash ?? row.chain,
      version: row.version + 1,
    };
    const items = itemsOf(bodies.some(isReset) ? [...all, ...facts] : facts);
    const known = [row.uid, tenant, token, row.version, row.chain];
    const lanes = [encodeClosedLanes(next.closedLanes), encodeFloors(next.floors)];
    const after = [next.incarnation, next.head, next.closed, ...lanes, next.chain];
    const places = [[...items.keys()].map(encodeId), [...items.values()]];
    const values = [...known, ...after, ...factColumns(rows), ...places, ...unused];
    return { row: next, facts, statement: { statement: statements.write, values } };
  }

  #remember(row: SessionRow): void {
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

/** The one row that was found. Throws `unknown_session`. */
export function onlyRow(uid: SessionUid, rows: Rows = []): SessionRow {
  const [columns] = rows;
  if (columns !== undefined) return decodeRow(columns);
  throw new MillraceError("unknown_session", `no session has the uid ${uid}`);
}

function stores<Answer>({ bodies, floor }: Call<Answer>): boolean {
  return bodies.length > 0 || floor !== undefined;
}
