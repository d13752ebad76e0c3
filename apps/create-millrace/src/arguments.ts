import { parseArgs } from "node:util";
import { isAnswer, questionNames, questions } from "./choices.ts";
import type { Answers, QuestionName } from "./choices.ts";
import { Refusal } from "./refusal.ts";

/** What the command line says. */
export interface Arguments {
  /** The folder of the new project. Left out: it is asked for. */
  readonly folder: string | undefined;
  readonly answers: Partial<Answers>;
  /** Whether the usual choice answers what no flag does. */
  readonly yes: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

/** Reads the command line. Throws a `Refusal` for what it does not know. */
export function readArguments(words: readonly string[]): Arguments {
  const { values, positionals } = parse(words);
  if (positionals.length > 1)
    throw new Refusal(`one folder, please: ${positionals.map(quoted).join(" ")} are several`);
  const answers: Partial<Record<QuestionName, string>> = {};
  for (const name of questionNames) {
    const value = values[name];
    if (value === undefined) continue;
    if (!isAnswer(name, value))
      throw new Refusal(`--${name} can't be ${quoted(value)}: choose ${namesOf(name)}`);
    answers[name] = value;
  }
  return {
    folder: positionals[0],
    answers: answers as Partial<Answers>, // each was checked above
    yes: values.yes === true,
    help: values.help === true,
    version: values.version === true,
  };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        template: { type: "string" },
        vendor: { type: "string" },
        run: { type: "string" },
        "sign-in": { type: "string" },
        yes: { type: "boolean", short: "y" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
  } catch (error) {
    const [first = ""] = error instanceof Error ? error.message.split(/\.\s|\n/) : [];
    throw new Refusal(`${first}. See --help`, { cause: error });
  }
}

/** The choices of a question, as a list for people. */
function namesOf(name: QuestionName): string {
  const names = questions[name].choices.map((choice) => choice.name);
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
