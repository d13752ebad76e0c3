import { readdirSync, readFileSync } from "node:fs";

/** A process as this file sees it. It shares no code with what it checks. */
export interface Living {
  readonly pid: number;
  readonly parent: number;
  readonly zombie: boolean;
  /** Command line and environment, as one text. */
  readonly text: string;
}

/** All processes of the machine whose command line or environment holds the text. */
export function living(text: string): readonly Living[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const said = read(name, "cmdline") + environmentOf(name);
      if (!said.includes(text)) return [];
      const stat = read(name, "stat");
      const status = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const zombie = status[0] === "Z";
      return [{ pid: Number(name), parent: Number(status[1]), zombie, text: said }];
    } catch {
      return []; // it ended meanwhile
    }
  });
}

function read(pid: string, file: string): string {
  return readFileSync(`/proc/${pid}/${file}`, "latin1");
}

/** Empty where it may not be read, as of another user's process. */
function environmentOf(pid: string): string {
  try {
    return read(pid, "environ");
  } catch {
    return "";
  }
}

/** Waits until the condition holds. Throws after the bound, with what was waited for. */
export async function until(
  what: string,
  condition: () => boolean,
  boundMs = 5_000,
): Promise<void> {
  const end = performance.now() + boundMs;
  while (!condition()) {
    if (performance.now() > end)
      throw new Error(`in ${boundMs} ms it did not come true that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
