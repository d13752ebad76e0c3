/**
 * Makes sure that Markdown files name only what exists.
 *
 * - A path in backticks is looked for beside the file, at the top, in the `src` of the file's package, and
 *   below the folder of the last sentence "Paths … are below `packages/x/src`": in the opening of a page it
 *   holds for the page, in a section until the next heading. `packages/<any>` and `*` stand for any name.
 * - A name in code style (`camelCase`, `PascalCase`, or a word before a parenthesis) must be an identifier of
 *   some source file, outside of comments and texts.
 * - A relative link leads to a file and, with `#`, to a heading of it.
 * - `npm run x` is a script, and `@millrace/x/y`, or `./y` in a page of that package, an entry.
 * - ARCHITECTURE.md has a section "Inside x" for each package, whose tables name each folder of its `src`.
 *
 * Decisions and campaigns are history, and API reports are generated: none of them is read.
 *
 *     node scripts/check-paths.ts
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, matchesGlob, posix } from "node:path";
import { readManifest, report, root } from "./workspace.ts";

/** Names of other programs that no source of ours uses, each with a reason if it is not obvious. */
const foreign: ReadonlySet<string> = new Set([
  "disableParallelToolUse", // these four: options of AI SDK providers
  "imageDetail",
  "promptCacheKey",
  "textVerbosity",
  "prepareSendMessagesRequest", // AI SDK
  "MessageResponse", // AI Elements
  "RunAgentInput", // AG-UI
  "RetryInfo", // Google's errors
  "fromNodeProviderChain", // AWS SDK
  "loadEnvFile", // Node
  "terminationGracePeriodSeconds", // Kubernetes
]);

/** Paths that are not in the repository: patterns, and files that programs write. */
const outside: readonly string[] = ["x.*", "log.txt", "node_modules/**"];

/** What exists in a repository. */
export interface Tree {
  /** Files and folders, relative to the top; folders end in a slash. */
  readonly paths: ReadonlySet<string>;
  /** Every identifier of every source file. */
  readonly names: ReadonlySet<string>;
  /** `@millrace/core`, `@millrace/core/ports` and so on. */
  readonly entries: ReadonlySet<string>;
  /** Names of npm scripts, of any manifest. */
  readonly scripts: ReadonlySet<string>;
  readonly read: (path: string) => string;
}

/** Returns one line for each thing that a Markdown file names and that does not exist. */
export function checkDocument(file: string, tree: Tree): string[] {
  const text = withoutFences(tree.read(file));
  const folder = posix.dirname(file);
  const packageFolder = /^packages\/[^/]+/.exec(file)?.[0];
  const own = [folder, ".", ...(packageFolder === undefined ? [] : [`${packageFolder}/src`])];
  const templates = file.startsWith(`${templateFolder}/`) ? templateFolders(tree) : [];
  let ofPage: readonly string[] = [];
  let ofSection: readonly string[] = [];
  let sections = 0;
  return text.split("\n").flatMap((line, index) => {
    if (line.startsWith("## ")) {
      sections += 1;
      ofSection = [];
    }
    const below = [...line.matchAll(/\bbelow `([^`]+)`/g)].map(([, base = ""]) => base);
    if (below.length > 0 && sections === 0) ofPage = below;
    else if (below.length > 0) ofSection = below;
    const stated = ofSection.length > 0 ? ofSection : ofPage;
    const problems = [
      ...[...line.matchAll(/(?:\b(\w+) )?`([^`]+)`/g)].flatMap(([, before = "", code = ""]) => {
        const entry = code.startsWith("./") && packageFolder?.replace("packages", "@millrace");
        if (entry && tree.entries.has(posix.join(entry, code))) return [];
        const named = tree.paths.has(`packages/${before}/`) ? [`packages/${before}/src`] : [];
        const below = named.length > 0 ? named : stated;
        return checkCode(code, { own: [...own, ...templates], below }, tree);
      }),
      ...checkStep(line, tree),
      ...[...line.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) =>
        checkLink(target, file, tree),
      ),
    ];
    return problems.map((problem) => `${file}:${index + 1}: ${problem}`);
  });
}

/** Where a path may be: the folders of its page, and those that its text states. */
interface Bases {
  readonly own: readonly string[];
  readonly below: readonly string[];
}

/** A step of a walk names a file and what it does there: "3. `a/b.ts`, `start`: …". */
function checkStep(line: string, tree: Tree): string[] {
  const [, path, names] = /^\d+\. `([^`]+\.ts)`((?:,? (?:and )?`\w+`)+)/.exec(line) ?? [];
  if (path === undefined || names === undefined || !tree.paths.has(path)) return [];
  const there = new Set(identifiersOf(tree.read(path)));
  return [...names.matchAll(/\w+(?=`)/g)]
    .filter(([name]) => !there.has(name))
    .map(([name]) => `${path} has no ${name}`);
}

const templateFolder = "apps/create-millrace/templates";

/** A page of a template is read in a project that is made of several template folders. */
function templateFolders({ paths }: Tree): string[] {
  return [...paths]
    .filter((path) => path.startsWith(`${templateFolder}/`) && path.endsWith("/"))
    .map((path) => path.slice(0, -1));
}

/** Blanks fenced and indented code, and keeps the numbers of lines. */
function withoutFences(text: string): string {
  return text
    .replaceAll(/^```[^]*?^```/gm, (code) => code.replaceAll(/[^\n]/g, ""))
    .replaceAll(/^ {4}(?! *[-*\d]).*$/gm, "");
}

function checkCode(code: string, bases: Bases, tree: Tree): string[] {
  const [, script] = /^npm run ([\w:-]+)/.exec(code) ?? [];
  if (script !== undefined) {
    return tree.scripts.has(script) ? [] : [`there is no npm script ${script}`];
  }
  if (/^@millrace\/[\w/-]+$/.test(code)) {
    return tree.entries.has(code) ? [] : [`there is no entry ${code}`];
  }
  if (isPath(code, tree)) {
    const isThere = alternatives(code).every((path) => exists(path, bases, tree));
    return isThere ? [] : [`there is no file ${code}`];
  }
  return namesIn(code)
    .filter((name) => !tree.names.has(name) && !foreign.has(name))
    .map((name) => `no source has the name ${name}`);
}

const extensions = /\.(?:ts|tsx|js|mjs|md|json|jsonl|txt|sh|yaml|yml|html|css|patch|sql)$/;

/** Routes, media types, import paths of others and ids of models have slashes too, and are no paths. */
function isPath(code: string, { paths }: Tree): boolean {
  if (!/^[\w@.*{}<>,[\]/%-]+$/.test(code) || /^[/@*]|^\.\w*$/.test(code)) return false;
  if (outside.some((pattern) => matchesGlob(code, pattern))) return false;
  if (extensions.test(code)) return true;
  const [first = ""] = code.split("/");
  return code.includes("/") && (code.endsWith("/") || paths.has(`${first}/`));
}

/** `a/{b,c}.ts` is two paths. */
function alternatives(path: string): string[] {
  const [whole, inner] = /\{([^}]*)\}/.exec(path) ?? [];
  if (whole === undefined || inner === undefined) return [path];
  return inner.split(",").flatMap((each) => alternatives(path.replace(whole, each)));
}

function exists(path: string, { own, below }: Bases, { paths }: Tree): boolean {
  const pattern = path.replaceAll(/<[^>]*>/g, "*").replace(/\/$/, "");
  // A file name alone may be anywhere below the folder that the text states, or else in the repository.
  const deep = below.length > 0 ? below.map((base) => `${base}/**`) : ["**"];
  return [...own, ...below, ...(pattern.includes("/") ? [] : deep)].some((base) => {
    const full = posix.join(base, pattern);
    if (!full.includes("*")) return paths.has(full) || paths.has(`${full}/`);
    return [...paths].some((other) => matchesGlob(other.replace(/\/$/, ""), full));
  });
}

/** The words of a piece of code that can only be identifiers. */
function namesIn(code: string): string[] {
  if (/^[-A-Z]|\s/.test(code) && /^(?:npm|node|git|docker|curl|https?:|--|[A-Z_]+=)/.test(code))
    return [];
  const bare = code.replaceAll(/"[^"]*"|'[^']*'|<[^>]*>|\/\S*/g, " ");
  return [
    ...bare.matchAll(/(?<![\w$%.\\-])([A-Za-z_$][\w$]*)(\()?(?![\w$-])|\.([A-Za-z_$][\w$]*)/g),
  ]
    .flatMap(([, word, call, member]) =>
      word === undefined ? [[member, ""]] : [[word, call ?? ""]],
    )
    .filter(([word = "", call]) => call === "(" || /[a-z0-9][A-Z]/.test(word))
    .map(([word = ""]) => word);
}

function checkLink(target: string, file: string, tree: Tree): string[] {
  if (/^[a-z]+:/i.test(target)) return [];
  const [path = "", anchor] = target.split("#");
  const found = path === "" ? file : posix.join(posix.dirname(file), path);
  if (!tree.paths.has(found) && !tree.paths.has(`${found.replace(/\/$/, "")}/`)) {
    return [`there is no file ${target}`];
  }
  if (anchor === undefined || !found.endsWith(".md")) return [];
  return headingsOf(tree.read(found)).has(anchor) ? [] : [`there is no heading ${target}`];
}

/** The anchors that a forge makes of headings. */
function headingsOf(text: string): ReadonlySet<string> {
  return new Set(
    [...withoutFences(text).matchAll(/^#+ (.*)$|<a id="([^"]+)"/gm)].map(
      ([, heading = "", id]) =>
        id ??
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
          .trim()
          .replaceAll(/\s/g, "-"),
    ),
  );
}

/** Compares the tables of "Inside x" with the folders of each package's `src`. */
export function checkMap(map: string, tree: Tree): string[] {
  const sections = new Map(
    tree
      .read(map)
      .split(/^## Inside /m)
      .slice(1)
      .map(
        (section) => [/^\w+/.exec(section)?.[0] ?? "", section.split(/^## /m)[0] ?? ""] as const,
      ),
  );
  const packages = [...tree.paths].flatMap(
    (path) => /^packages\/([^/]+)\/src\/$/.exec(path)?.[1] ?? [],
  );
  const apps = [...tree.paths].filter((path) => /^apps\/[^/]+\/src\/[^/]+\/$/.test(path));
  const lostApps = apps.filter((path) => !tree.read(map).includes(`\`${path}\``));
  const inPackages = packages.flatMap((id) => {
    const section = sections.get(id);
    if (section === undefined) return [`${map}: there is no section "Inside ${id}"`];
    const cells = [...section.matchAll(/^\|([^|]*)/gm)].map(([, cell = ""]) => cell).join();
    const rows = new Set([...cells.matchAll(/`([\w-]+)\/`/g)].map(([, name = ""]) => name));
    const folders = [...tree.paths].flatMap(
      (path) => new RegExp(`^packages/${id}/src/([^/]+)/$`).exec(path)?.[1] ?? [],
    );
    return [
      ...folders
        .filter((name) => !rows.has(name))
        .map((name) => `${map}: "Inside ${id}" has no row for ${name}/`),
      ...[...rows]
        .filter((name) => !folders.includes(name))
        .map((name) => `${map}: "Inside ${id}" has a row for ${name}/, which is not there`),
    ];
  });
  return [...inPackages, ...lostApps.map((path) => `${map}: there is no row for ${path}`)];
}

/** Identifiers of a source, and texts that are one word. Those in comments and longer texts don't count. */
export function identifiersOf(source: string): string[] {
  const tokens =
    /\/\/.*|\/\*[^]*?\*\/|"(\w+)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|([A-Za-z_$][\w$]*)/g;
  return [...source.matchAll(tokens)].flatMap(([, text, name]) => name ?? text ?? []);
}

function readTree(): Tree {
  const exclude = ["**/node_modules", "**/dist", ".git", "coverage", "reports"];
  const files = globSync(["**/*", "**/.*", ".ci/*"], {
    cwd: root,
    exclude,
    withFileTypes: true,
  }).map((entry) => {
    const path = join(entry.parentPath, entry.name).slice(root.length + 1);
    return entry.isDirectory() ? `${path}/` : path;
  });
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const sources = files.filter((path) => /\.(?:ts|tsx|mjs|js|sql|sh)$/.test(path));
  const manifests = files
    .filter((path) => posix.basename(path) === "package.json")
    .map((path) => readManifest(join(root, path)));
  return {
    paths: new Set([...files, "./"]),
    names: new Set(sources.flatMap((path) => identifiersOf(read(path)))),
    entries: new Set([
      "@millrace/source", // the condition under which Node reads our sources
      ...manifests.flatMap(({ name, exports = {} }) =>
        ["", ...Object.keys(exports)].map((subpath) => posix.join(name, subpath)),
      ),
    ]),
    scripts: new Set([
      ...manifests.flatMap(({ scripts = {} }) => Object.keys(scripts)),
      ...identifiersOf(read("apps/create-millrace/src/manifest.ts")), // of the projects it makes
    ]),
    read,
  };
}

if (import.meta.main) {
  const tree = readTree();
  const documents = [...tree.paths].filter(
    (path) => path.endsWith(".md") && !/^docs\/(?:decisions\/|campaigns\.md)|\/api\.md$/.test(path),
  );
  report(
    [
      ...documents.toSorted().flatMap((file) => checkDocument(file, tree)),
      ...(existsSync(join(root, "ARCHITECTURE.md")) ? checkMap("ARCHITECTURE.md", tree) : []),
    ],
    `paths: ${documents.length} Markdown files name what exists`,
  );
}
