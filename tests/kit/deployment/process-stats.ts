import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { report } from "./reports.ts";

/** What a process holds. */
export interface ProcessStats {
  /** The processor time that it has used. */
  readonly cpuMs: number;
  readonly heapBytes: number;
  /** What keeps its loop busy, counted by Node's name for it: `Timeout`, `TCPSocketWrap` and others. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Answers the test that started this process and asks what it holds. */
export function answerStats(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void; // that flag adds it
  process.on("message", (message) => {
    if (message !== "stats") return;
    collect();
    report({ type: "stats", stats: takeStats() });
  });
}

function takeStats(): ProcessStats {
  const { user, system } = process.cpuUsage();
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  const { heapUsed: heapBytes } = process.memoryUsage();
  return { cpuMs: (user + system) / 1_000, heapBytes, resources };
}
