import { createHash } from "node:crypto";
import { MillraceError } from "@millrace/core";
import type { Statement } from "./connection.ts";
import { recordStatements } from "./record-statements.ts";
import type { RecordStatements } from "./record-statements.ts";
import { rowColumns } from "./row.ts";
import { tombstoneColumns } from "./tombstones.ts";
import { insertFactColumns, writeText } from "./write-statement.ts";
import type { WriteShape } from "./write-statement.ts";
import { workStatements } from "./work-statements.ts";
import type { WorkStatements } from "./work-statements.ts";

/** The store's SQL, for one schema. Every statement filters by tenant, besides row-level security. */
export interface Statements extends WorkStatements, RecordStatements {
  readonly create: Statement;
  readonly find: Statement;
  readonly list: Statement;
  readonly remove: Statement;
  readonly tombstone: Statement;
  readonly tombstonesOf: Statement;
  readonly read: Statement;
  readonly readBefore: Statement;
  readonly row: Statement;
  readonly key: Statement;
  readonly lock: Statement;
  readonly item: Statement;
  readonly keyed: Statement;
  readonly about: Statement;
  readonly token: Statement;
  readonly claimed: Statement;
  readonly input: Statement;
  readonly write: (shape: WriteShape) => Statement;
  readonly clearItems: Statement;
  readonly clearCheckpoint: Statement;
  readonly insertFacts: Statement;
  readonly insertItems: Statement;
  readonly verifyFacts: Statement;
  readonly verifyItems: Statement;
}

/** The names of those that are always the same. */
export type StatementName = Exclude<keyof Statements, "write" | "page">;

/** Returns a name that goes into SQL unquoted. Throws for one that would need quotes. */
export function checkName(name: string, what: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(name)) return name;
  throw new MillraceError("invalid_definition", `${name} can't be the name of a ${what}`);
}

/** The store's statements. Tables are written bare here, and named with their schema for use. */
export function statementsOf(schema: string): Statements {
  checkName(schema, "schema");
  const named = (text: string): Statement => {
    const full = text.replaceAll(
      /\b(from|into|update|join) (session|fact|item|checkpoint|driver|tombstone|engine_claim)\b/g,
      (_, verb, table) => `${String(verb)} ${schema}.${String(table)}`,
    );
    const hash = createHash("sha256").update(full).digest("hex");
    return { name: `millrace_${hash.slice(0, 24)}`, text: full };
  };
  const writes = new Map<string, Statement>();
  return {
    create: named(
      `insert into session (uid, tenant, name, metadata, incarnation, head, closed, closed_lanes,
         chain, run, queue, driver, due_since, calls, updated_at, status, owner, title, title_folded,
         parent, parent_call, parent_uid, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
         case when $13::boolean then clock_timestamp() end, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
       on conflict (tenant, name) do nothing returning uid`,
    ),
    find: named(`select ${rowColumns} from session where tenant = $1 and name = $2`),
    list: named(
      `select ${rowColumns} from session where tenant = $1 and name > $2 order by name limit $3`,
    ),
    ...tombstoneStatements(named, schema),
    read: named(
      `select body from fact where uid = $1 and tenant = $2 and n > $3 order by n limit $4`,
    ),
    readBefore: named(
      `select body from (select n, body from fact where uid = $1 and tenant = $2 and n > $3 and n < $4
         order by n desc limit $5) as last order by n`,
    ),
    row: named(`select ${rowColumns} from session where uid = $1 and tenant = $2`),
    key: named(`select key from session where uid = $1 and tenant = $2`),
    lock: named(`select ${rowColumns} from session where uid = $1 and tenant = $2 for update`),
    item: named(
      `select f.body from item i join fact f on f.uid = i.uid and f.n = i.n
       where i.uid = $1 and i.tenant = $2 and i.item_id = $3 and f.tenant = $2`,
    ),
    keyed: named(`select body from fact where uid = $1 and tenant = $2 and key = $3`),
    // Facts before the first one about it can't affect it.
    about: named(
      `select body from fact where uid = $1 and tenant = $2
         and n >= (select min(n) from fact where uid = $1 and tenant = $2 and about = $3)
         and (about = $3 and type = any($4) or type = any($5)) order by n`,
    ),
    token: named(`select body from fact where uid = $1 and tenant = $2 and token = $3 order by n`),
    claimed: named(
      `select incarnation from engine_claim where uid = $1 and tenant = $2 and run = $3`,
    ),
    input: named(
      `select from fact where uid = $1 and tenant = $2 and about = $3 and type = 'input_accepted' limit 1`,
    ),
    write: (shape) => {
      const key = JSON.stringify(shape);
      const known = writes.get(key) ?? named(writeText(shape));
      writes.set(key, known);
      return known;
    },
    clearItems: named(`delete from item where uid = $1 and tenant = $2`),
    clearCheckpoint: named(
      `with reset as (update session set reset = $4 where uid = $1 and tenant = $2)
       delete from checkpoint where uid = $1 and tenant = $2 and head > $3`,
    ),
    insertFacts: named(
      `${insertFactColumns}, null, *
       from unnest($3::bigint[], $4::text[], $5::bytea[], $6::bytea[], $7::text[], $8::bytea[])`,
    ),
    insertItems: named(
      `insert into item (uid, tenant, item_id, n) select $1, $2, *
       from unnest($3::bytea[], $4::bigint[])`,
    ),
    verifyFacts: named(
      `select n, type, about, key, body, hash from fact
       where uid = $1 and tenant = $2 and n > $3 order by n limit $4`,
    ),
    verifyItems: named(`select item_id, n from item where uid = $1 and tenant = $2`),
    ...workStatements(named, schema),
    ...recordStatements(named),
  };
}

type TombstoneStatement = "remove" | "tombstone" | "tombstonesOf";

function tombstoneStatements(
  named: (text: string) => Statement,
  schema: string,
): Pick<Statements, TombstoneStatement> {
  return {
    remove: named(`select ${schema}.remove_session($1, $2, $3)`),
    tombstone: named(
      `select ${tombstoneColumns} from tombstone where tenant = $1 and name = $2
       order by at desc limit 1`,
    ),
    tombstonesOf: named(
      `select ${tombstoneColumns} from tombstone where tenant = $1 and root = $2
       order by uid <> root, at, uid`,
    ),
  };
}
