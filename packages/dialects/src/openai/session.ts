import type { Json } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import type { SessionRecord } from "@millrace/core/ports";
import type { RouteContext } from "@millrace/server/dialect";
import {
  createdBy,
  generatedId,
  makeOnce,
  marked,
  sessionIdPattern,
} from "@millrace/server/dialect";
import { openOrMake } from "../shared/open-or-make.ts";
import { refused } from "./refused.ts";
import type { Keyed } from "./refused.ts";

const wellFormed = new RegExp(sessionIdPattern);

/** The session that a request names, by `conversation` or by a header. A first message makes it. */
export async function namedSession(
  context: RouteContext,
  conversation: Json | undefined,
): Promise<SessionRecord | undefined> {
  const named = isJsonObject(conversation) ? conversation["id"] : (conversation ?? undefined);
  const header = context.header("millrace-session");
  if (named !== undefined && typeof named !== "string")
    throw refused("conversation is an id", "/conversation");
  if (named !== undefined && header !== undefined && named !== header)
    throw refused("conversation and Millrace-Session name two sessions", "/conversation");
  const id = named ?? header;
  if (id === undefined) return undefined;
  if (!wellFormed.test(id))
    throw refused("a session's name has up to 128 letters, digits, _, ., ~ or -", "/conversation");
  return openOrMake(context, id);
}

/** A session for one request that names none: the same for its repeats. */
export async function newSession(context: Keyed): Promise<SessionRecord> {
  const { who, store, key } = context;
  const owner = who.user;
  const by = createdBy(who, key, { dialect: "openai" });
  const sessionId = generatedId(by);
  await context.admit("create", { id: sessionId, owner, metadata: {} });
  const { record } = await makeOnce(context, { sessionId, owner, begins: true }, by, () =>
    store.create({ sessionId, owner, metadata: marked({}, by) }),
  );
  return record;
}
