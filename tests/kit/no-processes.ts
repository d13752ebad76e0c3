/**
 * Setup of `npm run test:unit`: a test that starts a process fails there. Such a test imports
 * `node:child_process` in its own code or in a helper, by which `scripts/unit-tests.ts` leaves it out.
 */
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

function refuse(): never {
  throw new Error("a unit test starts no process: see scripts/unit-tests.ts");
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
