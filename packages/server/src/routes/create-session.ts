import type { Json } from "@millrace/core";
import { inputId as admitInput, runIdOf } from "@millrace/core/writing";
import type { FirstInput } from "@millrace/core/ports";
import { Problem } from "../http/problem.ts";
import type { RouteContext, RouteWork } from "../http/route-context.ts";
import type { Metadata } from "../http/types.ts";
import { actorOf, pathSegment, replayedHeader, traceOf } from "./common.ts";
import { createdBy, generatedId, marked } from "./created-by.ts";
import { checkMetadata, makeOnce } from "./make-once.ts";
import { attachmentsOf, sentParts } from "./sent-parts.ts";
import type { SentInput } from "./sent-parts.ts";
import { fullSessionJson } from "./session-json.ts";

interface CreateBody {
  readonly id?: string;
  readonly title?: string;
  readonly metadata?: Metadata;
  readonly owner?: string;
  readonly input?: SentInput;
}

/** Makes a session, and stores its first input in the same step. A repeat by its key gives the same session. */
export const createSession: RouteWork = async (context) => {
  const { who, key = "", store, runs, limits } = context;
  const body = context.body as CreateBody; // of the route's shape
  const { title, metadata, input } = body;
  checkMetadata(metadata, limits.metadataBytes);
  const by = createdBy(who, key, body as unknown as Json);
  const sessionId = body.id ?? generatedId(by);
  const owner = ownerOf(context, body.owner);
  await context.admit("create", { id: sessionId, owner, metadata: metadata ?? {} });
  const first = input && (await firstInput(context, input));
  const named = { sessionId, owner, begins: first !== undefined };
  const { record, replayed } = await makeOnce(context, named, by, () =>
    store.create({ sessionId, owner, title, metadata: marked(metadata, by), first }),
  );
  // As the session was before its first input: without a run. A repeat wakes it, too: the process of the
  // first request may have died before it did.
  if (first !== undefined) {
    runs.wake(replayed ? record : { ...record, status: "idle" }, record.head);
  }
  const inputId = first && admitInput(first.key);
  const begun =
    inputId === undefined
      ? {}
      : { inputId, runId: input?.kind === "prompt" ? runIdOf(inputId) : undefined };
  const location = `sessions/${pathSegment(record.sessionId)}`;
  return {
    status: 201,
    headers: { location, ...replayedHeader(replayed) },
    json: { ...(await fullSessionJson(store, record)), ...begun },
  };
};

/** The same fact as the inbox makes of an input, so that a repeat by `inputs` is the same input. */
async function firstInput(context: RouteContext, input: SentInput): Promise<FirstInput> {
  const { key = "" } = context;
  const parts = await sentParts(input, attachmentsOf(context), "/input");
  const inputId = admitInput(`input_${key}`);
  const { kind, options } = input;
  const trace = traceOf(context);
  const asked = options === undefined ? {} : { options };
  const body = {
    type: "input_accepted",
    inputId,
    input: { kind, parts, ...asked },
    actor: actorOf(context),
    ...(trace === undefined ? {} : { trace }),
  } as const;
  return { key: inputId, body };
}

function ownerOf({ who }: RouteContext, asked: string | undefined): string {
  if (asked === undefined || asked === who.user) return who.user;
  if (who.roles?.includes("service") === true) return asked;
  const detail = "only a service makes sessions for other owners";
  throw new Problem("forbidden", detail, { pointer: "/owner" });
}
