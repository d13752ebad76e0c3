import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseJsonText } from "@millrace/core/wire";

/**
 * Runs a program of this folder, in a process of its own that can collect its garbage at once, and
 * gives the JSON that it prints. The programs are our own, so its type is known.
 */
export async function measure<T>(program: string, ...given: readonly string[]): Promise<T> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const flags = ["--conditions=@millrace/source", "--expose-gc", "--no-warnings"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, path, ...given]);
  return parseJsonText(stdout) as T;
}

/** The value that so many of them are below. */
export function quantile(values: readonly number[], part: number): number {
  const ordered = values.toSorted((left, right) => left - right);
  return ordered[Math.floor((ordered.length - 1) * part)] ?? NaN;
}
