import { createInterface } from "node:readline/promises";
import type { Interface } from "node:readline/promises";
import { isAnswer, questionNames, questions } from "./choices.ts";
import type { Answers, QuestionName } from "./choices.ts";
import { Refusal } from "./refusal.ts";

/** Where questions are printed and answered. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Asks for what is missing. Ctrl-C and the end of the input are a refusal. */
export async function ask(
  { input, output }: Terminal,
  known: { readonly folder: string | undefined; readonly answers: Partial<Answers> },
): Promise<{ readonly folder: string; readonly answers: Answers }> {
  const lines = createInterface({ input, output });
  const gone = new AbortController();
  lines.once("close", () => gone.abort());
  try {
    const question = (text: string): Promise<string> =>
      lines.question(text, { signal: gone.signal }).then((answer) => answer.trim());
    const folder =
      known.folder ?? ((await question("Folder of the project [my-app]: ")) || "my-app");
    const answers: Partial<Record<QuestionName, string>> = { ...known.answers };
    for (const name of questionNames) answers[name] ??= await choose(name, question, output);
    return { folder, answers: answers as Answers }; // every question has an answer now
  } catch (error) {
    if (gone.signal.aborted) throw new Refusal("nothing was written", { cause: error });
    throw error;
  } finally {
    lines.close();
  }
}

/** A numbered list. Its number or its name chooses; Enter takes the first. */
async function choose(
  name: QuestionName,
  question: (text: string) => ReturnType<Interface["question"]>,
  output: NodeJS.WritableStream,
): Promise<string> {
  const { text, choices } = questions[name];
  const rows = choices.map(
    (choice, at) => `  ${at + 1}  ${choice.name.padEnd(11)} ${choice.hint}\n`,
  );
  output.write(`\n${text}\n${rows.join("")}`);
  for (;;) {
    const answer = await question("Number or name [1]: ");
    if (answer === "") return choices[0].name;
    const chosen = choices[Number(answer) - 1]?.name;
    if (chosen !== undefined) return chosen;
    if (isAnswer(name, answer)) return answer;
    output.write(`There is no ${JSON.stringify(answer)} here.\n`);
  }
}
