import { MillraceError } from "@millrace/core";
import { decodeMessage, encodeMessage, isJsonObject, schemaVersion } from "@millrace/core/wire";
import { sessionId } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { FactBody, FactOf } from "@millrace/core/writing";

/** A fact that was read, or what is wrong with its text. */
export type ReadFact =
  | { readonly ok: true; readonly fact: Fact }
  | { readonly ok: false; readonly message: string };

/**
 * A fact as one JSON object, in the form of the wire. An opaque fact that was made by this process has
 * no envelope inside, so it gets one around it.
 */
export function encodeFact(fact: Fact): string {
  if (fact.type !== "opaque" || carriesEnvelope(fact)) return encodeMessage(fact);
  return JSON.stringify(fact);
}

/** Reads what `encodeFact` wrote, also by a later release. Never throws. */
export function decodeFact(text: string): ReadFact {
  const decoded = decodeMessage(text);
  if (!decoded.ok) return { ok: false, message: decoded.fault.message };
  const message = decoded.value;
  if (!("n" in message)) return { ok: false, message: "expected a fact" };
  if (message.type !== "opaque" || message.original["type"] !== "opaque") {
    return { ok: true, fact: message };
  }
  const { original } = message.original;
  return isJsonObject(original)
    ? { ok: true, fact: { ...message, original } }
    : { ok: false, message: "expected what is in the envelope" };
}

/**
 * Throws `invalid_event` for a fact that could be written and not read again. One such line would make
 * a whole session unreadable, so it is found before anything is stored.
 */
export function checkBodies(bodies: readonly FactBody[]): void {
  for (const body of bodies) {
    // Any envelope will do: the store makes the real one.
    const fact: Fact = { ...body, v: schemaVersion, n: 1, sessionId: anyId, time: 0 };
    const read = decodeFact(encodeFact(fact));
    if (read.ok && read.fact.type === body.type) continue;
    const why = read.ok ? `it reads as ${read.fact.type}` : read.message;
    throw new MillraceError("invalid_event", `a fact ${body.type} can't be stored: ${why}`);
  }
}

const anyId = sessionId("any");

/** Whether an opaque fact was read from a file or a wire, and its original decodes to the same fact. */
function carriesEnvelope(fact: FactOf<"opaque">): boolean {
  const { original } = fact;
  const same = (["v", "n", "sessionId", "time"] as const).every(
    (key) => original[key] === fact[key],
  );
  if (!same || original["type"] === "opaque") return false;
  const decoded = decodeMessage(encodeMessage(fact));
  return decoded.ok && "n" in decoded.value && decoded.value.type === "opaque";
}
