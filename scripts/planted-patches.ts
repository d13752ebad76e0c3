/** The deliberate defects of tests/planted, each as a patch of its own. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./workspace.ts";

const folder = join(root, "tests/planted");

/** Writes the patch of each defect into a folder, and gives their paths. */
export function splitPatches(into: string): readonly string[] {
  return globSync("*.patch", { cwd: folder })
    .flatMap((file) => splitArea(file, into))
    .toSorted();
}

/** Each defect of an area's file as a patch of its own in a folder, since `git apply` takes no less than a file. */
function splitArea(file: string, into: string): readonly string[] {
  const [before = "", ...defects] = readFileSync(join(folder, file), "utf8").split(/^=== /m);
  if (before !== "") throw new Error(`${file} does not begin with "=== " and the name of a defect`);
  return defects.map((text) => {
    const end = text.indexOf("\n");
    const path = join(into, `${text.slice(0, end).trim()}.patch`);
    writeFileSync(path, text.slice(end + 1));
    return path;
  });
}
