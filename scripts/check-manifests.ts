/**
 * Checks what every published manifest has to have: keywords, the repository with the folder in it, and
 * no script that runs when the package is installed. The address of the repository is in the top manifest;
 * all others repeat it.
 *
 *     node scripts/check-manifests.ts
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { report, root } from "./workspace.ts";

/** The fields that are checked, as they may be in a file. */
interface Published {
  readonly name?: string;
  readonly private?: boolean;
  readonly keywords?: readonly string[];
  readonly repository?: { readonly url?: string; readonly directory?: string };
  readonly scripts?: Readonly<Record<string, string>>;
}

/** npm runs these on the machine of the user who installs a package. */
const installScripts = ["preinstall", "install", "postinstall", "prepare"];

/** Returns what is wrong with the manifest of a folder. `url` is the repository's, from the top manifest. */
export function checkManifest(
  folder: string,
  { keywords = [], repository, scripts = {} }: Published,
  url: string | undefined,
): readonly string[] {
  const found = installScripts.filter((name) => name in scripts);
  return [
    ...(keywords.length === 0 ? [`${folder}: keywords are missing`] : []),
    ...(repository?.url === undefined || repository.url !== url
      ? [`${folder}: repository.url is not that of the top manifest`]
      : []),
    ...(repository?.directory === folder
      ? []
      : [`${folder}: repository.directory is not ${folder}`]),
    ...found.map((name) => `${folder}: the script ${name} would run when it is installed`),
  ];
}

function read(path: string): Published {
  return JSON.parse(readFileSync(join(root, path), "utf8")) as Published;
}

if (import.meta.main) {
  const { repository } = read("package.json");
  const published = globSync("{packages,apps}/*/package.json", { cwd: root })
    .map((path) => ({ folder: dirname(path), manifest: read(path) }))
    .filter(({ manifest }) => manifest.private !== true);
  report(
    published.flatMap(({ folder, manifest }) => checkManifest(folder, manifest, repository?.url)),
    `manifests: ${published.length} name their repository and run nothing when installed`,
  );
}
