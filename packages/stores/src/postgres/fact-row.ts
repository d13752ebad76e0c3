import { createHash } from "node:crypto";
import { MillraceError } from "@millrace/core";
import type { Fact, SessionId, SessionUid } from "@millrace/core";
import { decodeFact, encodeFact } from "../fact-text.ts";
import { encodeId, encodeKey } from "./row.ts";

/** A fact as the columns of its row. */
export interface FactRow {
  readonly n: number;
  readonly type: string;
  readonly about: Buffer | null;
  readonly key: Buffer | null;
  readonly body: string;
  readonly hash: Buffer;
}

/** What a session's hash chain begins with. */
export interface Beginning {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly metadata: string;
}

const noKey = Buffer.alloc(32);

/** The hash that a session's first fact is chained to. */
export function beginChain({ uid, sessionId, metadata }: Beginning): Buffer {
  const text = JSON.stringify(["millrace", uid, sessionId, metadata]);
  return createHash("sha256").update(text).digest();
}

/** The hash of a fact's row that follows one with the hash `before`. */
export function linkChain(before: Buffer, key: Buffer | null, body: string): Buffer {
  const hash = createHash("sha256").update(before);
  return hash
    .update(key ?? noKey)
    .update(body)
    .digest();
}

/** The rows of facts that follow the hash `chain`. The key belongs to the first one. */
export function encodeFacts(
  facts: readonly Fact[],
  chain: Buffer,
  key?: string,
): readonly FactRow[] {
  let before = chain;
  return facts.map((fact, at) => {
    const own = key === undefined || at > 0 ? null : encodeKey(key);
    const body = encodeFact(fact);
    before = linkChain(before, own, body);
    const about = aboutOf(fact);
    return {
      n: fact.n,
      type: fact.type,
      about: about === undefined ? null : encodeId(about),
      key: own,
      body,
      hash: before,
    };
  });
}

/** Decodes a fact's body. Throws `corrupt_session` for one that no store wrote. */
export function readBody(uid: SessionUid, body: unknown): Fact {
  const read = decodeFact(String(body));
  if (read.ok) return read.fact;
  throw new MillraceError("corrupt_session", `a fact of ${uid} can't be read: ${read.message}`);
}

/** The id of the input or the approval that a fact is about, by which later calls find it. */
export function aboutOf(fact: Fact): string | undefined {
  switch (fact.type) {
    case "input_accepted":
    case "queue_updated":
    case "item_committed":
    case "item_replaced":
      return fact.inputId;
    case "approval_requested":
    case "approval_resolved":
      return fact.approvalId;
    default:
      return undefined;
  }
}
