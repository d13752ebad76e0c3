import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import process from "node:process";

/** The file that a program's name stands for, or why it can't be started. */
export type FoundProgram =
  | { readonly file: string }
  | { readonly errno: "ENOENT" | "EACCES"; readonly file?: undefined };

/** Where the system looks if the environment has no `PATH`. */
const usualPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/**
 * Finds the file of a program as `execvp` does: a name with a slash is a path from the working folder,
 * any other is looked up in the folders of `path`. A file that exists and is no program is `EACCES`.
 */
export function findProgram(
  name: string,
  { path, cwd }: { readonly path: string | undefined; readonly cwd?: string | undefined },
): FoundProgram {
  const from = cwd ?? process.cwd();
  const folders = name.includes("/") ? [""] : (path ?? usualPath).split(delimiter);
  let errno: "ENOENT" | "EACCES" = "ENOENT";
  for (const folder of folders) {
    // An absolute path starts anew; an empty folder of `PATH` is the working folder.
    const file = resolve(from, folder, name);
    const problem = check(file);
    if (problem === undefined) return { file };
    if (problem === "EACCES") errno = problem;
  }
  return { errno };
}

/** `undefined` for a program that may be executed. */
function check(file: string): "ENOENT" | "EACCES" | undefined {
  try {
    if (!statSync(file).isFile()) return "EACCES";
    accessSync(file, constants.X_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    return code === "EACCES" ? "EACCES" : "ENOENT";
  }
}
