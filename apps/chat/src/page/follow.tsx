import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";

/** Nearer to the end than this counts as being there. */
const nearPx = 48;

/** Scrolls with new content, stops at an upward scroll, and offers a button to the end. */
export function Follow({ children }: { readonly children: ReactNode }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const column = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const lastTop = useRef(0);
  const [isAway, setAway] = useState(false);
  const toEnd = (): void => box.current?.scrollTo({ top: box.current.scrollHeight });
  const onScroll = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    const isNear = scrollHeight - scrollTop - clientHeight < nearPx;
    // Only an upward scroll stops following: between a scroll and its event more may have come.
    if (isNear || scrollTop < lastTop.current) isFollowing.current = isNear;
    lastTop.current = scrollTop;
    setAway(!isFollowing.current);
  };
  useEffect(() => {
    if (column.current === null || box.current === null) return undefined;
    // Whatever makes it longer: text, a card that opens, a picture that was loaded.
    const observer = new ResizeObserver(() => {
      if (isFollowing.current) toEnd();
    });
    observer.observe(column.current);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const back = (): void => {
    isFollowing.current = true;
    setAway(false);
    toEnd();
  };
  return (
    <div className="stage">
      <div
        className="scroll"
        ref={box}
        onScroll={onScroll}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Conversation"
      >
        <div className="column" ref={column}>
          {children}
        </div>
      </div>
      {isAway && (
        <button type="button" className="btn latest" onClick={back}>
          ↓ Latest
        </button>
      )}
    </div>
  );
}
