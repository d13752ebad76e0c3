import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { mistakes } from "./mistakes.ts";
import { problemsOf, runMistake } from "./run-mistakes.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
const node = [process.execPath, "--conditions=@millrace/source"] as const;

test.for(mistakes.filter(({ oldNode }) => oldNode !== true))(
  "$name prints what to do, and no stack of ours",
  async (mistake) => {
    const ran = await runMistake(mistake, { folder, node });

    expect(problemsOf(mistake, ran)).toStrictEqual([]);
  },
);

test("there are at least 40 mistakes, each with a name of its own", () => {
  const names = new Set(mistakes.map(({ name }) => name));

  expect(names.size).toBe(mistakes.length);
  expect(names.size).toBeGreaterThanOrEqual(40);
});
