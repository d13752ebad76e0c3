// The command in a shell script: pipes, JSON lines, exit codes.
import { describe, expect, it } from "vitest";
import { TestFolder } from "./testing/folder.ts";
import { shell } from "./testing/shell.ts";

const patience = 120_000;

describe("in a pipe", () => {
  it(
    "only the answer is on stdout, and what else there is to say on stderr",
    async () => {
      await using folder = await TestFolder.open();
      const model = await folder.script(
        `export const replies = [[{ think: "hm" }, { say: "Let me see." }, { call: "time", raw: "{}" }], [{ say: "It is late." }]];`,
      );

      const outcome = await shell(`echo hi | m chat --model ${model}`, folder);

      expect(outcome).toMatchObject({ code: 0, stdout: "It is late.\n" });
      expect(outcome.stderr).toContain("► time {}: ok");
      expect(outcome.stderr).not.toContain("hm");
    },
    patience,
  );

  it(
    "text of an attempt that failed is not printed",
    async () => {
      await using folder = await TestFolder.open();
      const model = await folder.script(
        `const cause = { code: "overloaded", message: "too busy", retryable: true };
         export const replies = [[{ say: "Half" }, { end: { stop: "failed", cause } }], [{ say: "Whole." }]];`,
      );

      const outcome = await shell(`echo hi | m chat --model ${model}`, folder);

      expect(outcome).toMatchObject({ code: 0, stdout: "Whole.\n" });
      expect(outcome.stderr).toContain("overloaded: too busy");
    },
    patience,
  );

  it(
    "a question is answered with no, since there is nobody to ask",
    async () => {
      await using folder = await TestFolder.open();
      const model = await folder.script(
        `export const replies = [[{ call: "shell", raw: '{"command":"touch made"}' }], [{ say: "Then not." }]];`,
      );

      const outcome = await shell(`echo hi | m chat --model ${model}; ls`, folder);

      expect(outcome.stdout).toBe("Then not.\nmillrace\nscript.mjs\n");
      expect(outcome.stderr).toContain("there is nobody to ask");
    },
    patience,
  );

  it(
    "the exit code says how it went",
    async () => {
      await using folder = await TestFolder.open();
      const cause = `{ code: "invalid_request", message: "no" }`;
      const model = await folder.script(
        `export const replies = [[{ end: { stop: "failed", cause: ${cause} } }]];`,
      );

      const failed = await shell(`echo hi | m chat --model ${model}`, folder);
      expect(failed).toMatchObject({ code: 1, stdout: "" });
      expect(failed.stderr).toContain("► failed: invalid_request: no");

      expect((await shell(`echo hi | m chat --modle x`, folder)).code).toBe(2);
      expect((await shell(`m chat --model demo < /dev/null`, folder)).code).toBe(2);
      expect((await shell(`echo hi | m chat --model demo --resume nobody`, folder)).code).toBe(1);
    },
    patience,
  );

  it(
    "a reader that has left is no reason for a stack trace",
    async () => {
      await using folder = await TestFolder.open();

      const model = await folder.script(`export const replies = [[{ say: "Hello." }]];`);
      const asked = `echo hi | m chat --model ${model} | true`;
      const outcome = await shell(`${asked}; m chat --list | true; m --help | true`, folder);

      expect(outcome.stderr).toBe("");
    },
    patience,
  );

  it(
    "a missing key is reported by its name, with a way to try it without one",
    async () => {
      await using folder = await TestFolder.open();

      const outcome = await shell(`echo hi | m chat --model openai/some-model`, folder);

      expect(outcome.code).toBe(2);
      expect(outcome.stderr).toContain("set OPENAI_API_KEY");
      expect(outcome.stderr).toContain("--model demo");
    },
    patience,
  );
});

describe("with --json=events", () => {
  it(
    "stdout has one event for each line and nothing else, with a run for each prompt",
    async () => {
      await using folder = await TestFolder.open();

      const line = String.raw`printf 'one\n\ntwo\n' | m chat --json=events --session s --model demo`;
      const outcome = await shell(line, folder);

      expect(outcome).toMatchObject({ code: 0, stderr: "" });
      const events = outcome.stdout
        .trimEnd()
        .split("\n")
        .map((text) => JSON.parse(text) as { type: string; outcome?: string });
      const finished = events.filter(({ type }) => type === "run_finished");
      expect(finished.map((event) => event.outcome)).toEqual(["completed", "completed"]);
      expect(events.some(({ type }) => type === "content_delta")).toBe(true);
      expect((await shell("m chat --list", folder)).stdout).toMatch(/^s {2}.*one$/m);
    },
    patience,
  );

  it(
    "a reader that leaves stops the run, without a stack trace",
    async () => {
      await using folder = await TestFolder.open();

      const asked = `{ m chat --json=events --session s --model demo; echo "code $?" >&2; }`;
      const input = "< <(echo one; exec sleep 30 2> /dev/null)";
      const began = Date.now();
      const outcome = await shell(`${asked} ${input} | head -1`, folder);

      expect(outcome.stdout.trimEnd().split("\n")).toHaveLength(1);
      expect(outcome.stderr).toBe("code 130\n");
      console.log(`count: ended after ${Date.now() - began} ms`);
      const events = await shell(`cat millrace/sessions/s.jsonl`, folder);
      expect(events.stdout).toContain('"outcome":"aborted"');
    },
    patience,
  );
});
