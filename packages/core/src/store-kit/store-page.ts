import { MillraceError } from "../errors.ts";
import { sessionUid } from "../ids.ts";
import type { PageQuery, SessionPage, SessionRecord } from "../ports/session-record.ts";
import { isChild } from "./child.ts";

/** A place in the order of pages: newest activity first, and of the same time by uid, downwards. */
type PagePosition = Pick<SessionRecord, "updatedAt" | "uid">;

/** What a page orders and chooses by. */
export type PageEntry = PagePosition &
  Pick<SessionRecord, "sessionId" | "owner" | "title" | "parent" | "status">;

/** Some of what a page is made of, and where the next one begins. */
type PageOf<Entry> = Omit<SessionPage, "records"> & { readonly records: readonly Entry[] };

/** The sessions of a page if none is asked for. */
export const defaultPageLimit = 50;

/** A place as `next` of a page has it. */
function encodePagePosition({ updatedAt, uid }: PagePosition): string {
  return `${updatedAt.toString(36)}.${uid}`;
}

/** The place that a page was asked to begin after. Throws `invalid_id` for what no page has given. */
export function decodePagePosition(after: string): PagePosition {
  const [, time = "", uid = ""] = /^([0-9a-z]{1,11})\.([A-Za-z0-9_-]{1,64})$/.exec(after) ?? [];
  const updatedAt = Number.parseInt(time, 36);
  if (Number.isSafeInteger(updatedAt)) return { updatedAt, uid: sessionUid(uid) };
  throw new MillraceError("invalid_id", `no page ends with ${JSON.stringify(after.slice(0, 100))}`);
}

/** A title as it is compared: the same function for what is kept and for what is looked for. */
export function foldTitle(title: string): string {
  return title.toLowerCase();
}

/** Below 0 if the left one comes first. */
function comparePagePositions(left: PagePosition, right: PagePosition): number {
  if (left.updatedAt !== right.updatedAt) return right.updatedAt - left.updatedAt;
  return left.uid === right.uid ? 0 : left.uid < right.uid ? 1 : -1;
}

/** A page of all sessions of a store that has them in memory, in any order. Sorts what the query leaves. */
export function pageOf<Entry extends PageEntry>(
  records: Iterable<Entry>,
  query: PageQuery = {},
): PageOf<Entry> {
  const { limit = defaultPageLimit, after } = query;
  const from = after === undefined ? undefined : decodePagePosition(after);
  const found: Entry[] = [];
  for (const record of records) {
    if (matches(record, query) && (from === undefined || comparePagePositions(from, record) < 0)) {
      found.push(record);
    }
  }
  return cutPage(found.toSorted(comparePagePositions).slice(0, limit + 1), limit);
}

/** A page of records in their order, of which there may be one more than fits: then there is a next page. */
export function cutPage<Entry extends PagePosition>(
  records: readonly Entry[],
  limit: number,
): PageOf<Entry> {
  const page = records.slice(0, limit);
  const last = page.at(-1);
  return records.length > limit && last !== undefined
    ? { records: page, next: encodePagePosition(last) }
    : { records: page };
}

function matches(record: PageEntry, { owner, parent, status, title }: PageQuery): boolean {
  if (parent === undefined ? isChild(record) : record.parent?.sessionId !== parent) return false;
  if (owner !== undefined && record.owner !== owner) return false;
  if (status !== undefined && record.status !== status) return false;
  return title === undefined || hasTitle(record, title);
}

function hasTitle({ title }: PageEntry, part: string): boolean {
  return title !== undefined && foldTitle(title).includes(foldTitle(part));
}
