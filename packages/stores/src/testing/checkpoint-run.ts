/** Appends to a session and keeps checkpoints until it is killed, and prints each key once its call resolved. */
import { writeSync } from "node:fs";
import { openFileStore } from "../file/file-store.ts";
import { name, prompt } from "./fixtures.ts";

const [folder = "", round = ""] = process.argv.slice(2);
const store = openFileStore(folder, { factsPerBase: 3 });
const { uid } = (await store.find(name)) ?? (await store.create({ sessionId: name }));
for (let at = 0; at < 100_000; at += 1) {
  const answer = await store.accept(uid, `${round}_${at}`, prompt(`${round}_${at}`));
  if (answer.outcome !== "accepted") continue;
  writeSync(1, `${round}_${at}\n`);
  const head = answer.facts[0]?.n ?? 0;
  // Not awaited: calls come while a base is written.
  void store.keepCheckpoint(uid, { head, text: `at ${head}` });
}
