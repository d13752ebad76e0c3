import { MillraceError } from "@millrace/core";
import type { Json } from "@millrace/core";
import type { PageQuery, SessionRecord } from "@millrace/core/ports";
import { isJsonObject } from "@millrace/core/wire";
import { isChildOf, removeSession as removeStored } from "@millrace/core/store-kit";
import { Problem } from "../http/problem.ts";
import type { RouteContext, RouteWork } from "../http/route-context.ts";
import type { Metadata } from "../http/types.ts";
import { sessionOf, actorOf, inboxOf } from "./common.ts";
import { withMarkOf } from "./created-by.ts";
import { hashTag, jsonText, tagged } from "./etag.ts";
import { checkMetadata } from "./make-once.ts";
import { fullSessionJson, matchesTag, sessionJson, sessionTag } from "./session-json.ts";

/** A page of own sessions, or of a session's sub-agents; for admins and services of any owner. */
export const listSessions: RouteWork = async (context) => {
  const { store, query } = context;
  const { status, limit, after } = query as PageQuery; // of the route's shape
  const title = query["q"] as string | undefined;
  const parent = query["parent"] as string | undefined;
  const asked = ownerAsked(context);
  await context.admit("list", { id: "", owner: asked, metadata: {} });
  const above = parent === undefined ? undefined : await context.open(parent, "read");
  if (parent !== undefined && above === undefined) return { status: 200, json: { sessions: [] } };
  const owner = parent === undefined ? asked : undefined;
  const page = await readPage(store, { owner, parent, status, title, limit, after });
  // The store finds children by their parent's name, which may have been another session's before.
  const own = page.records.filter((record) => above === undefined || isChildOf(record, above));
  const sessions = own.map((record) => sessionJson(record));
  const text = JSON.stringify({ sessions, next: page.next });
  return tagged(context, hashTag(text), () => jsonText(200, text));
};

/** A session's record, with its usage and the run that is on. */
export const getSession: RouteWork = async (context) => {
  const session = sessionOf(context);
  const json = await fullSessionJson(context.store, session);
  return tagged(context, sessionTag({ ...session, head: json.head }), () => ({
    status: 200,
    json,
  }));
};

/** Changes title and metadata by a merge patch (RFC 7396). Without `If-Match` the latest change wins. */
export const updateSession: RouteWork = async (context) => {
  const { store, limits } = context;
  const ifMatch = context.header("if-match");
  const { title, metadata } = context.body as UpdateBody; // of the route's shape
  let session = sessionOf(context);
  for (;;) {
    if (ifMatch !== undefined && !matchesTag(ifMatch, session)) {
      throw new Problem("precondition_failed", "the session was changed: read it again");
    }
    const merged = metadata === undefined ? undefined : mergedInto(session, metadata);
    checkMetadata(merged, limits.metadataBytes);
    if (merged !== undefined) await context.admitMetadata(session, merged);
    const { revision } = session;
    const change = { title: title === "" ? null : title, metadata: merged, revision };
    const { outcome, record } = await store.update(session.uid, change);
    session = record;
    if (outcome === "moved") continue;
    const json = await fullSessionJson(store, record);
    return { status: 200, headers: { etag: sessionTag({ ...record, head: json.head }) }, json };
  }
};

interface UpdateBody {
  readonly title?: string | null;
  readonly metadata?: Metadata | null;
}

/** What is listed by default is the caller's own. */
function ownerAsked({ who, query }: RouteContext): string {
  const asked = query["owner"];
  if (typeof asked !== "string" || asked === who.user) return who.user;
  const isFree = ["admin", "service"].some((role) => who.roles?.includes(role) === true);
  if (isFree) return asked;
  throw new Problem("forbidden", "only admins and services list the sessions of others");
}

async function readPage(
  store: RouteContext["store"],
  query: PageQuery,
): ReturnType<RouteContext["store"]["page"]> {
  try {
    return await store.page(query);
  } catch (error) {
    if (!MillraceError.is(error) || error.code !== "invalid_id") throw error;
    throw new Problem("invalid_request", "`after` is not the `next` of a page", {
      pointer: "/after",
    });
  }
}

function mergedInto({ metadata }: SessionRecord, patch: Metadata | null): Metadata {
  const merged = patch === null ? {} : (mergePatch(metadata, patch) as Metadata); // of two objects
  return withMarkOf(metadata, merged);
}

/** RFC 7396: `null` removes, objects are merged, all else replaces. */
function mergePatch(before: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const fields = new Map(isJsonObject(before) ? Object.entries(before) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) fields.delete(name);
    else fields.set(name, mergePatch(fields.get(name) ?? null, value));
  }
  return Object.fromEntries(fields);
}

/**
 * Stops the run, then removes the session with its sub-agents, blobs and live lanes. Its viewers end with
 * `removed`. Work that is under way elsewhere ends when it stores something next.
 */
export const removeSession: RouteWork = async (context) => {
  const { store, log, blobs } = context;
  const session = sessionOf(context);
  const { uid, sessionId, tenant, status } = session;
  // The stop reaches tools at once. Without its answer the session is removed all the same.
  if (status !== "idle") {
    await inboxOf(context, session).abort({ reason: "the session is removed" });
    context.runs.note(session, () => store.head(uid));
  }
  await removeStored({ store, log, blobs, tenant, sessionId, actor: actorOf(context) });
  return { status: 204 };
};
