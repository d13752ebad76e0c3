import type { Statement } from "./connection.ts";
import { rowColumns } from "./row.ts";

/** What a query for a page asks for. Each has a parameter after the tenant and the limit, in this order. */
export interface PageShape {
  readonly owner: boolean;
  readonly parent: boolean;
  readonly status: boolean;
  /** `due`: of a status that only sessions with work have. These are few, and have an index. */
  readonly due: boolean;
  readonly title: boolean;
  readonly after: boolean;
}

/** The SQL of records: their pages and their changes. */
export interface RecordStatements {
  readonly page: (shape: PageShape) => Statement;
  readonly update: Statement;
}

/** The statements. Pages have one for each shape, so that each gets a plan of its own. */
export function recordStatements(named: (text: string) => Statement): RecordStatements {
  const pages = new Map<string, Statement>();
  return {
    page: (shape) => {
      const key = JSON.stringify(shape);
      const known = pages.get(key) ?? named(pageText(shape));
      pages.set(key, known);
      return known;
    },
    // A write that is under way changes other columns, and does not compare these.
    update: named(
      `update session set revision = revision + 1,
         title = case when $4 then $5::bytea else title end,
         title_folded = case when $4 then $6::bytea else title_folded end,
         metadata_now = coalesce($7, metadata_now)
       where uid = $1 and tenant = $2 and ($3::bigint is null or revision = $3)
       returning ${rowColumns}`,
    ),
  };
}

function pageText({ owner, parent, status, due, title, after }: PageShape): string {
  let last = 2;
  const next = (): string => `$${(last += 1)}`;
  const conditions = [
    "tenant = $1",
    ...(owner ? [`owner = ${next()}`] : []),
    parent ? `parent = ${next()}` : "parent is null",
    ...(status ? [`status = ${next()}`] : []),
    ...(due ? ["due_since is not null"] : []),
    ...(title ? [`position(${next()}::bytea in title_folded) > 0`] : []),
    ...(after ? [`(updated_at, uid) < (${next()}::bigint, ${next()})`] : []),
  ];
  return `select ${rowColumns} from session where ${conditions.join(" and ")}
    order by updated_at desc, uid desc limit $2`;
}
