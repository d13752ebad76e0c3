/**
 * Holds a program in any language to the vectors, without a test framework:
 *
 *     node --conditions=@millrace/source packages/conformance/run.ts [--suite=fold] [--seconds=10] [-- command argument …]
 *
 * Without a command it runs our own adapter. Ends with exit code 1 if a vector fails. The protocol is
 * in vectors/README.md.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Json } from "@millrace/core";
import { differences } from "./src/vectors/compare.ts";
import { readLines } from "./src/vectors/lines.ts";
import { loadVectors } from "./src/vectors/load.ts";
import { runVectors } from "./src/vectors/run-vectors.ts";
import type { Implementation, VectorResult } from "./src/vectors/vector.ts";

const ourAdapter: readonly string[] = [
  process.execPath,
  "--conditions=@millrace/source",
  fileURLToPath(new URL("adapter.ts", import.meta.url)),
];

/** A program that answers line by line. It is ended as soon as it is late, or is no longer needed. */
interface Program extends Implementation {
  readonly end: () => void;
}

/** What a program answers. */
interface Answer {
  readonly id: number;
  readonly output?: Json;
  readonly error?: string;
}

function startProgram(command: readonly string[], limitMs: number): Program {
  const [file = "", ...parameters] = command;
  const child = spawn(file, parameters, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = readLines(child.stdout);
  let asked = 0;
  /** Why the program can't be asked any more. */
  let over: string | undefined;
  child.on("error", (error) => (over ??= `the program did not start: ${error.message}`));
  child.stdin.on("error", () => (over ??= "the program no longer reads"));

  const nextLine = async (): Promise<string> => {
    const late = Promise.withResolvers<string>();
    const timer = setTimeout(() => {
      over ??= `no answer within ${limitMs / 1000} s`;
      child.kill("SIGKILL"); // ends the lines too, so that nobody waits for them
      late.reject(new Error(over));
    }, limitMs);
    try {
      const line = await Promise.race([lines.next(), late.promise]);
      if (typeof line === "string" || line.done === true)
        throw new Error((over ??= "the program ended without an answer"));
      return line.value;
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    answer: async (suite, input) => {
      if (over !== undefined) throw new Error(over);
      const id = (asked += 1);
      child.stdin.write(`${JSON.stringify({ id, suite, input })}\n`);
      const answer = readAnswer(await nextLine());
      if (answer.id !== id) throw new Error(`the answer has the id ${answer.id}, not ${id}`);
      if (answer.output === undefined) throw new Error(answer.error ?? "the answer has no output");
      return answer.output;
    },
    end: () => child.kill("SIGKILL"),
  };
}

function readAnswer(line: string): Answer {
  try {
    return JSON.parse(line) as Answer;
  } catch {
    throw new Error(`the answer is not a line of JSON: ${line.slice(0, 200)}`);
  }
}

/** What was wanted and what came, place by place. */
function describe({ suite, name, expected, actual }: VectorResult): string {
  if (isThrown(actual)) return `FAILED ${suite}: ${name}\n  ${actual.threw}`;
  const places = differences(expected, actual);
  const shown = places
    .slice(0, 10)
    .map(({ path, expected: wanted, actual: came }) =>
      [
        `  at ${path === "" ? "the top" : path}`,
        `    - ${show(wanted)}`,
        `    + ${show(came)}`,
      ].join("\n"),
    );
  const more = places.length > 10 ? [`  and ${places.length - 10} more`] : [];
  return [`FAILED ${suite}: ${name}`, ...shown, ...more].join("\n");
}

function isThrown(actual: Json): actual is { readonly threw: string } {
  return typeof actual === "object" && actual !== null && "threw" in actual;
}

function show(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}

const { values, positionals } = parseArgs({
  options: { suite: { type: "string" }, seconds: { type: "string", default: "10" } },
  allowPositionals: true,
});
const vectors = loadVectors().filter(({ suite }) => suite === (values.suite ?? suite));
const program = startProgram(
  positionals.length === 0 ? ourAdapter : positionals,
  Number(values.seconds) * 1000,
);
let failed = 0;
for await (const result of runVectors(program, vectors)) {
  if (result.ok) continue;
  failed += 1;
  process.stdout.write(`${describe(result)}\n`);
}
program.end();
process.stdout.write(`${vectors.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && vectors.length > 0 ? 0 : 1;
