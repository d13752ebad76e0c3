import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

import { hasPidNamespaces } from "../confinement.ts";

/** Whose processes a test starts: ours, or those of the user `nobody`, which only root can start. */
export type TestUser = "own" | "nobody";

/** The users that this test may start processes as. */
export const testUsers: readonly TestUser[] =
  process.getuid?.() === 0 ? ["own", "nobody"] : ["own"];

/**
 * True if this machine can hide our environment from processes of that user. Root gives up what it takes to
 * read it even where there is no namespace; another user needs one.
 */
export async function isHiddenFrom(user: TestUser): Promise<boolean> {
  return (user === "own" && process.getuid?.() === 0) || (await hasPidNamespaces());
}

/**
 * Runs a program of this folder in a Node process of that user, with these variables in its environment
 * from the start, and returns what it wrote. Rejects with its standard error if it fails.
 */
export async function runAs(
  user: TestUser,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly printed: string; readonly errors: string }> {
  const node = [process.execPath, "--conditions=@millrace/source"];
  const switching = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
  const [file = "", ...rest] = [...(user === "own" ? [] : switching), ...node];
  const child = execFile(file, [...rest, join(import.meta.dirname, program), ...args], {
    env: { PATH: process.env["PATH"], HOME: mkdtempSync(join(tmpdir(), "millrace-home-")), ...env },
    maxBuffer: 16 * 1024 * 1024,
  });
  let printed = "";
  let errors = "";
  child.stdout?.on("data", (text: string) => (printed += text));
  child.stderr?.on("data", (text: string) => (errors += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${errors}`);
  return { printed, errors };
}
