/** Which modules an import of a provider loads. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/workspace.ts";

const folder = join(root, "packages/providers");
const { exports: entries } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, { readonly "@millrace/source"?: string }>>;
};
const names = Object.keys(entries).filter((name) => name !== "./package.json");

/** The specifiers that a module imports when it runs, without types and without `import(…)`. */
function importsOf(file: string): readonly string[] {
  const statement = /^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm;
  return [...readFileSync(file, "utf8").matchAll(statement)].map(([, from = ""]) => from);
}

interface Graph {
  readonly files: ReadonlySet<string>;
  readonly packages: ReadonlySet<string>;
}

function graphOf(entry: string): Graph {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const from of importsOf(file)) {
      if (from.startsWith(".")) visit(join(dirname(file), from));
      else packages.add(from);
    }
  };
  visit(sourceOf(entry));
  return { files, packages };
}

function sourceOf(entry: string): string {
  const file = join(folder, entries[entry]?.["@millrace/source"] ?? "");
  if (!existsSync(file)) throw new Error(`${entry} has no source`);
  return file;
}

/** The formats among modules: each has a folder of its own. */
function protocolsIn(files: Iterable<string>): readonly string[] {
  const found = [...files].flatMap(
    (file) => /^src\/protocols\/([^/]+)\//.exec(relative(folder, file))?.[1] ?? [],
  );
  return [...new Set(found)].toSorted();
}

/** The formats of each entry. Others load none: a new one is a decision. */
const formats: Readonly<Record<string, readonly string[]>> = {
  "./anthropic": ["anthropic-messages"],
  "./azure": ["openai-chat", "openai-responses"],
  "./bedrock": ["anthropic-messages", "bedrock-converse"], // its own format, and Claude's
  "./compatible": ["openai-chat"],
  "./gemini": ["gemini"],
  "./openai": ["openai-chat", "openai-responses"],
  "./vertex": ["gemini"],
  "./vertex-anthropic": ["anthropic-messages"],
};

test.each(names)("%s loads its own formats and no other vendor's", (entry) => {
  expect(protocolsIn(graphOf(entry).files)).toEqual(formats[entry] ?? []);
});

test("no entry loads the HTTP client before the first request, nor core's codecs and stores", () => {
  for (const entry of names.filter((name) => name !== "./testing")) {
    const { packages } = graphOf(entry);
    expect([...packages], entry).not.toContain("undici");
    const isVendor = protocolsIn(graphOf(entry).files).length > 0;
    if (!isVendor) continue;
    expect([...packages], entry).not.toContain("@millrace/core/wire");
    expect([...packages], entry).not.toContain("@millrace/core/memory");
  }
});

test("no bridge loads more of the providers than their kit", () => {
  const sources = globSync(join(root, "packages/bridges/src/*.ts"));
  const packages = new Set(
    sources
      .filter((file) => !/\.test(-d)?\.ts$/.test(file))
      .flatMap(importsOf)
      .filter((from) => !from.startsWith(".") && !from.startsWith("@millrace/core")),
  );
  expect([...packages]).toEqual(["@millrace/providers/protocol-kit"]);
});
