/** Appends to a session until it is killed, and prints each key once its call resolved. */
import { writeSync } from "node:fs";
import { fileStore } from "../file/file-store.ts";
import { name, prompt } from "./fixtures.ts";

const [folder = "", round = ""] = process.argv.slice(2);
const store = fileStore(folder, { onTorn: () => writeSync(1, "torn\n") });
const { uid } = (await store.find(name)) ?? (await store.create({ sessionId: name }));
for (let at = 0; at < 100_000; at += 1) {
  const text = "x".repeat(at % 3 === 0 ? 150_000 : 10); // long enough that a kill may cut it
  const answer = await store.accept(uid, `${round}_${at}`, prompt(`${round}_${at}`, text));
  if (answer.outcome === "accepted") writeSync(1, `${round}_${at}\n`);
}
