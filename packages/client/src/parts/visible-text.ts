/**
 * Characters that move, hide or fake other text: controls, those that change the direction of writing, those
 * of no width, tags, and further variation selectors after a first one. Joiners stay, since scripts and emoji
 * are written with them.
 */
const hidden = new RegExp(
  [
    String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]`,
    String.raw`[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]`,
    String.raw`[\u115f\u1160\u180e\u200b\u2060-\u2064\u3164\ufeff\uffa0]`,
    String.raw`[\u{e0000}-\u{e01ef}]`,
    String.raw`(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]`,
  ].join("|"),
  "gu",
);

/**
 * A text in which a reader sees what would otherwise be invisible, as `⟨U+202E⟩`. All else is unchanged, and
 * a text without such characters is the same string. Linear.
 */
export function visibleText(text: string): string {
  return text.replaceAll(hidden, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}
