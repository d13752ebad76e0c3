import type { Fact, RunId } from "@millrace/core";
import type { SecretNoticed } from "@millrace/core/reading";
import { warn } from "@millrace/core/checks";
import { secretsInData } from "@millrace/core/secrets";

/** A source of content, as a notice names it. */
type ContentSource = Omit<SecretNoticed, "type" | "secret" | "runId"> & {
  readonly runId?: RunId | undefined;
};

/**
 * The notices of registered secrets in the content of a fact. Whole items are searched, so that a secret
 * that was streamed in pieces is found. Each content is searched once: a prompt when it is accepted, all
 * else in its item. Questions repeat the input of a call, which its item has.
 */
export function noticesOf(fact: Fact): readonly SecretNoticed[] {
  const { sessionId, time } = fact;
  if (fact.type === "input_accepted") {
    const parts = "parts" in fact.input ? fact.input.parts : [];
    return noticesIn(parts, { sessionId, time, author: "user" });
  }
  if (fact.type !== "item_committed" && fact.type !== "item_replaced") return [];
  const { item, runId } = fact;
  if (item.author === "user") return [];
  const { id: itemId, author } = item;
  return noticesIn([item.parts, item.metadata], { sessionId, time, author, runId, itemId });
}

/** The notices of registered secrets in content that no fact has, such as a draft that was given up. */
export function noticesIn(
  content: unknown,
  { runId, ...source }: ContentSource,
): readonly SecretNoticed[] {
  return [...secretsInData(content)].map((secret) => {
    warnOnce(secret);
    const run = runId === undefined ? {} : { runId };
    return { type: "secret_noticed", secret, ...source, ...run };
  });
}

const warned = new Set<string>();

/** For programs without observers: one warning of the process for each secret. */
function warnOnce(secret: string): void {
  if (warned.has(secret)) return;
  warned.add(secret);
  const message = `the secret ${secret} stands in the content of a session. It was stored and sent as it is: revoke it, and see the event secret_noticed for the source`;
  warn("MILLRACE_SECRET_IN_CONTENT", message);
}
