import type { TextStorage } from "./outbox/outbox.ts";
import type { ClientView } from "./session/types.ts";

/** How far a person has seen sessions, on this device. */
export interface SeenMarks {
  /** All that is shown of a session is seen. A page calls it while the session is on its screen. */
  readonly mark: (session: SessionItems) => void;
  /** Whether something has come since. True for a session that was never marked. For rows of a list too. */
  readonly isUnread: (session: { readonly id: string; readonly head: number }) => boolean;
  /** The items that have come since, of those that are shown; all of them if none of those was seen. */
  readonly newItems: (session: SessionItems) => number;
}

type SessionItems = Pick<ClientView, "items" | "head"> & { readonly id: string };

/** A session's head when it was seen, and its last item that was complete. */
type Mark = readonly [head: number, itemId: string];

const name = "millrace:seen";
/** The sessions that were marked last; older ones are unread again. */
const mostMarks = 500;

/**
 * Marks of what was seen, in `localStorage` unless another is given. They stay on this device: nothing of
 * them is sent. Where nothing can be stored they last as long as the result.
 */
export function seenMarks(storage?: Pick<TextStorage, "getItem" | "setItem">): SeenMarks {
  let marks: Readonly<Record<string, Mark>> = {};
  const load = (): typeof marks => {
    try {
      const text = (storage ?? localStorage).getItem(name);
      // Whatever else may stand there has no marks.
      if (text !== null) marks = (JSON.parse(text) as typeof marks | null) ?? {};
    } catch {
      // Not allowed, or not ours.
    }
    return marks;
  };
  return {
    mark: ({ id, head, items }) => {
      const { [id]: before, ...others } = load();
      const last = items.findLast(({ live }) => !live)?.id ?? "";
      if (before?.[0] === head && before[1] === last) return;
      const all = [...Object.entries(others), [id, [head, last]] as const];
      marks = Object.fromEntries(all.slice(-mostMarks));
      try {
        (storage ?? localStorage).setItem(name, JSON.stringify(marks));
      } catch {
        // Full, or not allowed.
      }
    },
    isUnread: ({ id, head }) => head > (load()[id]?.[0] ?? -1),
    newItems: ({ id, items }) => {
      const seen = load()[id]?.[1];
      return items.length - 1 - items.findLastIndex((item) => item.id === seen);
    },
  };
}
