import { defaultDraftLimits } from "./draft.ts";
import type { Draft, DraftLimits } from "./draft.ts";
import { checkContent } from "./verify-part.ts";

/** A draft without parts: where the fold of a writer begins. It checks all content. */
export function emptyDraft(limits: DraftLimits = defaultDraftLimits): Draft {
  return { parts: [], fault: undefined, limits, check: checkContent };
}
