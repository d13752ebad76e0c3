/** What a write holds. It has no part that it does not need: each costs the server some time. */
export interface WriteShape {
  readonly facts: boolean;
  readonly items: boolean;
  /** Which ids must not be in use: of an item, of a key, of an input. */
  readonly unused: readonly [item: boolean, key: boolean, input: boolean];
}

/** The beginning of a statement that inserts facts. */
export const insertFactColumns =
  "insert into fact (uid, tenant, token, n, type, about, key, body, hash) select $1, $2";

/** The conditions that an id is not in use. */
const unusedTexts = [
  (id: string) => `(select from item where uid = $1 and tenant = $2 and item_id = ${id})`,
  (id: string) => `(select from fact where uid = $1 and tenant = $2 and key = ${id})`,
  (id: string) =>
    `(select from fact where uid = $1 and tenant = $2 and about = ${id} and type = 'input_accepted')`,
] as const;

/**
 * Everything that a call writes, by compare-and-set on the version and the hash of the session's row.
 * The parameters are those of the row, then of the facts, of the items, and the ids that must not be in
 * use. No other call can use one while the version is the same, so the check needs no further lock.
 */
export function writeText({ facts, items, unused }: WriteShape): string {
  let last = 14;
  const next = (): string => `$${(last += 1)}`;
  const parts: string[] = [];
  if (facts) {
    const token = next();
    const types = ["bigint", "text", "bytea", "bytea", "text", "bytea"];
    const columns = types.map((type) => `${next()}::${type}[]`);
    parts.push(`facts as (
      ${insertFactColumns}, ${token}, given.* from won, unnest(${columns.join(", ")}) as given)`);
  }
  if (items) {
    parts.push(`items as (
      insert into item (uid, tenant, item_id, n)
      select $1, $2, given.* from won, unnest(${next()}::bytea[], ${next()}::bigint[]) as given
      on conflict (uid, item_id) do update set n = excluded.n)`);
  }
  const conditions = unusedTexts.flatMap((text, at) =>
    unused[at] === true ? `and not exists ${text(next())}` : [],
  );
  const won = `won as (
    update session set incarnation = $5, head = $6, closed = $7, closed_lanes = $8, floors = $9,
      chain = $10, version = version + 1, run = $11, queue = $12, driver = $13,
      due_since = case when $14::boolean then coalesce(due_since, clock_timestamp()) end
    where uid = $1 and tenant = $2 and version = $3 and chain = $4 ${conditions.join(" ")}
    returning uid)`;
  return `with ${[won, ...parts].join(", ")} select uid from won`;
}
