import { visibleText } from "@millrace/client/parts";
import { useSyncExternalStore } from "react";
import type { ReactNode } from "react";

/** Something that a person asked for and that was not done. */
interface Notice {
  readonly what: string;
  readonly why: string;
}

/** More would cover the page, and the newest is the one that was just asked for. */
const mostShown = 3;

let notices: readonly Notice[] = [];
const listeners = new Set<() => void>();

function show(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** For a rejected promise: shows a notice of what failed, and why. */
export function reportFailure(what: string): (error: unknown) => void {
  return (error) => {
    const why = error instanceof Error ? error.message : String(error);
    const others = notices.filter((notice) => notice.what !== what);
    show([...others, { what, why }].slice(-mostShown));
  };
}

/** What was not done, until the person has read it. */
export function Notices(): ReactNode {
  const shown = useSyncExternalStore(subscribe, () => notices);
  return (
    <div className="notices">
      {shown.map((notice) => (
        <div key={notice.what} className="notice" role="alert">
          <p>
            <strong>{notice.what}</strong> <bdi>{visibleText(notice.why)}</bdi>
          </p>
          <button
            className="icon"
            aria-label={`Close: ${notice.what}`}
            onClick={() => show(notices.filter((each) => each !== notice))}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
