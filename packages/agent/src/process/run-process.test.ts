import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

import { MillraceError } from "@millrace/core";
import { expect, onTestFinished, test } from "vitest";

import { executionPids, runProcess } from "./index.ts";
import type { OutputPiece, ProcessOptions, ProcessOutcome } from "./index.ts";
import { living } from "./testing/living.ts";

test("an exit is reported with its code and both outputs", async () => {
  const outcome = await run(["sh", "-c", "echo out; echo err >&2; exit 3"]);

  expect(outcome).toEqual({
    ended: "exited",
    code: 3,
    stdout: { head: "out\n", tail: "", bytes: 4, omittedBytes: 0, lossy: false },
    stderr: { head: "err\n", tail: "", bytes: 4, omittedBytes: 0, lossy: false },
    survivors: [],
  });
});

test("a signal from elsewhere is reported by its name", async () => {
  const outcome = await run(["sh", "-c", "kill -SEGV $$"]);

  expect(outcome).toMatchObject({ ended: "signalled", signal: "SIGSEGV" });
});

test(
  "fifty processes that end at once are each reported with all their output",
  { timeout: 30_000 },
  async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => run(["echo", `number ${index}`])),
    );

    expect(outcomes.map(({ stdout }) => stdout.head)).toEqual(
      Array.from({ length: 50 }, (_, index) => `number ${index}\n`),
    );
    expect(outcomes.every(({ ended }) => ended === "exited")).toBe(true);
  },
);

test("arguments reach the program as they are, without a shell", async () => {
  const outcome = await run(["printf", "%s|", "$HOME", "a b", "`id`", "; exit 9", "*"]);

  expect(outcome.stdout.head).toBe("$HOME|a b|`id`|; exit 9|*|");
});

test.each([
  ["a program that does not exist", ["millrace-no-such-program"], {}, "not_found"],
  ["a file that is no program", [import.meta.filename], {}, "not_permitted"],
  ["a folder that does not exist", ["true"], { cwd: "/millrace/no/such/folder" }, "no_folder"],
  ["an empty command", [], {}, "invalid_command"],
  ["an argument with a NUL", ["echo", "a\0b"], {}, "invalid_command"],
  ["a line that is too long", ["echo", "x".repeat(4_000_000)], {}, "command_too_long"],
])("%s is a failure to start, as data", async (_, command, options, code) => {
  const outcome = await run(command, options);

  expect(outcome).toMatchObject({ ended: "failed_to_start", cause: { code }, survivors: [] });
});

test("an execution that is no key is a broken contract", async () => {
  await expect(run(["true"], { execution: "" })).rejects.toThrow(MillraceError);
  await expect(run(["true"], { execution: "\uD800" })).rejects.toThrow(MillraceError);
});

test("the working folder is the given one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-process-"));

  expect((await run(["pwd", "-P"], { cwd: folder })).stdout.head.trim()).toContain(folder);
});

test("no variable of ours reaches the process, save those that every program needs", async () => {
  process.env["MILLRACE_TEST_API_KEY"] = "sk-secret-1";
  process.env["LC_SECRET=X"] = "sk-secret-2";
  onTestFinished(() => {
    delete process.env["MILLRACE_TEST_API_KEY"];
    delete process.env["LC_SECRET=X"];
  });

  const { stdout } = await run(["env"]);

  const names = stdout.head
    .trim()
    .split("\n")
    .map((line) => line.split("=")[0] ?? "");
  const allowed =
    /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TERM|TZ|TMPDIR|TMP|TEMP|MILLRACE_EXECUTION)$/;
  expect(names.filter((name) => !allowed.test(name))).toEqual([]);
  expect(names).toContain("PATH");
  expect(stdout.head).not.toContain("sk-secret");
});

test("given variables are added, replace ours, or take ours away", async () => {
  const env = {
    GREETING: "hello",
    HOME: "/elsewhere",
    LANG: undefined,
    MILLRACE_EXECUTION: "mine",
  };

  const lines = (await run(["env"], { env, execution: "key" })).stdout.head.split("\n");

  expect(lines).toContain("GREETING=hello");
  expect(lines).toContain("HOME=/elsewhere");
  expect(lines.filter((line) => line.startsWith("LANG="))).toEqual([]);
  expect(lines.filter((line) => line.startsWith("MILLRACE_EXECUTION=key:"))).toHaveLength(1);
});

test("input is given and then ends", async () => {
  expect((await run(["cat"], { input: "hällo" })).stdout.head).toBe("hällo");
  expect((await run(["cat"], { input: new Uint8Array([104, 105]) })).stdout.head).toBe("hi");
});

test("without input there is none to wait for", async () => {
  expect(await run(["cat"])).toMatchObject({ ended: "exited", code: 0 });
});

test("a process need not read its input", async () => {
  const outcome = await run(["true"], { input: "x".repeat(5_000_000) });

  expect(outcome).toMatchObject({ ended: "exited", code: 0 });
});

test("output is handed on as it comes", async () => {
  const pieces: OutputPiece[] = [];
  const times: number[] = [];

  await run(["sh", "-c", "echo one; sleep 0.3; echo two >&2"], {
    onOutput: (piece) => {
      pieces.push(piece);
      times.push(performance.now());
    },
  });

  expect(pieces).toEqual([
    { stream: "stdout", text: "one\n" },
    { stream: "stderr", text: "two\n" },
  ]);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(150);
});

test("a character that a pipe cuts in two is handed on whole, and loses nothing", async () => {
  const texts: string[] = [];

  const { stdout } = await run(
    ["sh", "-c", String.raw`printf 'a\342'; sleep 0.1; printf '\202\254b'`],
    {
      onOutput: ({ text }) => texts.push(text),
    },
  );

  expect(texts).toEqual(["a", "€b"]);
  expect(stdout).toMatchObject({ head: "a€b", lossy: false });
});

test("bytes that are no text are replaced, and that is said", async () => {
  const { stdout, stderr } = await run([
    "sh",
    "-c",
    String.raw`printf 'a\377b\342'; printf ok >&2`,
  ]);

  expect(stdout).toMatchObject({ head: "a\uFFFDb\uFFFD", bytes: 4, lossy: true });
  expect(stderr).toMatchObject({ head: "ok", lossy: false });
});

test("ten megabytes are read to the end, and the cap says what it left out", async () => {
  let heard = 0;
  const script = "head -c 10000000 /dev/zero | tr '\\0' x; echo end";

  const { stdout } = await run(["sh", "-c", script], {
    onOutput: ({ text }) => {
      heard += text.length;
    },
  });

  expect(heard).toBe(10_000_004);
  expect(stdout.bytes).toBe(10_000_004);
  expect(stdout.omittedBytes).toBe(10_000_004 - 524_288);
  expect(stdout.head).toBe("x".repeat(262_144));
  expect(stdout.tail).toBe(`${"x".repeat(262_144 - 4)}end\n`);
});

test("an abort before the start starts nothing", async () => {
  const token = "60.3141592001";

  const outcome = await run(["sleep", token], { signal: AbortSignal.abort() });

  expect(outcome).toMatchObject({ ended: "aborted", survivors: [] });
  expect(living(token)).toEqual([]);
});

test("an abort ends the process and keeps what it said", async () => {
  const stopper = new AbortController();

  const outcome = await run(["sh", "-c", "echo said; exec sleep 60"], {
    onOutput: () => stopper.abort(),
    signal: stopper.signal,
  });

  expect(outcome).toMatchObject({ ended: "aborted", stdout: { head: "said\n" } });
});

test("a second abort, or a timeout after it, changes nothing", async () => {
  const first = new AbortController();
  const second = new AbortController();

  const outcome = await run(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"], {
    onOutput: () => {
      first.abort();
      setTimeout(() => second.abort(), 10);
    },
    graceMs: 150,
    timeoutMs: 400,
    signal: AbortSignal.any([first.signal, second.signal]),
  });

  expect(outcome).toMatchObject({ ended: "aborted", survivors: [] });
});

test("who ends when asked is given the time for it, and who doesn't is killed", async () => {
  const polite = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done";
  const deaf = "trap '' TERM; echo ready; while :; do sleep 0.02; done";

  const asked = await run(["sh", "-c", polite], { timeoutMs: 150, graceMs: 3_000 });
  const startedAt = performance.now();
  const killed = await run(["sh", "-c", deaf], { timeoutMs: 150, graceMs: 300 });

  expect(asked).toMatchObject({ ended: "timed_out", stdout: { head: "ready\nbye\n" } });
  expect(killed).toMatchObject({ ended: "timed_out", stdout: { head: "ready\n" } });
  expect(performance.now() - startedAt).toBeGreaterThan(440);
});

test("an observer that throws ends the process, and its error comes out", async () => {
  const token = "60.3141592002";
  const failing = run(["sh", "-c", `echo x; exec sleep ${token}`], {
    onOutput: () => {
      throw new Error("observer failed");
    },
  });

  await expect(failing).rejects.toThrow("observer failed");
  expect(living(token)).toEqual([]);
});

test("two processes of one execution end apart, also if the younger one stays", async () => {
  const stopper = new AbortController();
  const older = run(["sleep", "60"], { execution: "shared", signal: stopper.signal });
  const younger = run(["sh", "-c", "echo up; sleep 0.6; echo done"], {
    execution: "shared",
    onOutput: () => stopper.abort(),
  });

  expect((await older).ended).toBe("aborted");
  expect(await executionPids("shared")).not.toEqual([]);
  expect(await younger).toMatchObject({ ended: "exited", stdout: { head: "up\ndone\n" } });
});

test("a process of a process carries both marks", async () => {
  process.env["MILLRACE_EXECUTION"] = "outer:1";
  onTestFinished(() => {
    delete process.env["MILLRACE_EXECUTION"];
  });

  const { stdout } = await run(["sh", "-c", 'echo "$MILLRACE_EXECUTION"'], { execution: "in,ner" });

  expect(stdout.head).toMatch(/^outer:1,in%2Cner:[0-9a-f-]{36}\n$/);
});

function run(
  command: readonly string[],
  options: Partial<ProcessOptions> = {},
): Promise<ProcessOutcome> {
  return runProcess(command, { signal: new AbortController().signal, ...options });
}
