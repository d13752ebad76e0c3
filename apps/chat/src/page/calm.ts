import { useEffect, useRef, useState } from "react";

/** Text is laid out at most this often while it is written: 25 times a second looks the same as 60. */
const everyMs = 40;

/** A text that changes fast, at a pace that a page can lay out. Its first and its last state are shown at once. */
export function useCalm(text: string, isLive: boolean): string {
  const [shown, setShown] = useState(text);
  const shownAt = useRef(0);
  useEffect(() => {
    if (!isLive) return undefined;
    const wait = Math.max(0, everyMs - (performance.now() - shownAt.current));
    const timer = setTimeout(() => {
      shownAt.current = performance.now();
      setShown(text);
    }, wait);
    return () => clearTimeout(timer);
  }, [text, isLive]);
  return isLive ? shown : text;
}
