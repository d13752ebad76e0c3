import type { SessionRecord } from "@millrace/core/ports";
import { createdBy, makeOnce, marked, Problem } from "@millrace/server/dialect";
import type { RouteContext } from "@millrace/server/dialect";
import { keyOf } from "./key-of.ts";

/** The session of a chat. A page names it before it is there, so the first message makes it. */
export async function openOrMake(context: RouteContext, id: string): Promise<SessionRecord> {
  const found = await context.open(id, "send");
  if (found !== undefined) return found;
  if ((await context.open(id, "read")) !== undefined)
    throw new Problem("forbidden", "you may read this session, but not send");
  const { who, store } = context;
  const owner = who.user;
  await context.admit("create", { id, owner, metadata: {} });
  const by = createdBy(who, keyOf("chat", id), {});
  const named = { sessionId: id, owner, begins: true };
  const { record } = await makeOnce(context, named, by, () =>
    store.create({ sessionId: id, owner, metadata: marked({}, by) }),
  );
  return record;
}
