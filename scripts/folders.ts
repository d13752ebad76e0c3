/**
 * The folders inside each package: their imports against `folderRules` of `layers.ts`, the tables
 * themselves, and the number of pairs of folders that import each other.
 */
import type { FolderRules } from "./layers.ts";
import type { Source } from "./sources.ts";

/** Returns one line per violation in the shipped sources of one package. */
export function checkFolders(
  id: string,
  sources: readonly Source[],
  rules: FolderRules = { bottom: [], folders: {} },
): string[] {
  if (sources.length === 0) return [];
  const places = new Map<string, Source>();
  for (const source of sources) {
    const place = placeOf(source.file);
    if (!places.has(place)) places.set(place, source);
  }
  const ruled = (place: string): boolean => isFile(place) || place in rules.folders;
  return [
    ...checkTable(id, rules, places).map((problem) => `scripts/layers.ts:1: ${problem}`),
    ...[...places.entries()]
      .filter(([place]) => !ruled(place))
      .map(([place, { file }]) => `${file}:1: layers.ts has no rule for ${id}/${place}`),
    ...sources.flatMap((source) => {
      const from = placeOf(source.file);
      if (!ruled(from)) return [];
      return importsWithin(source)
        .filter(({ place }) => !mayImport(rules, from, place))
        .map(
          ({ place, line }) =>
            `${source.file}:${line}: ${id}/${from} may not import ${id}/${place}`,
        );
    }),
    ...twoWayPairs(id, sources),
  ];
}

/**
 * Pairs of places in one package that import each other, types included, by what the files say and
 * without regard to any table. A place is a folder of src, or one file beside index.ts.
 */
export function twoWayPairs(id: string, sources: readonly Source[]): string[] {
  const edges = new Set(
    sources.flatMap((source) =>
      importsWithin(source).map(({ place }) => `${placeOf(source.file)} ${place}`),
    ),
  );
  return [...edges]
    .map((edge) => edge.split(" ") as [string, string])
    .filter(([from, to]) => from < to && edges.has(`${to} ${from}`))
    .map(([from, to]) => `packages/${id}:1: ${from} and ${to} import each other`);
}

/** The imports from one place of a package to another. Those of index.ts may go anywhere. */
function importsWithin({ file, owner, imports }: Source): { place: string; line: number }[] {
  const from = placeOf(file);
  if (from === index) return [];
  return imports.flatMap(({ target, line }) => {
    if (target?.startsWith(`${owner.folder}/src/`) !== true) return [];
    const place = placeOf(target);
    return place === from ? [] : [{ place, line }];
  });
}

function mayImport({ bottom, folders }: FolderRules, from: string, to: string): boolean {
  const isBottom = (place: string): boolean =>
    place !== index && isFile(place) && (bottom === "all" || bottom.includes(nameOf(place)));
  if (isBottom(to)) return true;
  if (isFile(from)) return !isBottom(from);
  return folders[from]?.includes(to) === true;
}

/** A table must list every folder and contain no circle: else a two-way pair could be declared. */
function checkTable(
  id: string,
  rules: FolderRules,
  places: ReadonlyMap<string, unknown>,
): string[] {
  const { bottom, folders } = rules;
  const files = bottom === "all" ? [] : bottom.map((name) => `${name}.ts`);
  const named = new Set([...files, ...Object.keys(folders), ...Object.values(folders).flat()]);
  const circle = findCircle(folders);
  return [
    ...[...named]
      .filter((place) => !places.has(place))
      .map((place) => `folderRules list ${id}/${place}, which is not there`),
    ...(circle === undefined ? [] : [`the folders of ${id} form a circle: ${circle.join(" → ")}`]),
  ];
}

/** The first circle of a table, as a path that ends where it begins. */
function findCircle(folders: FolderRules["folders"]): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (folder: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(folder)) return [...path.slice(path.indexOf(folder)), folder];
    if (done.has(folder)) return undefined;
    for (const next of folders[folder] ?? []) {
      const circle = visit(next, [...path, folder]);
      if (circle !== undefined) return circle;
    }
    done.add(folder);
    return undefined;
  };
  for (const folder of Object.keys(folders)) {
    const circle = visit(folder, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

const index = "index.ts";

/** `packages/<id>/src/<place>`: the folder below src, or the name of a file that lies in src itself. */
function placeOf(file: string): string {
  return file.split("/")[3] ?? "";
}

function isFile(place: string): boolean {
  return place.endsWith(".ts");
}

function nameOf(place: string): string {
  return place.slice(0, -".ts".length);
}
