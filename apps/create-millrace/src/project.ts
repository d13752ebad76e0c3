import { randomBytes } from "node:crypto";
import { globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import type { Answers } from "./choices.ts";
import { manifestOf, tsconfigOf } from "./manifest.ts";

/** The files of a project: from its paths, with `/`, to their contents. */
export type Project = ReadonlyMap<string, string>;

/** The name in the templates for which that of the project is put. */
const placeholder = "millrace-app";

/** Files to which each layer adds its part, in the order of the layers. Any other file has one owner. */
const joined = ["README.md", "AGENTS.md", "compose.yaml", ".env.example"];

const templates = join(import.meta.dirname, "..", "templates");

/** Lays the folders of the answers over each other. */
export function makeProject(name: string, answers: Answers): Project {
  const project = new Map<string, string>();
  for (const layer of layersOf(answers)) {
    for (const [path, text] of readLayer(layer)) {
      const before = project.get(path);
      if (before !== undefined && !joined.includes(path))
        throw new Error(`two layers have ${path}: ${layer} is the second`);
      project.set(path, (before ?? "") + text.replaceAll(placeholder, name));
    }
  }
  for (const [path, text] of project)
    if (/^\.env.*\.example$/.test(path))
      project.set(path.replace(".example", ""), withSecrets(text));
  project.set("package.json", toJson(manifestOf(name, answers, ownVersion())));
  project.set("tsconfig.json", toJson(tsconfigOf(answers)));
  return project;
}

function layersOf(answers: Answers): readonly string[] {
  const { template, vendor, run, "sign-in": signIn } = answers;
  const page = signIn === "keys" || signIn === "jwt" ? "token" : signIn;
  return [
    template,
    ...(template === "web" ? [`sign-in/web/${page}`] : ["http"]),
    ...(template === "web" || signIn === "session" ? ["signed"] : []),
    `vendor/${vendor}`,
    `run/${run}`,
    ...(run === "local" ? [] : ["database"]),
    `sign-in/${signIn}`,
    "shared",
  ];
}

/**
 * Fills in what has to be random, and then where its name is in `<>`: no two projects have the same, and none has a
 * default.
 */
function withSecrets(settings: string): string {
  const secrets = new Map<string, string>();
  const filled = settings.replaceAll(/^(\w+_(?:SECRET|PASSWORD))=$/gm, (_, name: string) => {
    secrets.set(name, randomBytes(32).toString("hex"));
    return `${name}=${secrets.get(name)}`;
  });
  return filled.replaceAll(/<(\w+)>/g, (whole, name: string) => secrets.get(name) ?? whole);
}

/** npm leaves out some files that begin with a dot, so in the templates those begin with `_`. */
function* readLayer(layer: string): Iterable<readonly [path: string, text: string]> {
  const folder = join(templates, layer);
  for (const found of globSync("**/*", { cwd: folder }).toSorted()) {
    const file = join(folder, found);
    if (statSync(file).isDirectory()) continue;
    const name = basename(found).replace(/^_/, ".");
    const path = join(dirname(found), name).replaceAll(sep, "/");
    yield [path, readFileSync(file, "utf8")];
  }
}

/** The version of the creator, which is that of the packages. */
export function ownVersion(): string {
  const text = readFileSync(join(import.meta.dirname, "..", "package.json"), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version; // our own file
}

function toJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
