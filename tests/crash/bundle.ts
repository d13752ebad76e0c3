import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/**
 * The program of the children in one file. A process that is killed lives for a moment only, and would
 * spend most of it on loading a hundred modules.
 */
export async function bundleChild(folder: string): Promise<string> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL("child.ts", import.meta.url)),
    platform: "node",
    resolve: { conditionNames: ["@millrace/source", "import", "node"] },
  });
  const file = join(folder, "child.mjs");
  await bundle.write({ file, format: "esm" });
  await bundle.close();
  return file;
}
