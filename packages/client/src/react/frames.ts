/** A page behind another has no frames, or one a second: there it is called after so long. */
const hiddenMs = 100;

/** Calls of a function, at most one for each frame. */
export interface Frames {
  /** It is called in the next frame; asking again before that changes nothing. */
  readonly ask: () => void;
  /** No call comes after this. */
  readonly end: () => void;
}

/**
 * Calls a function once per frame of the page, so that a fast stream renders as often as the screen shows
 * it and no more. What comes first is in the very next frame. Without a page it is called at once.
 */
export function inFrames(call: () => void): Frames {
  let frame: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    clearTimeout(timer);
    [frame, timer] = [undefined, undefined];
  };
  const due = (): void => {
    end();
    call();
  };
  const ask = (): void => {
    if (frame !== undefined) return;
    if (typeof requestAnimationFrame !== "function") return call();
    frame = requestAnimationFrame(due);
    timer = setTimeout(due, hiddenMs);
  };
  return { ask, end };
}
