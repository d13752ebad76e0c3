// Prompts on the command line: words, pipes, results as JSON, servers, and mistakes of users.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startVendorServer } from "@millrace/providers/testing";
import { describe, expect, it } from "vitest";
import { chatCompletionsReply } from "./testing/chat-completions.ts";
import { TestFolder } from "./testing/folder.ts";
import { shell } from "./testing/shell.ts";

const patience = 180_000;

/** A model that answers with the prompt it got, as JSON. */
const echo = `export const replies = [(request) => [{ say: JSON.stringify(request.transcript.at(-1).parts[0].text) }]];`;

describe("a prompt on the command line", () => {
  it.each([
    [`m "how are you?"`, "how are you?"],
    [`m chat "how are you?"`, "how are you?"],
    [`m -p "how are you?"`, "how are you?"],
    [`m -p -- --help`, "--help"],
    [`printf 'one\\ntwo\\n' | m -p summarise`, "summarise\n\none\ntwo"],
    [`printf 'one\\ntwo\\n' | m -p`, "one\ntwo"],
  ])(
    "is answered in a pipe by the text alone: %s",
    async (line, prompt) => {
      await using folder = await TestFolder.open();
      const model = await folder.script(echo);
      const redirected = line.includes("|") ? line : `${line} < /dev/null`;

      const outcome = await shell(redirected, folder, { MILLRACE_MODEL: model });

      expect(outcome).toEqual({ code: 0, stdout: `${JSON.stringify(prompt)}\n`, stderr: "" });
    },
    patience,
  );

  it(
    "waits for the end of a pipe, and reports that it waits",
    async () => {
      await using folder = await TestFolder.open();
      const model = await folder.script(echo);

      const line = `mkfifo pipe; m -p now < pipe 2> notices & exec 3> pipe
        until grep -q waits notices; do sleep 0.1; done
        echo late >&3; exec 3>&-; wait $!; cat notices >&2`;
      const outcome = await shell(line, folder, { MILLRACE_MODEL: model });

      expect(outcome).toMatchObject({ code: 0, stdout: `"now\\n\\nlate"\n` });
      expect(outcome.stderr).toContain("waits for the end of stdin");
    },
    patience,
  );
});

describe("with --json", () => {
  it(
    "stdout is one line with the result",
    async () => {
      await using folder = await TestFolder.open();
      const model = await folder.script(
        `export const replies = [[{ think: "hm" }, { say: "It is late.\\u009b2J" }]];`,
      );

      const line = `echo "what time is it?" | m chat --json --session s --model ${model}`;
      const outcome = await shell(line, folder);

      expect(outcome).toMatchObject({ code: 0, stderr: "" });
      expect(outcome.stdout).toMatch(/^[ -~]+\n$/);
      const result: unknown = JSON.parse(outcome.stdout);
      expect(result).toMatchObject({ session: "s", model, outcome: "completed" });
      expect(result).toMatchObject({ text: "It is late.\u009b2J", usage: { inputTokens: 0 } });
      console.log(`count: ${outcome.stdout.length} bytes for one answer`);
      expect(outcome.stdout.length).toBeLessThan(600);
    },
    patience,
  );

  it(
    "a run that failed is a line too, with its cause and the exit code",
    async () => {
      await using folder = await TestFolder.open();
      const model = await folder.script(
        `const cause = { code: "invalid_request", message: "no" };
         export const replies = [[{ end: { stop: "failed", cause } }]];`,
      );

      const outcome = await shell(`m --json hi --model ${model} < /dev/null`, folder);

      expect(outcome.code).toBe(1);
      expect(JSON.parse(outcome.stdout)).toMatchObject({
        outcome: "failed",
        cause: { code: "invalid_request", message: "no" },
      });
    },
    patience,
  );

  it(
    "a run that is stopped is a line too",
    async () => {
      await using folder = await TestFolder.open();
      const model = await folder.script(
        `const interrupt = () => process.kill(process.pid, "SIGINT");
         const reply = [{ say: "Half" }, { stall: 600000 }];
         export const replies = [() => (setTimeout(interrupt, 2000), reply)];`,
      );

      const outcome = await shell(`m --json hi --model ${model} < /dev/null`, folder);

      expect(outcome.code).toBe(130);
      expect(JSON.parse(outcome.stdout)).toMatchObject({ outcome: "aborted", text: "Half" });
    },
    patience,
  );
});

it(
  "a session goes on with the model that it began with, and with another one only this time",
  async () => {
    await using folder = await TestFolder.open();
    const model = await folder.script(`export const replies = [[{ say: "Another." }]];`);
    const lines = [
      `echo one | m chat --session s --model demo`,
      `echo two | m chat --resume s --model ${model}`,
      `echo three | MILLRACE_MODEL=openai/x m chat --resume s`,
    ];

    const outcome = await shell(lines.join(" && "), folder);

    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    expect(outcome.stdout).toMatch(/^I am a script.*\nAnother\.\nI am a script.*\n$/);
  },
  patience,
);

describe("an OpenAI-compatible server", () => {
  it(
    "is a model by its address, and the session goes on with it by itself",
    async () => {
      await using folder = await TestFolder.open();
      await using server = await startVendorServer({
        replies: [
          { body: chatCompletionsReply("One.") },
          { body: chatCompletionsReply("Two."), chunks: "byte" },
        ],
      });
      const model = `${server.url}/v1#org/small:8b`;

      const first = await shell(`m -p hello --session s --model '${model}' < /dev/null`, folder);
      const second = await shell(`m -p again --resume s < /dev/null`, folder);

      expect(first).toEqual({ code: 0, stdout: "One.\n", stderr: "" });
      expect(second).toEqual({ code: 0, stdout: "Two.\n", stderr: "" });
      for (const { path, json, headers } of server.requests) {
        expect(path).toBe("/v1/chat/completions");
        expect(json).toMatchObject({ model: "org/small:8b" });
        expect(headers).not.toHaveProperty("authorization");
      }
      expect(server.requests[1]?.body).toContain("One.");
    },
    patience,
  );

  it.each(["ollama", "vllm"])(
    "is %s by its name, with its own address and key and no other's",
    async (name) => {
      await using folder = await TestFolder.open();
      await using server = await startVendorServer({
        replies: [{ body: chatCompletionsReply("Here.") }],
      });
      const variable = name.toUpperCase();

      const outcome = await shell(`m -p hello --model ${name}/small < /dev/null`, folder, {
        [`${variable}_BASE_URL`]: `${server.url}/v1`,
        [`${variable}_API_KEY`]: "own",
        OPENAI_API_KEY: "another's",
        MILLRACE_API_KEY: "another's",
      });

      expect(outcome).toEqual({ code: 0, stdout: "Here.\n", stderr: "" });
      expect(server.requests[0]?.headers).toMatchObject({ authorization: "Bearer own" });
    },
    patience,
  );

  it(
    "that is not there is named in the one line of the failure",
    async () => {
      await using folder = await TestFolder.open();
      const line = `m -p hello --model 'http://127.0.0.1:9/v1#m' < /dev/null`;
      const outcome = await shell(line, folder);

      expect(outcome).toMatchObject({ code: 1, stdout: "" });
      expect(outcome.stderr).not.toContain("    at ");
    },
    patience,
  );
});

describe("a mistake of the user", () => {
  it.each([
    [`m -p hi --model demo --store /dev/null/x`, "name another folder with --store"],
    [`m -p hi --model demo --store a-file`, "name another folder with --store"],
    [`m chat --list --store a-file`, "name another folder with --store"],
    [`m --resume s --model demo --store a-file`, "name another folder with --store"],
    [`m -p hi --model gpt`, "--model takes anthropic/<name>"],
    [`m -p hi --model openai/x`, "set OPENAI_API_KEY"],
    [`m -p hi`, "set ANTHROPIC_API_KEY"],
    [`m -p hi --model http://127.0.0.1:9/v1`, "http://<host>/v1#<name>"],
    [`OLLAMA_BASE_URL=127.0.0.1:9 m -p hi --model ollama/x`, "write http://<host>/v1"],
    [`m -p hi --model scripted:missing.mjs`, "missing.mjs"],
    [`m -p hi --model scripted:a-file.mjs`, "a-file.mjs"],
    [`m -p hi --model scripted:empty.mjs`, "exports neither a model nor replies"],
    [`m -p --model demo`, "there is no prompt"],
    [`m two words`, "put quotes around it"],
    [`m -p hi --jsn`, "--help"],
    [`m -p hi --json=all`, "--json=events"],
    [`m -p hi --tools rm`, "there are time, shell, or none"],
    [`m -p hi --session a --resume b`, "give one of them"],
  ])(
    "is one line that names what to do, and exit code 2: %s",
    async (line, advice) => {
      await using folder = await TestFolder.open();
      await writeFile(join(folder.path, "a-file"), "not a folder");
      await writeFile(join(folder.path, "a-file.mjs"), "export const replies = [");
      await writeFile(join(folder.path, "empty.mjs"), "");

      const outcome = await shell(`${line} < /dev/null`, folder);

      expect(outcome).toMatchObject({ code: 2, stdout: "" });
      expect(outcome.stderr).toMatch(/^millrace: [^\n]+\n$/);
      expect(outcome.stderr).toContain(advice);
    },
    patience,
  );

  it(
    "that is a session's file from elsewhere runs no code and connects to no address",
    async () => {
      await using folder = await TestFolder.open();
      const model = await folder.script(
        `import { writeFileSync } from "node:fs"; writeFileSync("ran", ""); ${echo}`,
      );
      const made = await shell(`m -p hi --session s --model ${model} < /dev/null; rm ran`, folder);
      expect(made.code).toBe(0);

      const outcome = await shell(`m -p hi --resume s < /dev/null; echo $?; ls ran`, folder);

      expect(outcome.stdout).toBe("2\n");
      expect(outcome.stderr).toMatch(/^millrace: [^\n]*give --model yourself\n/);
    },
    patience,
  );
});
