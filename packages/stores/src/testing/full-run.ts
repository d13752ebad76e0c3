/** Appends to a session until the disk takes no more, then once more after making room. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileStore } from "../file/file-store.ts";
import { name, prompt } from "./fixtures.ts";

const [folder = ""] = process.argv.slice(2);
const ballast = join(folder, "ballast");
await writeFile(ballast, Buffer.alloc(16 * 1024));
const store = fileStore(folder);
const { uid } = await store.create({ sessionId: name });
const failures: string[] = [];
let accepted = 0;
for (let at = 0; at < 200 && failures.length < 6; at += 1) {
  // Several at once: one write fails for all of them.
  const answers = await Promise.allSettled(
    [0, 1, 2].map((part) =>
      store.accept(uid, `${at}_${part}`, prompt(`${at}_${part}`, "x".repeat(1_500))),
    ),
  );
  for (const answer of answers) {
    if (answer.status === "fulfilled") accepted += 1;
    else failures.push(String((answer.reason as NodeJS.ErrnoException).code));
  }
}
const head = await store.head(uid);
const verdict = await store.verify(name);
await rm(ballast);
const later = await store.accept(uid, "later", prompt("later", "")).then(
  ({ outcome }) => outcome,
  (error: NodeJS.ErrnoException) => error.code,
);
await store.close();
console.log(JSON.stringify({ accepted, failures, head, whole: verdict.ok, later }));
