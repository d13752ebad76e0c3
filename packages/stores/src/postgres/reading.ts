import { MillraceError } from "@millrace/core";
import { engineRun, sessionId, sessionKey, sessionUid } from "@millrace/core/writing";
import type { SessionStore } from "@millrace/core/ports";
import type { Connection, Rows } from "./connection.ts";
import { readClaimed, readFacts } from "./lookup.ts";
import { decodeRow, encodeId, encodeName, recordOf } from "./row.ts";
import type { StatementName, Statements } from "./statements.ts";
import { onlyRow } from "./writing.ts";

/** What asking the database for one tenant needs. */
export interface ReadContext {
  readonly connection: Connection;
  readonly statements: Statements;
  readonly tenant: string;
  /** Heads are those of sessions of all tenants. */
  readonly acrossTenants?: boolean | undefined;
}

/** Sends statements by their names, in one transaction, until they are answered. */
export type Ask = (
  ...named: readonly (readonly [StatementName, ...unknown[]])[]
) => Promise<readonly Rows[]>;

/** Asks for what may be asked twice. */
export function askerOf({ connection, statements }: ReadContext): Ask {
  return (...named) =>
    connection.retrying(() =>
      connection.once(
        ...named.map(([name, ...values]) => ({ statement: statements[name], values })),
      ),
    );
}

type ReadingCall =
  | "find"
  | "list"
  | "key"
  | "read"
  | "head"
  | "heads"
  | "floors"
  | "claimedBy"
  | "hasInput";

/** The calls that store nothing. */
export function readingCalls(context: ReadContext): Pick<SessionStore, ReadingCall> {
  const { tenant, acrossTenants = false } = context;
  const ask = askerOf(context);
  return {
    find: async (name) => {
      const [[row] = []] = await ask(["find", tenant, encodeName(sessionId(name))]);
      return row && recordOf(decodeRow(row), tenant);
    },
    list: async ({ after, limit = 100 } = {}) => {
      const from = after === undefined ? Buffer.alloc(0) : encodeName(after);
      const [rows = []] = await ask(["list", tenant, from, limit]);
      return rows.map((row) => recordOf(decodeRow(row), tenant));
    },
    key: async (uid) => {
      const [[row] = []] = await ask(["key", uid, tenant]);
      if (row !== undefined) return sessionKey((row["key"] as Buffer).toString("base64url")); // a bytea column
      throw new MillraceError("unknown_session", `no session has the uid ${uid}`);
    },
    read: async (uid, { after = 0, before, limit = null } = {}) => {
      const [rows, bodies] = await ask(
        ["row", uid, tenant],
        before === undefined
          ? ["read", uid, tenant, after, limit]
          : ["readBefore", uid, tenant, after, before, limit],
      );
      onlyRow(uid, rows);
      return readFacts(uid, bodies);
    },
    head: async (uid) => onlyRow(uid, (await ask(["row", uid, tenant]))[0]).head,
    heads: async (uids) => {
      const [rows = []] = await ask(
        acrossTenants ? ["headsAcross", uids] : ["heads", tenant, uids],
      );
      return new Map(rows.map(({ uid, head }) => [sessionUid(String(uid)), Number(head)]));
    },
    floors: async (uid) => {
      const { floors } = onlyRow(uid, (await ask(["row", uid, tenant]))[0]);
      return floors.map(({ lane, epoch }) => ({ lane, epoch }));
    },
    claimedBy: async (uid, by) => {
      const run = encodeId(engineRun(by));
      const [rows, claims] = await ask(["row", uid, tenant], ["claimed", uid, tenant, run]);
      onlyRow(uid, rows);
      return readClaimed(claims);
    },
    hasInput: async (uid, inputId) => {
      const input = encodeId(inputId);
      const [rows, found = []] = await ask(["row", uid, tenant], ["input", uid, tenant, input]);
      onlyRow(uid, rows);
      return found.length > 0;
    },
  };
}
