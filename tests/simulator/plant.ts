/**
 * Loads the product with defects of `tests/planted` in it: `PLANT=<name>,<name>` and
 * `node --import ./tests/simulator/plant.ts`. No file is changed.
 */
import { registerHooks } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { applyEdits } from "../../scripts/find-code.ts";
import { Places, readDefects } from "../../scripts/planted-defects.ts";
import { root } from "../../scripts/workspace.ts";

const planted = new Map<string, string>();
const names = (process.env["PLANT"] ?? "").split(",").filter((name) => name !== "");
const defects = readDefects("defects");
const places = new Places();
const edits = names.flatMap((name) => {
  const defect = defects.find((each) => each.name === name);
  if (defect === undefined) throw new Error(`tests/planted has no ${name}`);
  const found = places.edits(defect);
  if (typeof found === "string") throw new Error(`${name}: ${found}`);
  return found;
});
for (const [file, text] of applyEdits(edits)) planted.set(join(root, file), text);

registerHooks({
  load: (url, context, next) => {
    const source = url.startsWith("file:") ? planted.get(fileURLToPath(url)) : undefined;
    if (source === undefined) return next(url, context);
    return { format: "module-typescript", source, shortCircuit: true };
  },
});
