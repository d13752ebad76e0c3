import { blobsInFact, copyBlobs } from "@millrace/core/blobs";
import { inputId } from "@millrace/core/writing";
import { forkPointOf } from "@millrace/core/reading";
import { Problem } from "../http/problem.ts";
import type { RouteWork } from "../http/route-context.ts";
import type { Metadata } from "../http/types.ts";
import { pathSegment, replayedHeader, sessionOf } from "./common.ts";
import { createdBy, generatedId, marked, withoutMark } from "./created-by.ts";
import { checkMetadata, makeOnce } from "./make-once.ts";
import { fullSessionJson } from "./session-json.ts";

interface ForkBody {
  readonly itemId: string;
  readonly id?: string;
  readonly title?: string;
  readonly metadata?: Metadata;
}

/** Makes a session that begins with another one's facts up to an item. It belongs to the caller. */
export const forkSession: RouteWork = async (context) => {
  const { who, key = "", store, runs, blobs, limits } = context;
  const session = sessionOf(context);
  const body = context.body as ForkBody; // of the route's shape
  const { itemId, title } = body;
  checkMetadata(body.metadata, limits.metadataBytes);
  const by = createdBy(who, key, { ...body, from: session.uid });
  const sessionId = body.id ?? generatedId(by);
  const { user: owner } = who;
  const own = body.metadata ?? withoutMark(session.metadata);
  await context.admit("create", { id: sessionId, owner, metadata: own });
  const metadata = marked(own, by);
  const { record, replayed } = await makeOnce(
    context,
    { sessionId, owner, begins: false },
    by,
    async () => {
      const facts = await store.read(session.uid);
      // Of the name of the fork, so that a repeat after a crash adds the same.
      const point = forkPointOf(facts, itemId, inputId(`input_fork-${by.key}`));
      if (point === undefined) {
        throw new Problem("unknown_item", "this session has no such item", { pointer: "/itemId" });
      }
      return await store.fork(session.uid, { sessionId, owner, title, metadata, ...point });
    },
  );
  // Also for a repeat: the first call may have ended before all were copied.
  const facts = await store.read(record.uid);
  await copyBlobs(blobs, session, record, facts.flatMap(blobsInFact));
  // One that was cut out of a run has the stop of that run.
  if (record.status !== "idle") runs.note(record, async () => record.head);
  const location = `../${pathSegment(record.sessionId)}`;
  return {
    status: 201,
    headers: { location, ...replayedHeader(replayed) },
    json: await fullSessionJson(store, record),
  };
};
