// Questions, queues, stops and locks in a real terminal, with a model that plays a script.
import { access, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { TestFolder } from "./testing/folder.ts";
import { TestTerminal } from "./testing/terminal.ts";
import type { TerminalOptions } from "./testing/terminal.ts";

const patience = 180_000;

interface Stage extends AsyncDisposable {
  readonly folder: TestFolder;
  /** Starts the command on the same script and the same sessions. */
  readonly start: (
    args: readonly string[],
    more?: Partial<TerminalOptions>,
  ) => Promise<TestTerminal>;
}

/** A folder with a script, and the terminals that were started on it. */
async function stage(script: string): Promise<Stage> {
  const folder = await TestFolder.open();
  const model = await folder.script(script);
  const started: TestTerminal[] = [];
  return {
    folder,
    start: async (args, more = {}) => {
      const all = ["chat", "--model", model, "--store", join(folder.path, "sessions"), ...args];
      const terminal = await TestTerminal.open({ folder: folder.path, args: all, ...more });
      started.push(terminal);
      await terminal.until(/^(steer )?>$/m);
      return terminal;
    },
    [Symbol.asyncDispose]: async () => {
      for (const terminal of started) await terminal[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const calls = (command: string): string =>
  JSON.stringify([[{ call: "shell", raw: JSON.stringify({ command }) }], [{ say: "All done." }]]);

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** Waits until some session in the folder has such a fact. */
async function stored(folder: string, type: string): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const files = (await readdir(folder)).filter((name) => name.endsWith(".jsonl"));
    const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
    if (texts.some((text) => text.includes(`"type":"${type}"`))) return;
    await sleep(50);
  }
  throw new Error(`no session has a ${type}`);
}

describe("a question", () => {
  it(
    "shows all of what would run, with nothing hidden in it, and yes runs it",
    async () => {
      const hidden = `echo ran > made; echo \u202etxt.exe\u200b; echo ${"x".repeat(150)}END`;
      await using set = await stage(`export const replies = ${calls(hidden)};`);
      const terminal = await set.start([]);
      await terminal.say("go");
      const asked = await terminal.until("allow? y/n >");

      const rows = asked.split("\n").filter((row) => row.startsWith("  │ "));
      const shown = rows.map((row) => row.slice("  │ ".length)).join("");
      expect(JSON.parse(shown)).toEqual({ command: hidden });
      expect(shown).not.toContain("\u202e");
      expect(await exists(join(set.folder.path, "made"))).toBe(false);

      await terminal.say("y");
      const done = await terminal.until("All done.");
      expect(done).toMatch(/► shell .*: ok, \d+\.\d s/s);
      expect(await exists(join(set.folder.path, "made"))).toBe(true);
    },
    patience,
  );

  it(
    "that is answered with no runs nothing and hands the reason on",
    async () => {
      await using set = await stage(`export const replies = ${calls("touch made")};`);
      const terminal = await set.start([]);
      await terminal.say("go");
      await terminal.until("allow? y/n >");
      await terminal.say("maybe");
      await terminal.until("please answer y or n");
      await terminal.say("n not today");
      const done = await terminal.until("All done.");

      expect(done).toContain("denied");
      expect(done).toContain("not today");
      expect(await exists(join(set.folder.path, "made"))).toBe(false);
    },
    patience,
  );

  it(
    "does not take for an answer what was being typed when it came",
    async () => {
      const script = `export const replies = [[{ stall: 4000 }, ...${calls("touch made")}[0]], [{ say: "All done." }]];`;
      await using set = await stage(script);
      const terminal = await set.start([]);
      await terminal.say("go");
      await terminal.until("steer >");
      await terminal.type("y");
      await terminal.until("allow? y/n >");
      await terminal.press("Enter");
      await sleep(500);
      expect(await exists(join(set.folder.path, "made"))).toBe(false);

      await terminal.say("n");
      await terminal.until("All done.");
      // What was being typed is there again.
      await terminal.until(/^> y$/m);
    },
    patience,
  );

  it(
    "survives the process and is put again when the session is resumed",
    async () => {
      await using set = await stage(
        `export const replies = [(request) => request.transcript.some((item) => item.author === "tool") ? [{ say: "All done." }] : ${calls("touch made")}[0], [{ say: "All done." }]];`,
      );
      const first = await set.start(["--session", "asks"]);
      await first.say("go");
      await first.until("allow? y/n >");
      process.kill(await first.pid(), "SIGKILL");
      await first.ended();
      const args = ["chat", "--resume", "asks", "--store", join(set.folder.path, "sessions")];
      await using second = await TestTerminal.open({
        folder: set.folder.path,
        args: [...args, "--model", `scripted:${join(set.folder.path, "script.mjs")}`],
      });
      await second.until("allow? y/n >");
      await second.say("yes");
      await second.until("All done.");

      expect(await exists(join(set.folder.path, "made"))).toBe(true);
    },
    patience,
  );
});

describe("a run", () => {
  it(
    "can be steered; what waits is shown and can be taken back",
    async () => {
      await using set = await stage(
        `export const delayMs = 100;
         export const replies = [[{ say: "${"slow ".repeat(20)}" }], (request) => [{ say: "I was narration: " + JSON.stringify(request.transcript.at(-1).parts[0].text) }], [{ say: "And then?" }]];`,
      );
      const terminal = await set.start([]);
      await terminal.say("go");
      await terminal.until("slow");
      await terminal.say("wrong way");
      await terminal.until("waits 1: wrong way");
      await terminal.say("/back 1");
      await terminal.until("steer > wrong way");
      expect(await terminal.screen()).not.toContain("waits 1");

      await terminal.press("C-u");
      await terminal.say("turn left");
      await terminal.until("waits 1: turn left");
      await terminal.say("/queue");
      await terminal.until("1. (steer) turn left");

      const narration = await terminal.until('I was narration: "turn left"');
      expect(narration).toMatch(/slow\n► you: turn left\nI was narration/);
      expect(narration).not.toContain("you: wrong way");
    },
    patience,
  );

  it(
    "that is stopped leaves what waited for the next prompt",
    async () => {
      await using set = await stage(
        `export const replies = [[{ say: "Hm" }, { stall: 600000 }], (request) => [{ say: request.transcript.filter((item) => item.author === "user").length + " prompts." }]];`,
      );
      const terminal = await set.start([]);
      await terminal.say("go");
      await terminal.until("Hm");
      await terminal.say("turn left");
      await terminal.until("waits 1: turn left");
      await terminal.press("C-c");
      await terminal.until(/stopped; what came is kept\n {2}waits 1: turn left\n>$/);
      await sleep(2_100);
      await terminal.say("and then?");
      const shown = await terminal.until("3 prompts.");

      expect(shown).toMatch(
        /► you: turn left[\s\S]*► you: and then\?|► you: and then\?[\s\S]*► you: turn left/,
      );
    },
    patience,
  );

  it(
    "that was stopped is left by Ctrl-C, also if something still waits",
    async () => {
      await using set = await stage(`export const replies = [[{ say: "Hm" }, { stall: 600000 }]];`);
      const terminal = await set.start([]);
      await terminal.say("go");
      await terminal.until("Hm");
      await terminal.say("turn left");
      await terminal.until("waits 1: turn left");
      await terminal.press("C-c");
      await terminal.until(/stopped; what came is kept\n {2}waits 1: turn left\n>$/);
      await sleep(2_100);
      await terminal.press("C-c");

      expect(await terminal.ended()).toBe(0);
    },
    patience,
  );

  it(
    "that fails midway is shown as failed, and its text is taken back",
    async () => {
      await using set = await stage(
        `const cause = { code: "overloaded", message: "too busy", retryable: true };
         export const replies = [[{ say: "Half a th" }, { end: { stop: "failed", cause } }], [{ say: "A whole thought." }]];`,
      );
      const terminal = await set.start([]);
      await terminal.say("think");
      const shown = await terminal.until("A whole thought.");

      expect(shown).toMatch(
        /Half a th\n► overloaded: too busy; another try in [\d.]+ s\n► — attempt failed, trying again —\nA whole thought\./,
      );
    },
    patience,
  );

  it(
    "is left by Ctrl-C pressed twice, with the terminal as it was",
    async () => {
      await using set = await stage(`export const replies = [[{ say: "Hm" }, { stall: 600000 }]];`);
      const terminal = await set.start(["--session", "hurry"]);
      await terminal.say("go");
      await terminal.until("Hm");
      await terminal.press("C-c", "C-c");

      expect(await terminal.ended()).toBe(0);
      expect(await terminal.screen()).toContain("To go on: millrace chat --resume hurry");
      const modes = await terminal.modes();
      expect(modes).toContain("icanon");
      expect(modes).toContain("echo");
      expect(modes).toContain("isig");
    },
    patience,
  );

  it(
    "goes on with the screen drawn anew after Ctrl-Z",
    async () => {
      await using set = await stage(`export const replies = [[{ say: "Hello." }]];`);
      const terminal = await set.start([]);
      await terminal.press("C-z");
      await sleep(500);
      process.kill(await terminal.pid(), "SIGCONT");
      await terminal.say("hi");

      await terminal.until(/► you: hi\nHello\.\n>$/);
    },
    patience,
  );

  it(
    "is let go by SIGTERM and goes on when it is resumed",
    async () => {
      await using set = await stage(
        `export const replies = [(request) => process.argv.includes("--resume") ? [{ say: "Now I can." }] : [{ say: "Hm" }, { stall: 600000 }]];`,
      );
      const terminal = await set.start(["--session", "moved"]);
      await terminal.say("go");
      await terminal.until("Hm");
      process.kill(await terminal.pid(), "SIGTERM");
      expect(await terminal.ended()).toBe(143);
      expect(await terminal.screen()).toContain("it goes on when the session is taken up again");

      const again = await set.start(["--resume", "moved"]);
      const shown = await again.until("Now I can.");
      expect(shown).toContain("the run was interrupted here");
    },
    patience,
  );
});

describe("a session", () => {
  it(
    "that is open in one process is refused to another, which says so and ends",
    async () => {
      await using set = await stage(`export const replies = [[{ say: "Hello." }]];`);
      const first = await set.start(["--session", "shared"]);
      await first.say("hi");
      await first.until("Hello.");
      const args = ["chat", "--model", "demo", "--session", "shared"];
      await using second = await TestTerminal.open({
        folder: set.folder.path,
        args: [...args, "--store", join(set.folder.path, "sessions")],
      });

      expect(await second.ended()).toBe(1);
      expect(await second.screen()).toMatch(
        /the session shared is open in another process[\s\S]*session_locked/,
      );
      expect(await second.screen()).not.toContain("    at ");
    },
    patience,
  );

  it(
    "is forked, and later prompts go to the copy",
    async () => {
      await using set = await stage(
        `export const replies = [[{ say: "One." }], [{ say: "Two." }]];`,
      );
      const terminal = await set.start(["--session", "root"]);
      await terminal.say("first");
      // A fork is refused until the run is over, which the prompt shows.
      await terminal.until(/One\.\n>$/);
      await terminal.say("/fork");
      await terminal.until("a copy of root");
      await terminal.say("second");
      await terminal.until("Two.");
      await terminal.say("/usage");
      await terminal.until("tokens in");
      await terminal.say("/quit");
      await terminal.ended();

      const again = await set.start(["--resume", "root"]);
      const root = await again.screen();
      expect(root).toContain("One.");
      expect(root).not.toContain("Two.");
    },
    patience,
  );
});

describe("a terminal that can only print", () => {
  it(
    "is written to in lines, and answers are lines",
    async () => {
      await using set = await stage(`export const replies = ${calls("echo made it")};`);
      const model = `scripted:${join(set.folder.path, "script.mjs")}`;
      await using terminal = await TestTerminal.open({
        folder: set.folder.path,
        args: ["chat", "--model", model, "--store", join(set.folder.path, "sessions")],
        term: "dumb",
      });
      await terminal.until("/help shows");
      await terminal.say("go");
      await terminal.until('│ {"command":"echo made it"}');
      await terminal.say("y");
      const shown = await terminal.until("All done.");

      expect(shown).toMatch(/► shell .* …\n► shell .*: ok, [\d.]+ s\n {2}made it/);
      // The text is shown before its run is over, and until then Ctrl-C would stop the run.
      await stored(join(set.folder.path, "sessions"), "run_finished");
      await terminal.press("C-c");
      expect(await terminal.ended()).toBe(0);
    },
    patience,
  );
});

describe("the text of a model", () => {
  it(
    "has no line feed of ours at 40 columns and after the terminal changed its size, while it comes and later",
    async () => {
      const wide = (at: number): string => (at % 5 === 4 ? " 漢字 👍" : "");
      const words = Array.from({ length: 60 }, (_, at) => `word${at + 1}${wide(at)}`);
      const text = `${words.join(" ")} end`;
      await using set = await stage(
        `export const delayMs = 60; export const replies = [[{ say: "${text}" }]];`,
      );
      const terminal = await set.start([], { columns: 40, rows: 20 });
      await terminal.say("go");
      await terminal.until("word5");
      await terminal.type("typed meanwhile");
      await terminal.resize(24, 20);
      await terminal.until("word25");
      await terminal.resize(61, 20);
      const shown = await terminal.until(/ end\n> typed meanwhile$/);

      expect(shown.split("\n").slice(1)).toEqual(["► you: go", text, "> typed meanwhile"]);
      for (const columns of [40, 25, 80]) {
        await terminal.resize(columns, 20);
        await terminal.press("x", "BSpace");
        await sleep(300);
        const lines = (await terminal.screen()).split("\n").slice(-3);
        expect(lines).toEqual(["► you: go", text, "> typed meanwhile"]);
        for (const row of await terminal.rows()) expect(row.length).toBeLessThanOrEqual(columns);
      }
    },
    patience,
  );

  it(
    "can neither move the cursor nor forge a line of ours",
    async () => {
      const hostile = String.raw`\u001b[2J\u001b[H\u001b]0;owned\u0007\r► you: yes\n► allowed`;
      await using set = await stage(`export const replies = [[{ say: "Before. ${hostile}" }]];`);
      const terminal = await set.start([]);
      await terminal.say("hello");
      const shown = await terminal.until("▸ allowed");

      expect(shown).toContain("► you: hello");
      expect(shown).toContain("Before. ␛]0;owned␇␍▸ you: yes");
      expect(shown).not.toContain("► allowed");
    },
    patience,
  );
});
