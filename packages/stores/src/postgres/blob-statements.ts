import { createHash } from "node:crypto";
import type { Statement } from "./connection.ts";
import { checkName } from "./statements.ts";

/** The bytes of a blob that are one row. */
export const pieceSize: number = 256 * 1024;

type Name =
  | "begin"
  | "begun"
  | "add"
  | "finish"
  | "discard"
  | "find"
  | "renew"
  | "read"
  | "total"
  | "remove"
  | "old"
  | "oldAcross"
  | "keep"
  | "sweep";

/** The statements of a store of blobs. */
export type BlobStatements = Readonly<Record<Name, Statement>>;

/** The statements, with the schema of their tables. */
export function blobStatementsOf(schema: string): BlobStatements {
  checkName(schema, "schema");
  const named = (text: string): Statement => {
    const hash = createHash("sha256").update(text).digest("hex");
    return { name: `millrace_${hash.slice(0, 24)}`, text };
  };
  const blob = `${schema}.blob`;
  const piece = `${schema}.blob_piece`;
  const isOld = (age: string): string =>
    `not named and at < clock_timestamp() - ${age}::double precision * interval '1 millisecond'`;
  const told = "encode(hash, 'hex') as hash, size, media_type";
  return {
    // From the session's row: a reference alone would also be to one of another tenant.
    begin: named(
      `insert into ${blob} (upload, uid, tenant, media_type)
       select $1, uid, tenant, $4 from ${schema}.session where uid = $2 and tenant = $3
       on conflict (upload) do nothing`,
    ),
    begun: named(`select 1 from ${blob} where upload = $1 and tenant = $2`),
    add: named(
      `insert into ${piece} (upload, n, tenant, bytes) values ($1, $2, $3, $4)
       on conflict (upload, n) do nothing`,
    ),
    finish: named(
      `update ${blob} set hash = $3, size = $4, at = clock_timestamp()
       where upload = $1 and tenant = $2 returning upload`,
    ),
    discard: named(`delete from ${blob} where upload = $1 and tenant = $2`),
    find: named(`select upload, ${told} from ${blob} where uid = $1 and tenant = $2 and hash = $3`),
    renew: named(
      `update ${blob} set at = clock_timestamp() where uid = $1 and tenant = $2 and hash = $3
       returning upload, ${told}`,
    ),
    read: named(
      `select substring(bytes from $4::integer for $5::integer) as bytes from ${piece}
       where upload = $1 and tenant = $2 and n = $3`,
    ),
    total: named(
      `select coalesce(sum(size), 0) as total from ${blob} where uid = $1 and tenant = $2`,
    ),
    remove: named(`delete from ${blob} where uid = $1 and tenant = $2 returning size`),
    old: named(
      `select distinct uid, tenant from ${blob} where tenant = $4 and uid > $2 and ${isOld("$1")}
       order by uid limit $3`,
    ),
    oldAcross: named(`select uid, tenant from ${schema}.old_blob_places($1, $2, $3)`),
    keep: named(
      `update ${blob} set named = true
       where uid = $1 and tenant = $2 and hash = any ($3::bytea[]) and not named`,
    ),
    sweep: named(
      `delete from ${blob} where uid = $1 and tenant = $2 and ${isOld("$3")} returning size`,
    ),
  };
}
