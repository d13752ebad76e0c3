import type { Json, Part } from "@millrace/core";

/** The options of a part as they were given, which may be anything. */
export function givenOptions(part: Part | undefined): Json | undefined {
  return part === undefined || part.kind === "opaque" ? undefined : part.metadata?.["options"];
}
