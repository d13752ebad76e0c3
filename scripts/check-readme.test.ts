import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkReadme } from "./check-readme.ts";
import { temporaryFolder } from "./temporary.ts";
import { root } from "./workspace.ts";

const program = `import { fold } from "@millrace/core";

export function main(): void {
  // #region body
  if (true) {
    fold();
  }
  // #endregion
}
`;

const body = "if (true) {\n  fold();\n}\n";

test("a block that equals its region is accepted", () => {
  expect(check(`<!-- from: main.ts#body -->\n\`\`\`ts\n${body}\`\`\`\n`).problems).toEqual([]);
});

test("a block that equals its whole file is accepted", () => {
  expect(check(`<!-- from: main.ts -->\n\n\`\`\`ts\n${program}\`\`\`\n`).problems).toEqual([]);
});

test("a block that differs from its file is reported, and refreshed in the new text", () => {
  const readme = (code: string) =>
    `# Title\n\n<!-- from: main.ts#body -->\n\`\`\`ts\n${code}\`\`\`\n\nText with $& in it.\n`;

  const { text, problems } = check(readme(body.replace("fold", "fond")));

  expect(problems).toEqual(["README.md:3: differs from main.ts: run npm run readme"]);
  expect(text).toBe(readme(body));
});

test.each([
  ["a block without a file", "```ts\nfold();\n```\n", "name the file it is from"],
  ["an indented block", "- a\n\n  ```ts\n  a\n  ```\n", "a code block starts in the first column"],
  ["a missing file", "<!-- from: gone.ts -->\n```ts\n```\n", "there is no gone.ts"],
  ["a missing region", "<!-- from: main.ts#x -->\n```ts\n```\n", "there is no main.ts#x"],
  [
    "an unknown npm script",
    "```sh\nnpm run gone\n```\n",
    "there is no npm script for: npm run gone",
  ],
  [
    "a script that another workspace has",
    "```sh\nnpm test -w gone\n```\n",
    "there is no npm script for: npm test -w gone",
  ],
  ["a missing program", "```sh\nnode gone.ts\n```\n", "there is no gone.ts for: node gone.ts"],
  [
    "another command",
    "```sh\nnpm ci && rm -rf dist\n```\n",
    "name the file it is from, or leave out: rm -rf dist",
  ],
])("%s is reported", (_, readme, problem) => {
  expect(check(readme).problems).toEqual([expect.stringContaining(`: ${problem}`)]);
});

test("a shell block of known commands needs no file", () => {
  const commands = [
    "git clone https://example.org/millrace.git # the sources",
    "cd millrace && npm ci",
    "npm install @millrace/core",
    "npm test",
    "npm run -s check -- --fast",
    "node --conditions=@millrace/source main.ts",
    "npm start -w examples/one -- --fast",
    "cd ../new-project",
    "npm run dev # a script of that project",
  ];

  expect(check(`\`\`\`sh\n${commands.join("\n")}\n\`\`\`\n`).problems).toEqual([]);
});

test("a block in another language is checked if it names a file", () => {
  const { problems } = check("<!-- from: main.ts -->\n```json\n{}\n```\n");

  expect(problems).toEqual(["README.md:1: differs from main.ts: run npm run readme"]);
});

test("a block in another language is not checked otherwise", () => {
  expect(check("```json\n{}\n```\n\n```\ntext\n```\n").problems).toEqual([]);
});

test("the first page is short, and so is its program", () => {
  const page = readFileSync(join(root, "README.md"), "utf8");
  const [, program = ""] = /```ts\n([^]*?)```/.exec(page) ?? [];

  expect(page.split(/\s+/).length).toBeLessThanOrEqual(1_000);
  expect(page.split("\n").length).toBeLessThanOrEqual(120);
  expect(program.trimEnd().split("\n").length).toBeLessThanOrEqual(22);
});

function check(readme: string): ReturnType<typeof checkReadme> {
  using folder = temporaryFolder({
    "README.md": readme,
    "main.ts": program,
    "examples/one/package.json": `{ "name": "one", "scripts": { "start": "true" } }`,
    "package.json": `{ "name": "x", "scripts": { "check": "true", "test": "true" } }`,
  });
  return checkReadme("README.md", folder.path);
}
