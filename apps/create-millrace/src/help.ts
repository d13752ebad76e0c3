import { questionNames, questions } from "./choices.ts";

/** What `--help` prints. */
export function helpText(): string {
  const flags = questionNames.map((name) => {
    const { text, choices } = questions[name];
    const rows = choices.map((choice) => `      ${choice.name.padEnd(11)} ${choice.hint}`);
    return [`  --${name} <choice>   ${text}`, ...rows].join("\n");
  });
  return `Makes a new Millrace project. It asks four questions, or takes their answers as flags.

  npm create millrace@latest my-app
  npm create millrace@latest my-app -- --template web --vendor none --run local --sign-in later

${flags.join("\n")}

  -y, --yes             the first choice of what no flag answers
  -h, --help            this
  -v, --version         the version, which the project uses too

It writes one new folder, and changes nothing else. It installs nothing and uses no network.`;
}
