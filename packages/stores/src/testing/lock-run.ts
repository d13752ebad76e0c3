/** Locks, writes and releases a session by the commands on its input, one a line. */
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { MillraceError } from "@millrace/core";
import { fileStore } from "../file/file-store.ts";
import { name, prompt } from "./fixtures.ts";

const [folder = ""] = process.argv.slice(2);
const store = fileStore(folder, { fsync: "never" });
const record = await store.find(name);
if (record === undefined) throw new Error("the session is made by the parent");
const { uid } = record;
let count = 0;

async function write(): Promise<string> {
  count += 1;
  const key = `${process.pid}_${count}`;
  try {
    return (await store.accept(uid, key, prompt(key))).outcome;
  } catch (error) {
    if (MillraceError.is(error)) return error.code;
    throw error;
  }
}

/** Holds the session so many times, each with a file that two holders at once could not both create. */
async function compete(times: number): Promise<string> {
  let [held, locked, overlaps] = [0, 0, 0];
  const witness = join(folder, "witness");
  for (let tries = 0; tries < 100_000 && held < times; tries += 1) {
    if ((await write()) !== "accepted") {
      locked += 1;
      continue;
    }
    held += 1;
    try {
      await (await open(witness, "wx")).close();
      await unlink(witness);
    } catch {
      overlaps += 1;
    }
    await store.release(uid);
    await new Promise((resolve) => setTimeout(resolve, held % 3));
  }
  return JSON.stringify({ held, locked, overlaps });
}

const commands: Readonly<Record<string, (argument: string) => Promise<string>>> = {
  write,
  compete: (times) => compete(Number(times)),
  release: async () => {
    await store.release(uid);
    return "released";
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [command = "", argument = ""] = line.split(" ");
  console.log((await commands[command]?.(argument)) ?? "unknown command");
}
