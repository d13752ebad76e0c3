import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Project } from "./project.ts";
import { Refusal } from "./refusal.ts";

/** Refuses a folder that has something in it, or that is a file. Nothing is ever overwritten. */
export function checkFolder(folder: string): void {
  let found: readonly string[];
  try {
    found = readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    if (code === "ENOTDIR") throw new Refusal(`${folder} is a file`, { cause: error });
    throw error;
  }
  if (found.length > 0)
    throw new Refusal(
      `${folder} is not empty: it has ${found.slice(0, 3).join(", ")}. Choose another`,
    );
}

/**
 * Writes a project: into a new folder beside its place, which is then moved there. So a failure, or a process that
 * is killed, leaves no half of it in the place. Signals wait meanwhile: it takes some milliseconds.
 */
export function writeProject(folder: string, project: Project): void {
  checkFolder(folder);
  mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(join(dirname(folder), `.${basename(folder)}-`));
  const wait = (): void => undefined;
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, wait);
  try {
    for (const [path, text] of project) {
      const file = join(draft, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { flag: "wx" });
    }
    moveTo(folder, draft);
  } finally {
    rmSync(draft, { recursive: true, force: true });
    for (const signal of signals) process.off(signal, wait);
  }
}

/** An empty folder that is there already is kept, for it may be the one that a shell is in. */
function moveTo(folder: string, draft: string): void {
  if (!existsSync(folder)) return renameSync(draft, folder);
  for (const name of readdirSync(draft)) renameSync(join(draft, name), join(folder, name));
}
