import type { SessionId, Json } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import { readSession } from "@millrace/core/reading";
import type { SessionRecord } from "@millrace/core/ports";
import type { RouteContext, RouteWork } from "../http/route-context.ts";
import { inboxOf, sessionOf, replayedHeader } from "./common.ts";
import { problemOf } from "./refusals.ts";
import { Problem } from "../http/problem.ts";

/** A question as clients see it. */
interface ApprovalJson {
  readonly id: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  /** What the tool gets instead, where its schema changes the input. */
  readonly parsed?: unknown;
  readonly hash: string;
  readonly askedAt: number;
  /** When it counts as denied, if it waits with a limit. */
  readonly expiresAt?: number;
}

/** Sub-agents are nested at most so deep. */
const maxDepth = 8;
/** Sessions that one answer reads at most. */
const maxSessions = 200;

/** The questions that wait for a decision, with those of running sub-agents if they are asked for. */
export const listApprovals: RouteWork = async (context) => {
  const session = sessionOf(context);
  const isDeep = context.query["deep"] === true;
  const approvals = await waitingIn(context, session, isDeep);
  return { status: 200, json: { approvals } };
};

/** Allows or denies a call. The same decision again is 200, the opposite one `settled`. */
export const decideApproval: RouteWork = async (context) => {
  const session = sessionOf(context);
  const { approvalId = "" } = context.params;
  const { decision, reason, hash } = context.body as DecideBody; // of the route's shape
  const inbox = inboxOf(context, session);
  const decide = decision === "allow" ? inbox.allow : inbox.deny;
  const decided = await decide(approvalId, { reason, hash });
  if (!decided.accepted) throw problemOf(decided);
  // The process that asked may be gone: this one then drives on.
  context.runs.wake(session, decided.n);
  return { status: 200, json: { decision: decided.decision, actor: decided.actor } };
};

interface DecideBody {
  readonly decision: "allow" | "deny";
  readonly reason?: string;
  readonly hash?: string;
}

function approvalJson(asked: FactOf<"approval_requested">): Omit<ApprovalJson, "sessionId"> {
  const { approvalId: id, callId, tool, input, parsed, hash, time: askedAt, seconds } = asked;
  const expires = seconds === undefined ? {} : { expiresAt: askedAt + seconds * 1_000 };
  return { id, callId, tool, input, parsed, hash, askedAt, ...expires };
}

/** Each sub-agent is asked about: the facts of a fork name children of its source. */
async function waitingIn(
  { store, open }: Pick<RouteContext, "store" | "open">,
  root: SessionRecord,
  isDeep: boolean,
): Promise<readonly ApprovalJson[]> {
  const found: ApprovalJson[] = [];
  const seen = new Set<SessionId>([root.sessionId]);
  let level: readonly SessionRecord[] = [root];
  for (let depth = 0; level.length > 0 && depth <= maxDepth; depth += 1) {
    const below: SessionRecord[] = [];
    for (const { uid, sessionId } of level) {
      const { state } = (await readSession({ store, uid, sessionId })).paged;
      for (const { asked, answer } of state.approvals) {
        if (answer !== undefined) continue;
        found.push({ sessionId, ...approvalJson(asked) });
      }
      if (!isDeep) continue;
      for (const { childSessionId: child } of state.executions) {
        if (child === undefined || seen.has(child) || seen.size >= maxSessions) continue;
        seen.add(child);
        const record = await open(child, "read");
        if (record !== undefined) below.push(record);
      }
    }
    level = below;
  }
  return found;
}

/** The longest answer of a client's tool. */
const answerBytes = 2 * 1_024 * 1_024;

/** Answers a call that a client carries out, once. Its driver checks the shape. */
export const answerCall: RouteWork = async (context) => {
  const session = sessionOf(context);
  const { callId, itemId, ...answer } = context.body as AnswerBody; // of the route's shape
  const size = Buffer.byteLength(JSON.stringify(answer));
  if (size > answerBytes) {
    const detail = `an answer has at most ${answerBytes} bytes, not ${size}`;
    throw new Problem("too_large", detail, { limit: answerBytes });
  }
  const given =
    answer.error === undefined ? { output: answer.output ?? null } : { error: answer.error };
  const posted = await inboxOf(context, session).answer({ callId, itemId }, given);
  if (!posted.accepted) throw problemOf(posted);
  const headers = replayedHeader(posted.replayed);
  context.runs.wake(session, posted.n);
  return { status: 202, headers, json: { inputId: posted.inputId } };
};

interface AnswerBody {
  readonly callId: string;
  readonly itemId?: string;
  readonly output?: Json;
  readonly error?: string;
}
