import { basename, relative, resolve } from "node:path";
import { readArguments } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";
import { ask } from "./ask.ts";
import type { Terminal } from "./ask.ts";
import { questionNames, questions } from "./choices.ts";
import type { Answers } from "./choices.ts";
import { helpText } from "./help.ts";
import { makeProject, ownVersion } from "./project.ts";
import { Refusal } from "./refusal.ts";
import { checkFolder, writeProject } from "./write-project.ts";

/** What the creator runs in. */
export interface Place extends Terminal {
  readonly folder: string;
  /** Whether a person can answer. */
  readonly isInteractive: boolean;
}

/** Makes a project by a command line. Throws a `Refusal` if it can't, and has then written nothing. */
export async function create(words: readonly string[], place: Place): Promise<void> {
  const given = readArguments(words);
  if (given.help) return print(place, helpText());
  if (given.version) return print(place, ownVersion());
  if (given.folder !== undefined) nameOf(resolve(place.folder, given.folder)); // before any question
  const { folder, answers } = await complete(given, place);
  const target = resolve(place.folder, folder);
  const name = nameOf(target);
  writeProject(target, makeProject(name, answers));
  print(place, nextSteps(relative(place.folder, target), answers));
}

/** The folder and the answers: of flags, of a person, or the usual ones. */
async function complete(
  { folder, answers, yes }: Arguments,
  place: Place,
): Promise<{ readonly folder: string; readonly answers: Answers }> {
  const missing = questionNames.filter((name) => answers[name] === undefined);
  if (yes || (missing.length === 0 && folder !== undefined)) {
    const usual = Object.fromEntries(
      missing.map((name) => [name, questions[name].choices[0].name]),
    );
    return { folder: folder ?? "my-app", answers: { ...answers, ...usual } as Answers }; // all are there
  }
  if (place.isInteractive) return await ask(place, { folder, answers });
  const flags = [
    ...(folder === undefined ? ["a folder"] : []),
    ...missing.map((name) => `--${name}`),
  ];
  throw new Refusal(
    `there is no terminal to ask in: pass ${flags.join(", ")}, or --yes for the usual choices`,
  );
}

/** The name of a project, which is that of its folder. npm and Docker have to accept it. */
function nameOf(target: string): string {
  checkFolder(target);
  const name = basename(target);
  if (!/^[a-z0-9][a-z0-9._-]{0,100}$/.test(name) || name === "node_modules") {
    const better = name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-+|-+$/g, "");
    const advice = better === "" ? "" : `, such as ${better}`;
    throw new Refusal(
      `${JSON.stringify(name)} can't be the name of a package: use small letters, digits and "-"${advice}`,
    );
  }
  return name;
}

function nextSteps(folder: string, { template, vendor, "sign-in": signIn }: Answers): string {
  const does = {
    web: "opens the page on http://localhost:3000",
    api: "serves http://localhost:3000/agent",
    terminal: "chats here",
  }[template];
  const cd = folder === "" ? "" : `  cd ${folder}\n`;
  const key = vendor === "none" ? "" : "\nIt runs without a key. For a real model fill in .env.\n";
  const later =
    signIn === "later"
      ? "\nIt serves this machine alone until you choose how people sign in.\n"
      : "";
  return `
Made ${folder === "" ? "the project" : folder}. Next:

${cd}  npm install
  npm test
  npm run dev        ${does}
${key}${later}
README.md has the rest.`;
}

function print({ output }: Place, text: string): void {
  output.write(`${text}\n`);
}
