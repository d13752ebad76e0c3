/**
 * Outlives the process that started it, until it has ended that process's servers and removed their
 * folders. Reads what to end, line by line, until its input ends.
 */
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { findProcess, findTree, killTree, signal } from "./process-table.ts";
import type { WatchLine, Watched, WatchedServer } from "./watch.ts";

const watched = new Map<string, Watched>();

for await (const line of createInterface({ input: process.stdin })) {
  const entry = parseLine(line);
  if (entry?.done === true) watched.delete(entry.folder);
  else if (entry !== undefined) watched.set(entry.folder, entry);
}

await Promise.all(
  [...watched.values()].map(async ({ folder, server }) => {
    if (server !== undefined) await end(server);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }),
);

/** The other side is watch.ts, through a private pipe. Its last line may be cut off. */
function parseLine(line: string): WatchLine | undefined {
  try {
    return JSON.parse(line) as WatchLine;
  } catch {
    return undefined;
  }
}

/**
 * Sends the quit signal, so that the server releases its shared memory, then kills it after a short
 * time.
 */
async function end({ pid, started, quit }: WatchedServer): Promise<void> {
  const lives = (): boolean => findProcess(pid)?.started === started;
  if (!lives()) return;
  for (const entry of findTree(pid)) signal(entry.pid, "SIGCONT");
  signal(pid, quit);
  for (let waited = 0; lives() && waited < 3_000; waited += 20) await sleep(20);
  if (!lives()) return;
  const killed = killTree(pid);
  const isLeft = (): boolean =>
    killed.some((entry) => findProcess(entry.pid)?.started === entry.started);
  for (let waited = 0; isLeft() && waited < 3_000; waited += 20) await sleep(20);
}
