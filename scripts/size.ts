/**
 * Bundles what a browser would load, minified and gzipped, and compares it with a limit.
 *
 *     node scripts/size.ts
 *
 * Needs the built packages.
 */
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { report, root } from "./workspace.ts";

/** One program to measure. */
interface Budget {
  readonly what: string;
  readonly program: string;
  /** Bytes after gzip. */
  readonly limit: number;
}

/** What `@millrace/client` imports of core, by entry. */
const coreNames: Readonly<Record<string, readonly string[]>> = {
  "@millrace/core": ["MillraceError", "project", "textOf"],
  "@millrace/core/ports": ["systemClock"],
  "@millrace/core/reading": ["apply", "emptyState", "outputOf"],
  "@millrace/core/schema": ["answerSchemaOf", "describeIssues"],
  "@millrace/core/wire": ["createSseDecoder", "decodeItem", "receive"],
  "@millrace/core/writing": ["List", "noUsage"],
};

const budgets: readonly Budget[] = [
  {
    what: "client: core's share",
    program: Object.entries(coreNames)
      .map(([entry, names]) => `export { ${names.join(", ")} } from "${entry}";`)
      .join("\n"),
    // Reading steps is 2.4 KiB of it, and makes a stream of text half as long; reading and checking what
    // comes is 3.
    limit: 14 * 1024,
  },
  {
    what: "client: everything",
    program: `export { createClient } from "@millrace/client";`,
    // The goal is 20 KiB. Held at what it has, until it is there: limits of requests, sends that survive a reload
    // before the first answer, and a clock to be given are 1.2 KiB of it, the heartbeat of the server 60 bytes, several
    // streams and polls as short as heartbeats 250.
    limit: 25.55 * 1024,
  },
];

/** Bundles a program for browsers and returns its text, with what it still imports. */
async function bundle(program: string): Promise<{ code: string; imports: string[] }> {
  const entry = join(root, "entry-to-weigh.js");
  const build = await rolldown({
    input: entry,
    cwd: root,
    platform: "browser",
    logLevel: "silent", // an unresolved import stays, and is reported as a problem
    plugins: [
      {
        name: "program-from-memory",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? program : null),
      },
    ],
  });
  // Annotations are for bundlers, and this is what a browser loads.
  const { output } = await build.generate({
    format: "esm",
    minify: true,
    comments: { annotation: false },
  });
  const [chunk, ...rest] = output;
  if (rest.length > 0) throw new Error(`${rest.length + 1} files instead of one: ${program}`);
  return { code: chunk.code, imports: [...chunk.imports, ...chunk.dynamicImports] };
}

const problems: string[] = [];
console.log("what | gzip bytes | limit");
for (const { what, program, limit } of budgets) {
  const { code, imports } = await bundle(program);
  const bytes = gzipSync(code, { level: 9 }).length;
  console.log(`${what} | ${bytes} | ${limit}`);
  if (bytes > limit) problems.push(`${what}: ${bytes - limit} bytes above its limit`);
  if (imports.length > 0) problems.push(`${what}: still imports ${imports.join(", ")}`);
}
report(problems, "size: within the limits");
