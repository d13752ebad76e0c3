import type { Random } from "../../../../../tests/kit/random.ts";

/**
 * Cuts a text into pieces: one for each UTF-16 unit, a few, or one. Some cuts are inside a
 * character, as vendors make them.
 */
export function pieces(text: string, random: Random): readonly string[] {
  if (text === "") return [];
  const draw = random.next();
  if (draw < 0.45) return [text];
  const longest = draw < 0.52 ? 1 : 3 + random.below(20);
  const cut: string[] = [];
  for (let at = 0; at < text.length;) {
    const next = at + 1 + random.below(longest);
    cut.push(text.slice(at, next));
    at = next;
  }
  return cut;
}

/**
 * Returns all lanes one after the other, or interleaved. Lanes begin in order, and each keeps its
 * own order.
 */
export function weave<Row>(lanes: readonly (readonly Row[])[], random: Random): readonly Row[] {
  if (lanes.length < 2 || random.chance(0.6)) return lanes.flat();
  const woven: Row[] = [];
  const open: { readonly lane: readonly Row[]; at: number }[] = [];
  let begun = 0;
  while (begun < lanes.length || open.length > 0) {
    if (begun < lanes.length && (open.length === 0 || random.chance(0.3))) {
      open.push({ lane: lanes[begun] ?? [], at: 0 });
      begun += 1;
    }
    const place = open.length === 1 ? 0 : random.below(open.length);
    const drawn = open[place];
    if (drawn === undefined) continue;
    // A lane that has just begun goes first, or a later one could begin before it.
    const newest = open.at(-1);
    const turn = newest !== undefined && newest.at === 0 ? newest : drawn;
    if (turn.at < turn.lane.length) woven.push(turn.lane[turn.at] as Row);
    turn.at += 1;
    if (turn.at >= turn.lane.length) open.splice(open.indexOf(turn), 1);
  }
  return woven;
}
