import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Answers } from "../../../apps/create-millrace/src/choices.ts";
import { makeProject } from "../../../apps/create-millrace/src/project.ts";
import { writeProject } from "../../../apps/create-millrace/src/write-project.ts";
import { temporaryFolder } from "../../../scripts/temporary.ts";
import { root } from "../../../scripts/workspace.ts";
import { type Started, start } from "./started.ts";

/** A project whose programs run with the sources of this repository's packages. */
export interface ProjectOnSources extends Disposable {
  readonly path: string;
  /** Starts a file of `src`, as in production. */
  readonly start: (
    file: string,
    env: Readonly<Record<string, string>>,
    ...parameters: readonly string[]
  ) => Started;
}

/** Makes a project that needs no build and no install. */
export function projectOnSources(answers: Answers): ProjectOnSources {
  const folder = temporaryFolder();
  symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
  const cwd = join(folder.path, "my-app");
  writeProject(cwd, makeProject("my-app", answers));
  return {
    path: cwd,
    start: (file, env, ...parameters) =>
      start(["node", "--conditions=@millrace/source", `src/${file}`, ...parameters], {
        cwd,
        env: { NODE_ENV: "production", ...env },
      }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
