import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Packed, usePacked } from "../../../scripts/create.ts";
import { execute } from "../../../scripts/execute.ts";

/** A project in a folder outside this repository, made and installed as users do it. */
export interface NewProject extends Disposable {
  readonly path: string;
  /** How long each step took, in seconds. */
  readonly seconds: { create: number; install: number };
  /** Runs a script of the project to its end. Throws if it fails. */
  readonly npm: (...parameters: readonly string[]) => Promise<string>;
}

/** Makes a project with the packed creator, and installs it. */
export async function newProject(packed: Packed, flags: readonly string[]): Promise<NewProject> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-create-"));
  const path = join(folder, "my-app");
  const npmIn = async (cwd: string, parameters: readonly string[]): Promise<string> => {
    const { ok, output } = await execute(["npm", ...parameters], cwd);
    if (!ok) throw new Error(`npm ${parameters.join(" ")}\n${output}`);
    return output;
  };
  const begun = performance.now();
  const creator = ["exec", "--yes", `--package=${packed.creator}`, "--", "create-millrace"];
  await npmIn(folder, [...creator, "my-app", ...flags]);
  usePacked(path, packed); // they are not published
  const created = performance.now();
  await npmIn(path, ["install", "--prefer-offline", "--no-audit", "--no-fund"]);
  const installed = performance.now();
  return {
    path,
    seconds: { create: (created - begun) / 1_000, install: (installed - created) / 1_000 },
    npm: (...parameters) => npmIn(path, parameters),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
