/**
 * The deliberate defects of tests/planted, and where they are in the sources of today.
 *
 *     === 03-rerun-started-tool
 *     # A call that a lost process had started is run again.
 *     # caught by: packages/agent/src/session/durable.test.ts -t is not run again
 *     @@ agent mayRepeat
 *     -return effect !== "effectful";
 *     +return effect !== undefined;
 *
 * Comment lines are what is wrong, in plain words, and the tests that notice it: files, optionally followed
 * by ` -t ` and the test's name, or a part of it. Each of several such lines must notice it alone, such as
 * those of two stores that share the broken code. An edit names the package or app and the top-level
 * declaration that the code is in, as hints: `find-code.ts` finds the code also where it was moved,
 * formatted or renamed since. A test that was moved is found by its file's name, or else by its own.
 */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Edit, type Found, type SourceText, findEdits } from "./find-code.ts";
import { isForTests } from "./sources.ts";
import { root } from "./workspace.ts";

/** One defect, and one run of tests that must notice it. */
export interface Defect {
  readonly name: string;
  /** What is wrong. */
  readonly what: string;
  readonly edits: readonly Edit[];
  readonly files: readonly string[];
  /** Part of the test's name, if not all tests of the files count. */
  readonly test: string | undefined;
}

/** The defects with a name each, and the broken lines: each edit of their file is a defect of its own. */
export function readDefects(kind: "defects" | "lines"): readonly Defect[] {
  const lines = "broken-lines.txt";
  const files = kind === "lines" ? [lines] : globSync("*.txt", { cwd: folder }).toSorted();
  const defects = files
    .filter((file) => kind === "lines" || file !== lines)
    .flatMap((file) => parseDefects(readFileSync(join(folder, file), "utf8")));
  if (kind === "defects") return defects;
  return defects.flatMap((defect) =>
    defect.edits.map((edit) => ({
      ...defect,
      what: edit.replace.replaceAll(/\s+/g, " "),
      edits: [edit],
    })),
  );
}

const folder = join(root, "tests/planted");

export function parseDefects(text: string): readonly Defect[] {
  const [before = "", ...sections] = text.split(/^=== /m);
  if (before !== "") throw new Error(`no "=== " and name before ${before}`);
  return sections.flatMap((section) => {
    const [top = "", ...edits] = section.split(/^@@ /m);
    const [name = "", ...comments] = top.trimEnd().split(/\n#? ?/);
    const mark = "caught by: ";
    const tests = comments.filter((line) => line.startsWith(mark));
    if (tests.length === 0 || edits.length === 0) throw new Error(`${name} has no test or no edit`);
    const what = comments.filter((line) => !line.startsWith(mark)).join(" ");
    const parsed = edits.map(parseEdit);
    return tests.map((line) => {
      const [paths = "", test] = line.slice(mark.length).split(" -t ");
      return { name, what, edits: parsed, files: paths.split(" "), test };
    });
  });
}

function parseEdit(text: string): Edit {
  const [place = "", ...lines] = text.trimEnd().split("\n");
  const [folderName = "", symbol = ""] = place.split(" ");
  const side = (sign: string): string =>
    lines
      .flatMap((line) => (/^[ ]/.test(line) || line.startsWith(sign) ? [line.slice(1)] : []))
      .join("\n");
  return { in: folderName, symbol, find: side("-"), replace: side("+") };
}

/** The code that defects may be in, below a folder. */
export function readCode(top: string = root): readonly SourceText[] {
  return globSync("{packages,apps}/*/src/**/*.{ts,tsx,sql}", { cwd: top })
    .filter((file) => !isForTests(file))
    .map((file) => ({ file, text: readFileSync(join(top, file), "utf8") }));
}

/** Finds the code and the tests of defects below a folder. */
export class Places {
  readonly #code: readonly SourceText[];
  readonly #tests: readonly string[];
  readonly #top: string;

  constructor(top: string = root) {
    const tests = "{packages/*/{src,test},apps/*/src,tests,examples/*}/**/*.test.ts";
    this.#code = readCode(top);
    this.#tests = globSync(tests, { cwd: top, exclude: ["**/node_modules"] });
    this.#top = top;
  }

  /** The edits of a defect by place, or why there is none. */
  edits({ edits }: Pick<Defect, "edits">): readonly Found[] | string {
    return findEdits(this.#code, edits);
  }

  /** The test files of a defect, or which can't be found. */
  tests({ files, test }: Pick<Defect, "files" | "test">): readonly string[] | string {
    const found = files.map((file) => {
      if (this.#tests.includes(file)) return file;
      const alike = this.#tests.filter((other) => basename(other) === basename(file));
      if (alike.length === 1 || test === undefined)
        return alike.length === 1 ? alike[0] : undefined;
      const titled = (alike.length === 0 ? this.#tests : alike).filter((other) =>
        readFileSync(join(this.#top, other), "utf8").includes(test),
      );
      return titled.length === 1 ? titled[0] : undefined;
    });
    const lost = found.indexOf(undefined);
    return lost === -1 ? found.flatMap((file) => file ?? []) : `no test file ${files[lost]}`;
  }
}
