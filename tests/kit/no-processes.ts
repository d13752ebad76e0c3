/**
 * Setup of the projects `unit` and `local`: a test that starts a process fails there. Such a test imports
 * `node:child_process` in its own code or in a helper, by which `scripts/test-kinds.ts` knows it.
 */
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

function refuse(): never {
  throw new Error("this test may start no process: see scripts/test-kinds.ts");
}

Object.assign(childProcess, {
  exec: refuse,
  execFile: refuse,
  execFileSync: refuse,
  execSync: refuse,
  fork: refuse,
  spawn: refuse,
  spawnSync: refuse,
});
syncBuiltinESMExports();
