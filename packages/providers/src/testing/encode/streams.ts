import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fixturesFolder } from "../fixtures.ts";

export interface Recorded {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Every stream in a folder of fixtures. */
export function recordedStreams(dialect: string): readonly Recorded[] {
  const folder = join(fixturesFolder, dialect);
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sse"))
    .toSorted()
    .map((name) => ({ name, bytes: new Uint8Array(readFileSync(join(folder, name))) }));
}
