import { existsSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, expect } from "vitest";
import { printSections, readSections } from "./sections.ts";

/**
 * One file with the goldens of all cases of a suite, a section for each. Returns a function that
 * compares what a case printed with its section. It fails with the name of the case and the first
 * line that differs. With `vitest -u` it writes the section instead: the sections of cases that did
 * not run stay as they are, and those that have no case any more are left out.
 */
export function goldenFile(
  path: string,
  cases: readonly string[],
): (name: string, actual: string) => void {
  const sections = existsSync(path) ? readSections(path) : new Map<string, Uint8Array>();
  const updated = new Map<string, string>();

  afterAll(() => {
    if (updated.size === 0) return;
    const text = (name: string): readonly (readonly [string, Uint8Array])[] => {
      const content = updated.has(name) ? Buffer.from(updated.get(name) ?? "") : sections.get(name);
      return content === undefined ? [] : [[name, content]];
    };
    writeFileSync(path, printSections(cases.flatMap(text)));
  });

  return (name, actual) => {
    if (expect.getState().snapshotState.snapshotUpdateState === "all") {
      updated.set(name, actual);
      return;
    }
    const section = sections.get(name);
    const expected = section === undefined ? undefined : Buffer.from(section).toString();
    const place = `${relative(join(import.meta.dirname, "../.."), path)}, case "${name}"`;
    expect(actual, `${place}: ${firstDifference(expected, actual)}`).toBe(expected);
  };
}

/** The names of the sections of a golden file that no case has. */
export function sectionsWithoutCase(path: string, cases: readonly string[]): readonly string[] {
  return [...readSections(path).keys()].filter((name) => !cases.includes(name));
}

function firstDifference(expected: string | undefined, actual: string): string {
  if (expected === undefined) return "there is no golden yet; vitest -u writes it";
  const [before, after] = [expected.split("\n"), actual.split("\n")];
  const at = after.findIndex((line, index) => line !== before[index]);
  const line = at === -1 ? after.length : at;
  return `line ${line + 1} differs\n- ${before[line] ?? "(no line)"}\n+ ${after[line] ?? "(no line)"}\n`;
}
