/** Puts blobs until it is killed. Prints each hash once its put resolved, and a line before each put. */
import { writeSync } from "node:fs";
import { sessionUid } from "@millrace/core/writing";
import type { BlobStore } from "@millrace/core/ports";
import { fileBlobs } from "../file/file-blobs.ts";
import { postgresBlobs } from "../postgres/postgres-blobs.ts";

const [kind = "", where = "", uid = "", round = ""] = process.argv.slice(2);
const blobs: BlobStore = kind === "file" ? fileBlobs(where) : postgresBlobs({ url: where });

/** Slow enough that a kill falls into the middle of most puts. */
async function* stream(at: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let piece = 0; piece < 12; piece += 1) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    yield new Uint8Array(100_000).fill((at * 12 + piece) % 251).fill(Number(round), 0, 4);
  }
}

for (let at = 0; at < 10_000; at += 1) {
  writeSync(1, "begun\n");
  const options = { mediaType: "application/octet-stream" };
  const answer = await blobs.put({ uid: sessionUid(uid) }, stream(at), options);
  if (answer.outcome === "stored") writeSync(1, `${answer.blob.hash}\n`);
}
