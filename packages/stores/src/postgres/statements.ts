import { createHash } from "node:crypto";
import { MillraceError } from "@millrace/core";
import type { Statement } from "./connection.ts";
import { rowColumns } from "./row.ts";
import { workStatements } from "./work-statements.ts";
import type { WorkStatements } from "./work-statements.ts";

/** The store's SQL, for one schema. Every statement filters by tenant, besides row-level security. */
export interface Statements extends WorkStatements {
  readonly create: Statement;
  readonly find: Statement;
  readonly list: Statement;
  readonly remove: Statement;
  readonly read: Statement;
  readonly readBefore: Statement;
  readonly row: Statement;
  readonly key: Statement;
  readonly lock: Statement;
  readonly item: Statement;
  readonly keyed: Statement;
  readonly about: Statement;
  readonly token: Statement;
  readonly write: Statement;
  readonly clearItems: Statement;
  readonly clearCheckpoint: Statement;
  readonly insertFacts: Statement;
  readonly insertItems: Statement;
  readonly verifyFacts: Statement;
  readonly verifyItems: Statement;
}

const insertFactColumns =
  "insert into fact (uid, tenant, token, n, type, about, key, body, hash) select $1, $2";

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
      /\b(from|into|update|join) (session|fact|item|checkpoint|driver)\b/g,
      (_, verb, table) => `${String(verb)} ${schema}.${String(table)}`,
    );
    const hash = createHash("sha256").update(full).digest("hex");
    return { name: `millrace_${hash.slice(0, 24)}`, text: full };
  };
  return {
    create: named(
      `insert into session (uid, tenant, name, metadata, incarnation, head, closed, closed_lanes,
         chain, run, queue, driver, due_since)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
         case when $13::boolean then clock_timestamp() end)
       on conflict (tenant, name) do nothing returning uid`,
    ),
    find: named(`select ${rowColumns} from session where tenant = $1 and name = $2`),
    list: named(
      `select ${rowColumns} from session where tenant = $1 and name > $2 order by name limit $3`,
    ),
    remove: named(`select ${schema}.remove_session($1)`),
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
    write: named(writeText),
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
  };
}

/**
 * Everything that a call writes, by compare-and-set on the version and the hash of the session's row.
 * The parameters $20 to $22 are ids that must not be in use. No other call can use one while the version
 * is the same, so the check needs no further lock.
 */
const writeText = `
with won as (
  update session set incarnation = $6, head = $7, closed = $8, closed_lanes = $9, floors = $10,
    chain = $11, version = version + 1, run = $23, queue = $24, driver = $25,
    due_since = case when $26::boolean then coalesce(due_since, clock_timestamp()) end
  where uid = $1 and tenant = $2 and version = $4 and chain = $5
    and ($20::bytea is null
      or not exists (select from item where uid = $1 and tenant = $2 and item_id = $20))
    and ($21::bytea is null
      or not exists (select from fact where uid = $1 and tenant = $2 and key = $21))
    and ($22::bytea is null
      or not exists (select from fact where uid = $1 and tenant = $2 and about = $22
        and type = 'input_accepted'))
  returning uid
), facts as (
  ${insertFactColumns}, $3, given.*
  from won, unnest($12::bigint[], $13::text[], $14::bytea[], $15::bytea[], $16::text[], $17::bytea[])
    as given
), items as (
  insert into item (uid, tenant, item_id, n)
  select $1, $2, given.* from won, unnest($18::bytea[], $19::bigint[]) as given
  on conflict (uid, item_id) do update set n = excluded.n
)
select uid from won`;
