import { showElapsed, useElapsed, visibleText } from "@millrace/client/parts";
import { memo, useEffect, useState } from "react";
import type { ReactNode } from "react";
import { useCalm } from "./calm.ts";

/** It stays open for so long after its end, for eyes that are still on it. */
const foldMs = 1_000;

interface ReasoningProps {
  readonly text: string;
  readonly live: boolean;
}

/** What a model thinks: open while it is written, folded a second after, with the time it took. */
export const Reasoning = memo(({ text, live }: ReasoningProps): ReactNode => {
  const [isOpen, setOpen] = useState(live);
  const [isTouched, setTouched] = useState(false);
  const elapsed = useElapsed(live);
  const shown = useCalm(text, live);
  useEffect(() => {
    if (live || isTouched) return undefined;
    const timer = setTimeout(() => setOpen(false), foldMs);
    return () => clearTimeout(timer);
  }, [live, isTouched]);
  const toggle = (): void => {
    setTouched(true);
    setOpen(!isOpen);
  };
  const took = elapsed === undefined ? "" : ` for ${showElapsed(elapsed)}`;
  return (
    <div className="think" data-live={live}>
      <button type="button" aria-expanded={isOpen} onClick={toggle}>
        {live ? "Thinking" : `Thought${took}`}
        {live && <span className="time">{elapsed === undefined ? "" : showElapsed(elapsed)}</span>}
      </button>
      {isOpen && <div dir="auto">{visibleText(shown)}</div>}
    </div>
  );
});
