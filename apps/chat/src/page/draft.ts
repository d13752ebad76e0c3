import { useState } from "react";

/** What a person has written and not sent. */
export interface Draft {
  readonly text: string;
  readonly files: readonly File[];
}

export const emptyDraft: Draft = { text: "", files: [] };

/** By session, so that looking at another one loses nothing. */
const drafts = new Map<string, Draft>();

/** The draft of a session, and how it is changed. */
export function useDraft(id: string): readonly [Draft, (draft: Draft) => void] {
  const [draft, setDraft] = useState(() => drafts.get(id) ?? emptyDraft);
  const change = (next: Draft): void => {
    drafts.set(id, next);
    setDraft(next);
  };
  return [draft, change];
}
