// Run by fold.perf.test.ts in a process of its own: folds 100 MB of text and prints how much heap that took.
import { getHeapStatistics } from "node:v8";
import { noDraftLimits, textOf } from "../delta/draft.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import { fold } from "../delta/fold.ts";
import { partId } from "../ids.ts";

const id = partId("p1");
const chunk = 64;
const total = 100_000_000;
let peak = 0;
const look = (): void => {
  peak = Math.max(peak, getHeapStatistics().used_heap_size);
};

let draft = fold(emptyDraft(noDraftLimits), { op: "begin_part", partId: id, kind: "text" });
for (let at = 0; at < total; at += chunk) {
  // A new string each time, as from a parser: one shared chunk would cost no memory at all.
  const text = Buffer.alloc(chunk, 97 + ((at / chunk) % 26)).toString("latin1");
  draft = fold(draft, { op: "append_text", partId: id, chunk: text });
  if (at % (chunk * 1_000) === 0) look();
}
const part = draft.parts[0];
const text = part?.state === "open" ? textOf(part) : "";
if (!text.endsWith("z") && text.indexOf("!") > 0) look(); // looking through it makes it one flat string
look();
process.stdout.write(JSON.stringify({ text: text.length, peak }));
