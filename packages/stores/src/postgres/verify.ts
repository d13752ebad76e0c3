import { decodeFact } from "../fact-text.ts";
import { MillraceError } from "@millrace/core";
import { itemsOf } from "@millrace/core/store-kit";
import type { Fact, SessionId } from "@millrace/core";
import type { Bound, Connection, Rows } from "./connection.ts";
import { aboutOf, beginChain, linkChain } from "./fact-row.ts";
import { decodeRow, encodeId, encodeName } from "./row.ts";
import type { SessionRow } from "./row.ts";
import type { StatementName, Statements } from "./statements.ts";

/** A fact as it was at an earlier time: its number and its hash. */
export interface FactAnchor {
  readonly n: number;
  /** In hexadecimal. */
  readonly hash: string;
}

/** What `verify` compares the session with besides its own hashes. */
export interface PostgresVerifyOptions {
  /** Stored outside the database, it proves that since then no facts were cut off or rewritten. */
  readonly anchor?: FactAnchor | undefined;
}

/** What is wrong with a session. */
export type SessionFaultCode =
  /** A row is not what was written, or not where it was written. */
  | "changed"
  /** A fact is gone. */
  | "missing"
  /** A row is what was written, but this release can't read its form. */
  | "unreadable"
  /** The fact that the anchor names is gone, or is another one. */
  | "not_anchored";

/** What `verify` found. `n` is the first fact that is wrong, or one more than the last. */
export type SessionVerdict =
  | { readonly ok: true; readonly facts: number; readonly anchor: FactAnchor }
  | {
      readonly ok: false;
      readonly code: SessionFaultCode;
      readonly n: number;
      readonly message: string;
    };

const factsPerPage = 500;

type Fault = Extract<SessionVerdict, { readonly ok: false }>;

/**
 * Checks a session from its name to its last fact: every edit, gap and reorder of its facts is found,
 * and every change of its row and of the places of its items. Without an anchor two changes are not
 * found: facts cut off the end, and facts rewritten, each with all hashes computed again. Linear;
 * changes nothing.
 */
export async function verifySession(
  { connection, statements, tenant }: VerifyContext,
  sessionId: SessionId,
  { anchor }: PostgresVerifyOptions = {},
): Promise<SessionVerdict> {
  return connection.transaction(async ({ send, commit }) => {
    const ask = (name: StatementName, ...values: readonly unknown[]): Bound => ({
      statement: statements[name],
      values,
    });
    const [rows = []] = await send(ask("find", tenant, encodeName(sessionId)));
    if (rows[0] === undefined) {
      throw new MillraceError("unknown_session", `there is no session ${sessionId}`);
    }
    const row = decodeRow(rows[0]);
    const checked = new FactChecker(row, anchor);
    for (let full = true; full;) {
      const page = ask("verifyFacts", row.uid, tenant, checked.facts.length, factsPerPage);
      const [some = []] = await send(page);
      const fault = checked.take(some);
      if (fault !== undefined) return fault;
      full = some.length === factsPerPage;
    }
    const [items = []] = await commit(ask("verifyItems", row.uid, tenant));
    return checked.finish(items);
  }, "snapshot");
}

/** What verifying a session needs. */
export interface VerifyContext {
  readonly connection: Connection;
  readonly statements: Statements;
  readonly tenant: string;
}

/** Collects the facts that passed the checks so far. */
class FactChecker {
  readonly facts: Fact[] = [];
  readonly #row: SessionRow;
  readonly #anchor: FactAnchor | undefined;
  #hash: Buffer;

  constructor(row: SessionRow, anchor: FactAnchor | undefined) {
    this.#row = row;
    this.#anchor = anchor;
    this.#hash = beginChain(row);
  }

  take(rows: Rows): Fault | undefined {
    for (const row of rows) {
      const n = this.facts.length + 1;
      const found = this.#check(n, row);
      if (found !== undefined) return { ok: false, n, ...found };
    }
    return undefined;
  }

  finish(items: Rows): SessionVerdict {
    const { facts } = this;
    const fault = (code: SessionFaultCode, message: string): Fault => ({
      ok: false,
      code,
      n: facts.length + 1,
      message,
    });
    if (facts.length < this.#row.head) return fault("missing", "the last facts are gone");
    if (facts.length > this.#row.head) return fault("changed", "there are facts behind the head");
    if (!this.#row.chain.equals(this.#hash)) return fault("changed", "the row has another hash");
    const claims = facts.filter((fact) => fact.type === "session_claimed");
    if (this.#row.incarnation !== (claims.at(-1)?.incarnation ?? 0)) {
      return fault("changed", "the row has another incarnation");
    }
    if (!samePlaces(itemsOf(facts), items)) return fault("changed", "an item is in another fact");
    if ((this.#anchor?.n ?? 0) > facts.length) {
      return fault("not_anchored", "the session ends before that fact");
    }
    return { ok: true, facts: facts.length, anchor: { n: facts.length, hash: hex(this.#hash) } };
  }

  #check(n: number, row: Rows[number]): Pick<Fault, "code" | "message"> | undefined {
    const [key, about] = [row["key"], row["about"]].map((value) => (value as Buffer) ?? null);
    if (Number(row["n"]) !== n) return { code: "missing", message: `there is no fact ${n}` };
    const body = String(row["body"]);
    const hash = linkChain(this.#hash, key ?? null, body);
    if (!hash.equals(row["hash"] as Buffer)) {
      return { code: "changed", message: "it is not what was written" };
    }
    const read = decodeFact(body);
    if (!read.ok) return { code: "unreadable", message: read.message };
    const { fact } = read;
    const subject = aboutOf(fact);
    const sameSubject = hex(about ?? null) === (subject && hex(encodeId(subject)));
    if (row["type"] !== fact.type || !sameSubject || fact.n !== n) {
      return { code: "changed", message: "its columns are not those of its body" };
    }
    if (this.#anchor?.n === n && this.#anchor.hash !== hex(hash)) {
      return { code: "not_anchored", message: "it has another hash" };
    }
    this.#hash = hash;
    this.facts.push(fact);
    return undefined;
  }
}

function samePlaces(items: ReturnType<typeof itemsOf>, rows: Rows): boolean {
  const stored = new Map(rows.map((row) => [hex(row["item_id"] as Buffer), Number(row["n"])]));
  const same = [...items].every(([id, { n }]) => stored.get(hex(encodeId(id)) ?? "") === n);
  return same && stored.size === items.size;
}

function hex(bytes: Buffer): string;
function hex(bytes: Buffer | null): string | undefined;
function hex(bytes: Buffer | null): string | undefined {
  return bytes?.toString("hex");
}
