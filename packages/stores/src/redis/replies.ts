/** The reply to SMEMBERS: a set or a list of strings. */
export function namesOf(reply: unknown): readonly string[] {
  return [...(reply as Iterable<string>)];
}

/** XADD with an id that is not above the last one. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.message.includes("equal or smaller");
}

/** The node became a replica. The address may already lead to its new primary. */
export function isDemotion(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith("READONLY");
}
