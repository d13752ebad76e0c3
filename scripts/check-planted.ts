/**
 * Finds planted defects that no longer fit their sources: patches that do not apply, and lines that are
 * gone. The stages that test them are the last of a long run, so a moved line is named here, at once.
 */
import { lostLines } from "./broken-lines.ts";
import { execute } from "./execute.ts";
import { splitPatches } from "./planted-patches.ts";
import { firstLine } from "./scratch-copy.ts";
import { temporaryFolder } from "./temporary.ts";

const faults = lostLines().map(
  ({ file, line }) => `${file}: no line, or more than one, is ${JSON.stringify(line)}`,
);
using temporary = temporaryFolder();
for (const path of splitPatches(temporary.path)) {
  const { ok, output } = await execute(["git", "apply", "--check", path]);
  if (!ok) faults.push(`tests/planted: a patch no longer applies: ${firstLine(output)}`);
}
for (const fault of faults) console.log(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
