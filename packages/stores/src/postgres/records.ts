import { isDeepStrictEqual } from "node:util";
import type { PageQuery, SessionRecord, SessionStore, UpdateRequest } from "@millrace/core/ports";
import {
  checkUpdate,
  cutPage,
  decodePagePosition,
  defaultPageLimit,
  foldTitle,
} from "@millrace/core/store-kit";
import type { SessionUid } from "@millrace/core";
import type { Bound } from "./connection.ts";
import type { ReadContext } from "./reading.ts";
import { decodeRow, encodeId, encodeMetadata, encodeName, optional, recordOf } from "./row.ts";
import { onlyRow } from "./writing.ts";

/** The calls that list records and change them. A page is one statement, and so is an update. */
export function recordCalls(context: ReadContext): Pick<SessionStore, "page" | "update"> {
  const { connection, statements, tenant } = context;
  return {
    page: async (query = {}) => {
      const bound = bindPage(context, query);
      const [rows = []] = await connection.retrying(() => connection.once(bound));
      const records = rows.map((row) => recordOf(decodeRow(row), tenant));
      return cutPage(records, query.limit ?? defaultPageLimit);
    },
    update: async (uid, change) => {
      checkUpdate(change);
      const update = bindUpdate(context, uid, change);
      const find = { statement: statements.row, values: [uid, tenant] };
      return connection.retrying(async (again) => {
        const [[changed] = [], found] = await connection.once(update, find);
        const record = recordOf(
          changed === undefined ? onlyRow(uid, found) : decodeRow(changed),
          tenant,
        );
        // An earlier try may have been stored, and only its answer lost.
        const isUpdated = changed !== undefined || (again && holds(record, change));
        return { outcome: isUpdated ? "updated" : "moved", record };
      });
    },
  };
}

function bindPage({ statements, tenant }: ReadContext, query: PageQuery): Bound {
  const { owner, parent, status, title, after, limit = defaultPageLimit } = query;
  const from = after === undefined ? undefined : decodePagePosition(after);
  const statement = statements.page({
    owner: owner !== undefined,
    parent: parent !== undefined,
    status: status !== undefined,
    due: status !== undefined && status !== "idle",
    title: title !== undefined,
    after: from !== undefined,
  });
  const values = [
    ...(owner === undefined ? [] : [encodeId(owner)]),
    ...(parent === undefined ? [] : [encodeName(parent)]),
    ...(status === undefined ? [] : [status]),
    ...(title === undefined ? [] : [encodeId(foldTitle(title))]),
    ...(from === undefined ? [] : [from.updatedAt, from.uid]),
  ];
  return { statement, values: [tenant, limit + 1, ...values] };
}

function bindUpdate(
  { statements, tenant }: ReadContext,
  uid: SessionUid,
  { title, metadata, revision }: UpdateRequest,
): Bound {
  const named = title ?? undefined;
  const texts = [title !== undefined, optional(named), optional(named && foldTitle(named))];
  const changed = metadata === undefined ? null : encodeMetadata(uid, metadata);
  return {
    statement: statements.update,
    values: [uid, tenant, revision ?? null, ...texts, changed],
  };
}

/** True if the record is as this change makes it. */
function holds(record: SessionRecord, { title, metadata, revision = 0 }: UpdateRequest): boolean {
  if (record.revision !== revision + 1) return false;
  if (title !== undefined && (title ?? undefined) !== record.title) return false;
  return metadata === undefined || isDeepStrictEqual(metadata, record.metadata);
}
