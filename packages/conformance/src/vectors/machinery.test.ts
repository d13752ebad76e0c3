import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Json } from "@millrace/core";
import { expect, test } from "vitest";
import { differences } from "./compare.ts";
import { expand } from "./expand.ts";
import { readLines } from "./lines.ts";
import { loadVectors } from "./load.ts";
import { runVectors } from "./run-vectors.ts";
import type { Vector } from "./vector.ts";

/** The least number of vectors per suite. Fewer would mean that a file was lost. */
const least: Readonly<Record<string, number>> = {
  apply: 45,
  arguments: 45,
  coalesce: 15,
  codec: 25,
  cursor: 15,
  fold: 70,
  narrate: 15,
  project: 15,
  sse: 35,
  steps: 15,
  transcript: 25,
};

/** Starting node several times is slow on a busy machine. */
const slow = { timeout: 60_000 };

const runner = fileURLToPath(new URL("../../run.ts", import.meta.url));

/** Runs the plain runner on a program of one line. */
function runProgram(program: string, ...options: readonly string[]): ReturnType<typeof spawnSync> {
  const command = [process.execPath, "-e", program];
  return spawnSync(
    process.execPath,
    ["--conditions=@millrace/source", runner, "--suite=cursor", ...options, "--", ...command],
    { encoding: "utf8" },
  );
}

async function collect<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

function vector(input: Json, wanted: Json): Vector {
  return { suite: "fold", name: "n", input, expect: wanted };
}

test("every suite has its vectors, each with a name of its own", () => {
  const bySuite = Map.groupBy(loadVectors(), ({ suite }) => suite);

  expect([...bySuite.keys()].toSorted()).toEqual(Object.keys(least));
  for (const [suite, vectors] of bySuite) {
    expect(vectors.length).toBeGreaterThanOrEqual(least[suite] ?? Infinity);
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  }
});

test("generator forms are written out, and all else is left as it is", () => {
  const proto = JSON.parse('{"__proto__":{"$repeat":["x",2]}}') as Json;

  expect(expand({ a: [{ $repeat: ["ab", 3] }, { $count: ["#,", 3] }] })).toEqual({
    a: ["ababab", "0,1,2,"],
  });
  expect(expand({ $join: ["<", { $repeat: ["x", 2] }, ">"] })).toBe("<xx>");
  expect(expand({ $repeat: "x" })).toEqual({ $repeat: "x" });
  expect(expand({ $repeat: ["x", 1], more: true })).toEqual({ $repeat: ["x", 1], more: true });
  expect(JSON.stringify(expand(proto))).toBe('{"__proto__":"xx"}');
});

test("a given stands in a list for its elements, and one that is not there is refused", () => {
  const givens = { one: [1, { $repeat: ["x", 2] }], two: [{ $given: "one" }, 2] };

  expect(expand({ list: [0, { $given: "two" }, 3] }, givens)).toEqual({ list: [0, 1, "xx", 2, 3] });
  expect(expand({ field: { $given: "one" } }, givens)).toEqual({ field: { $given: "one" } });
  expect(() => expand([{ $given: "three" }], givens)).toThrow("there is no given named three");
});

test("two values differ where their content differs, and not in the order of keys", () => {
  expect(differences({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toEqual([]);
  expect(differences({ a: [1, 2] }, { a: [1, 3, 4] })).toEqual([
    { path: "a[1]", expected: 2, actual: 3 },
    { path: "a[2]", expected: undefined, actual: 4 },
  ]);
  expect(differences({ a: null }, {})).toEqual([{ path: "a", expected: null, actual: undefined }]);
  expect(differences([], {})).toHaveLength(1);
  expect(differences(1, "1")).toHaveLength(1);
  expect(differences({}, { toString: 1 })).toHaveLength(1);
});

test("a wrong answer fails its vector, and one that throws does not end the run", async () => {
  const implementation = {
    answer: async (_: string, input: Json) => {
      if (input === "throw") throw new Error("no idea");
      return input;
    },
  };
  const vectors = [vector(1, 1), vector(1, 2), vector("throw", 3), vector([4], [4])];

  const results = await collect(runVectors(implementation, vectors));

  expect(results.map(({ ok }) => ok)).toEqual([true, false, false, true]);
  expect(results[2]?.actual).toEqual({ threw: "no idea" });
});

test("lines are cut at LF and nowhere else, wherever the bytes are cut", async () => {
  const bytes = new TextEncoder().encode("a\u2028b\n\u{1F600}\r\n\nlast");
  const single = async function* (): AsyncGenerator<Uint8Array> {
    for (const byte of bytes) yield Uint8Array.of(byte);
  };

  expect(await collect(readLines(single()))).toEqual(["a\u2028b", "\u{1F600}\r", "", "last"]);
});

test("the plain runner passes our own adapter", slow, () => {
  const { stdout, status } = spawnSync(
    process.execPath,
    ["--conditions=@millrace/source", runner],
    {
      encoding: "utf8",
    },
  );

  expect(stdout).toBe(`${loadVectors().length} passed, 0 failed\n`);
  expect(status).toBe(0);
});

test("the plain runner fails a program that answers wrongly, and shows where", slow, () => {
  const program =
    'process.stdin.on("data", (line) => console.log(JSON.stringify({ id: JSON.parse(line).id, output: { text: 5 } })))';

  const { stdout, status } = runProgram(program);

  expect(stdout).toContain("FAILED cursor: a cursor without lanes is its version, uid and head");
  expect(stdout).toContain('  at text\n    - "1.u1.0"\n    + 5\n');
  expect(stdout).toMatch(/\n0 passed, \d+ failed\n$/);
  expect(status).toBe(1);
});

test("the plain runner ends a program that never answers", slow, () => {
  const { stdout, status } = runProgram("setInterval(() => {}, 1000)", "--seconds=0.2");

  expect(stdout).toContain("no answer within 0.2 s");
  expect(stdout).toMatch(/\n0 passed, \d+ failed\n$/);
  expect(status).toBe(1);
});

test(
  "the plain runner fails a program that ends early, and one that answers something else",
  slow,
  () => {
    expect(runProgram("").stdout).toContain("the program ended without an answer");
    expect(runProgram('console.log("hello")').stdout).toContain("not a line of JSON: hello");
    expect(
      runProgram("process.stdin.on('data', () => console.log('{\"id\":0,\"output\":1}'))").stdout,
    ).toContain("the answer has the id 0, not 1");
  },
);
