import { parseJson } from "@millrace/core/wire";

/** Which segment of which run: all that an id encodes, so that nothing has to be stored for it. */
export interface SegmentRef {
  readonly sessionId: string;
  readonly runId: string;
  /** The fact after which it begins. */
  readonly from: number;
}

/** A name for a segment. It opens nothing: who reads it is asked for the session. */
export function nameOf(prefix: string, { sessionId, runId, from }: SegmentRef): string {
  const text = JSON.stringify([sessionId, runId, from]);
  return `${prefix}${Buffer.from(text).toString("base64url")}`;
}

/** The segment of a name, or undefined if it is none of ours. */
export function segmentOf(prefix: string, name: string): SegmentRef | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const text = Buffer.from(name.slice(prefix.length), "base64url").toString();
  const [sessionId, runId, from] = listOf(text);
  if (!isName(sessionId) || !isName(runId)) return undefined;
  if (typeof from !== "number" || !Number.isSafeInteger(from) || from < 0) return undefined;
  const ref = { sessionId, runId, from };
  return nameOf(prefix, ref) === name ? ref : undefined;
}

/** Whether a session or a run can have this name. Stores are not asked for any other. */
function isName(value: unknown): value is string {
  if (typeof value !== "string" || !value.isWellFormed()) return false;
  return /^[^/\\\p{Cc}]{1,256}$/u.test(value);
}

function listOf(text: string): readonly unknown[] {
  const parsed = parseJson(text);
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
}

/** The prefix of responses' ids. */
export const responsePrefix = "resp_";

/** The call of a client's tool in chat completions: the next request names nothing else. */
export interface CallRef extends SegmentRef {
  readonly callId: string;
}

const callPrefix = "call_";

/** The id that a call has in chat completions. */
export function callNameOf({ callId, ...segment }: CallRef): string {
  return `${nameOf(callPrefix, segment)}.${Buffer.from(callId).toString("base64url")}`;
}

/** The call of such an id, or undefined. */
export function callOfName(name: string): CallRef | undefined {
  const [segment = "", call = "", ...others] = name.split(".");
  const ref = segmentOf(callPrefix, segment);
  const callId = Buffer.from(call, "base64url").toString();
  if (ref === undefined || callId === "" || others.length > 0) return undefined;
  return { ...ref, callId };
}
