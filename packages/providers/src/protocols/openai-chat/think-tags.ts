/**
 * Reasoning that a local server leaves at the beginning of the content, as `<think>…</think>`.
 * Deltas may split a tag at any place. Later tags are text: an answer may mention them.
 */
export interface ThinkTags {
  readonly tag: string;
  /** `opened`: at the start of content whose tag the server's template has opened. */
  readonly phase: "start" | "opened" | "inside" | "outside";
  /** Text that may begin a tag. */
  readonly held: string;
}

export interface ThinkSplit {
  readonly tags: ThinkTags;
  readonly reasoning: string;
  readonly text: string;
}

/** The limit of held text. White space before the tag is scanned again with each piece. */
const maxHeld = 256;

export const noThinkTags: ThinkTags = { tag: "", phase: "outside", held: "" };

export function splitThinkTags(tags: ThinkTags, piece: string): ThinkSplit {
  const { tag, phase } = tags;
  const whole = tags.held + piece;
  if (phase === "outside") return { tags, reasoning: "", text: piece };
  if (phase === "inside") return splitInside(tag, whole);
  const open = `<${tag}>`;
  const begun = whole.trimStart();
  if (begun.startsWith(open)) return splitInside(tag, begun.slice(open.length));
  if (open.startsWith(begun) && whole.length <= maxHeld) {
    return { tags: { tag, phase, held: whole }, reasoning: "", text: "" };
  }
  if (phase === "opened") return splitInside(tag, whole);
  return { tags: { tag, phase: "outside", held: "" }, reasoning: "", text: whole };
}

function splitInside(tag: string, whole: string): ThinkSplit {
  const close = `</${tag}>`;
  const end = whole.indexOf(close);
  if (end >= 0) {
    return {
      tags: { tag, phase: "outside", held: "" },
      reasoning: whole.slice(0, end),
      text: whole.slice(end + close.length),
    };
  }
  let kept = Math.min(close.length - 1, whole.length);
  while (kept > 0 && !close.startsWith(whole.slice(-kept))) kept -= 1;
  const border = whole.length - kept;
  return {
    tags: { tag, phase: "inside", held: whole.slice(border) },
    reasoning: whole.slice(0, border),
    text: "",
  };
}
