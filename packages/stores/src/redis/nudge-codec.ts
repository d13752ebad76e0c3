import { parseJsonText } from "@millrace/core/wire";
import type { Nudge } from "@millrace/core/store-kit";

/** One nudge as JSON. */
export function encodeNudge(nudge: Nudge): string {
  return JSON.stringify(nudge);
}

/** Reads what `encodeNudge` wrote. Undefined for anything else: a nudge may be lost. */
export function decodeNudge(text: string): Nudge | undefined {
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, lane } = value as Readonly<Record<string, unknown>>; // any object has any key
  if (kind === "wake" || kind === "abort") return { kind };
  return kind === "reseed" && isCount(lane) ? { kind, lane } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
