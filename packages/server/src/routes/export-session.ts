import type { SessionId } from "@millrace/core";
import type { SessionRecord, SessionStore } from "@millrace/core/ports";
import { readNumberedItems } from "@millrace/core/reading";
import { encodeMessage, publicFact } from "@millrace/core/wire";
import type { RouteContext, RouteWork } from "../http/route-context.ts";
import { sessionOf } from "./common.ts";
import { tagged } from "./etag.ts";
import { html, markdown } from "./export-text.ts";
import type { ExportFormat } from "./export-text.ts";

const factsAtOnce = 256;
const itemsAtOnce = 50;
/** Sub-agents' sessions in one export. */
const maxChildren = 1_000;

/**
 * A session as a file: its facts as lines of JSON, or its items for people. It is read up to the head at
 * its start, a page at a time and at the pace of the connection, while a run may go on.
 */
export const exportSession: RouteWork = async (context) => {
  const { store, query } = context;
  const session = sessionOf(context);
  const { uid, sessionId, status } = session;
  const format = formats[(query["format"] ?? "jsonl") as keyof typeof formats]; // of the route's shape
  const withChildren = query["children"] === true;
  const head = await store.head(uid);
  const answer = () => ({
    status: 200,
    headers: {
      "content-type": format.mediaType,
      "content-disposition": `attachment; filename="${fileName(sessionId)}.${format.extension}"`,
    },
    bytes: encoded(format.write(context, { ...session, head }, withChildren)),
  });
  // Sub-agents that work on change without a fact of their parent.
  if (withChildren && status !== "idle") return answer();
  const tag = `"${uid}.${head}.${format.extension}${withChildren ? ".children" : ""}"`;
  return tagged(context, tag, answer);
};

/** Where facts are read, and who may read those of a sub-agent: asked for each, when it is its turn. */
type Source = Pick<RouteContext, "store" | "open">;

interface Writing {
  readonly mediaType: string;
  readonly extension: string;
  readonly write: (
    from: Source,
    session: SessionRecord,
    withChildren: boolean,
  ) => AsyncGenerator<string, void, undefined>;
}

const formats = {
  jsonl: {
    mediaType: "application/x-ndjson",
    extension: "jsonl",
    write: async function* (from, session, withChildren) {
      for await (const each of family(from, session, withChildren))
        yield* factLines(from.store, each);
    },
  },
  markdown: writing(markdown),
  html: writing(html),
} as const satisfies Readonly<Record<string, Writing>>;

function writing(format: ExportFormat): Writing {
  const { mediaType, extension } = format;
  return {
    mediaType,
    extension,
    write: async function* (from, session, withChildren) {
      yield format.head(session.sessionId, session.title);
      for await (const each of family(from, session, withChildren)) {
        if (each.uid !== session.uid) yield format.child(each.sessionId);
        yield* itemTexts(from.store, each, format);
      }
      yield format.foot;
    },
  };
}

/** The session, and those of its sub-agents in the order in which they were begun. */
async function* family(
  { store, open }: Source,
  root: SessionRecord,
  withChildren: boolean,
): AsyncGenerator<SessionRecord, void, undefined> {
  yield root;
  if (!withChildren) return;
  const seen = new Set<SessionId>([root.sessionId]);
  // A list is iterated over what is added meanwhile.
  const sessions: SessionRecord[] = [root];
  for (const session of sessions) {
    for await (const fact of factsOf(store, session)) {
      if (fact.type !== "tool_execution_started" || fact.childSessionId === undefined) continue;
      if (seen.has(fact.childSessionId) || seen.size > maxChildren) continue;
      seen.add(fact.childSessionId);
      const child = await open(fact.childSessionId, "read");
      if (child === undefined) continue;
      sessions.push(child);
      yield child;
    }
  }
}

async function* factsOf(
  store: SessionStore,
  { uid, head }: SessionRecord,
): AsyncGenerator<Awaited<ReturnType<SessionStore["read"]>>[number], void, undefined> {
  for (let after = 0; after < head;) {
    const facts = await store.read(uid, { after, limit: Math.min(factsAtOnce, head - after) });
    yield* facts;
    after = facts.at(-1)?.n ?? head;
  }
}

async function* factLines(
  store: SessionStore,
  session: SessionRecord,
): AsyncGenerator<string, void, undefined> {
  for await (const fact of factsOf(store, session)) yield `${encodeMessage(publicFact(fact))}\n`;
}

async function* itemTexts(
  store: SessionStore,
  { uid, head }: SessionRecord,
  format: ExportFormat,
): AsyncGenerator<string, void, undefined> {
  const read = { store, uid, before: head + 1, limit: itemsAtOnce };
  let page = await readNumberedItems({ ...read, after: 0 });
  for (;;) {
    for (const { item } of page.items) yield format.item(item);
    const after = page.items.at(-1)?.n;
    if (!page.more || after === undefined) return;
    page = await readNumberedItems({ ...read, after, changes: page.changes });
  }
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const text of texts) if (text !== "") yield Buffer.from(text);
}

function fileName(sessionId: string): string {
  return sessionId.replaceAll(/[^A-Za-z0-9._~-]/g, "_").slice(0, 128);
}
