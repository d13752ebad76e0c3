// The same screen with a session at a server: real terminals, and a server in a process of its own.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { TestFolder } from "./testing/folder.ts";
import { TestServer } from "./testing/served.ts";
import { shell } from "./testing/shell.ts";
import { TestTerminal } from "./testing/terminal.ts";

const timeout = 180_000;
const env = { MILLRACE_TOKEN: "ann" };

interface Stage extends AsyncDisposable {
  readonly folder: TestFolder;
  readonly server: TestServer;
  /** Starts the command with a session at the server, or in a file with the same model. */
  readonly start: (
    place: "server" | "file",
    args?: readonly string[],
    ready?: RegExp,
  ) => Promise<TestTerminal>;
}

async function stage(script: string): Promise<Stage> {
  const folder = await TestFolder.open();
  const model = await folder.script(script);
  const server = await TestServer.open(folder.path, model);
  const started: TestTerminal[] = [];
  return {
    folder,
    server,
    start: async (place, args = [], ready = /^(steer )?>$/m) => {
      const file = ["--model", model, "--store", join(folder.path, "sessions")];
      const own = place === "server" ? ["--url", server.url] : file;
      const all = ["chat", ...own, ...args];
      const terminal = await TestTerminal.open({ folder: folder.path, args: all, env });
      started.push(terminal);
      await terminal.until(ready);
      return terminal;
    },
    [Symbol.asyncDispose]: async () => {
      for (const terminal of started) await terminal[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A screen without what differs by its nature: the greeting, how long something took, and a copy's name. */
function comparable(screen: string): string {
  const [, ...rows] = screen.split("\n");
  return rows.join("\n").replaceAll(/\d+(\.\d)? s\b|this is \S+/g, "…");
}

/** A model that reasons, calls a tool, fails once, and says something at length. */
const varied = `
  const cause = { code: "overloaded", message: "too busy", retryable: true };
  const call = (command) => ({ call: "shell", raw: JSON.stringify({ command }) });
  export const delayMs = 15;
  export const replies = [
    [{ think: "I look first." }, { say: "Let me see." }, call("echo one; echo two")],
    [call("touch never")],
    [{ say: "Half a th" }, { end: { stop: "failed", cause } }],
    [{ say: "A whole thought,\\nwith 漢字 and two lines." }],
    [{ say: "${"slow ".repeat(120)}" }],
    [{ say: "Turned." }],
    [{ say: "And stopped in the mid" }, { stall: 600000 }],
    [{ say: "In the copy." }],
  ];`;

/** Says and presses the same in every terminal, and gives the screen at the end. */
async function play(terminal: TestTerminal): Promise<string> {
  await terminal.say("look around");
  await terminal.until("allow? y/n >");
  await terminal.say("y");
  await terminal.until("touch never");
  await terminal.until("allow? y/n >");
  await terminal.say("n not today");
  await terminal.until(/two lines\.\n>$/);
  await terminal.say("take your time");
  await terminal.until("slow slow");
  await terminal.say("turn left");
  await terminal.until("waits 1: turn left");
  await terminal.until(/Turned\.\n>$/);
  await terminal.say("/queue");
  await terminal.say("once more");
  await terminal.until("in the mid");
  await terminal.press("C-c");
  await terminal.until(/what came is kept\n>$/);
  await terminal.say("/usage");
  await terminal.until(/cost .*\n>$/);
  await sleep(2_000); // Ctrl-C within two seconds would leave
  await terminal.say("/fork");
  await terminal.until("a copy of played");
  await terminal.say("where are you?");
  const screen = await terminal.until(/In the copy\.\n>$/);
  await terminal.press("C-c");
  expect(await terminal.ended()).toBe(0);
  return screen;
}

it(
  "a conversation at a server looks like the same one in a file, to the letter",
  { timeout },
  async () => {
    await using set = await stage(varied);
    const [file, server] = await Promise.all([
      set.start("file", ["--session", "played"]),
      set.start("server", ["--session", "played"]),
    ]);
    const [inFile, atServer] = await Promise.all([play(file), play(server)]);

    expect(comparable(atServer)).toBe(comparable(inFile));
    expect(comparable(inFile).split("\n").length).toBeGreaterThan(20);
  },
);

const words = Array.from({ length: 60 }, (_, at) => `word${at + 1}`).join(" ");

it(
  "a run that is left goes on at the server, and who comes back sees it in mid-word and can stop it",
  { timeout },
  async () => {
    await using set = await stage(
      `export const delayMs = 40; export const replies = [[{ say: "${words}" }], [{ say: "word1 word2 wor" }, { stall: 600000 }]];`,
    );
    const first = await set.start("server", ["--session", "left"]);
    await first.say("go");
    await first.until("word5 ");
    await first.say("/quit");
    expect(await first.ended()).toBe(0);
    const farewell = await first.screen();
    expect(farewell).toContain("The run goes on at the server.");
    expect(farewell).toContain(`To go on: millrace chat --url ${set.server.url} --session left`);

    const again = await set.start("server", ["--resume", "left"], /word\d/);
    expect(await again.screen()).not.toContain("word60");
    const other = await set.start("server", ["--resume", "left"], /word\d/);
    const end = /word60\n>$/;
    const shown = [await again.until(end), await other.until(end)];
    const [, ...rows] = shown[0]?.split("\n") ?? [];
    expect(rows).toEqual(["► you: go", words, ">"]);
    expect(shown[1]?.split("\n").slice(1)).toEqual(rows);

    // Each terminal is sent what the other one does.
    await other.say("once more");
    await again.until(/► you: once more\nword1 word2/);
    await again.press("C-c");
    await other.until(/what came is kept\n>$/);
  },
);

it(
  "a server that is killed under the screen is waited for, what is typed meanwhile is sent once it is back, and the text is whole",
  { timeout },
  async () => {
    await using set = await stage(
      `const reply = (request) => [{ say: request.transcript.filter((item) => item.author === "user").length + ": ${words} end" }];
       export const delayMs = 10;
       export const replies = [reply, reply];`,
    );
    const terminal = await set.start("server", ["--session", "killed"]);
    await terminal.say("go");
    await terminal.until("word10");
    await set.server.kill();
    await terminal.until("reconnecting …");
    await terminal.say("and then?");
    await terminal.until("waits 1: and then?");
    await set.server.restart();
    const shown = await terminal.until(/► you: and then\?[\s\S]* end\n>$/);

    expect(shown).not.toContain("reconnecting");
    expect(shown.match(/► you: /g)).toHaveLength(2);
    const texts = shown.split("\n").filter((row) => row.endsWith(" end"));
    expect(texts.at(-1)).toBe(`2: ${words} end`);

    // A screen that is opened now has the same, without the attempt that was cut off.
    const later = await set.start("server", ["--resume", "killed"], / end\n>$/);
    const rows = (await later.screen()).split("\n").slice(1);
    expect(rows.filter((row) => row.endsWith(" end"))).toEqual(texts);
    expect(rows.join("\n")).not.toContain("attempt failed");
  },
);

it(
  "without a terminal one prompt is answered and sessions are listed, and what a server can't do is one line",
  { timeout },
  async () => {
    await using set = await stage(
      `export const replies = [[{ call: "shell", raw: '{"command":"touch never"}' }], [{ say: "An answer." }], [{ say: "Another." }]];`,
    );
    const { folder, server } = set;
    const run = async (line: string, token = "ann"): Promise<readonly [number, string, string]> => {
      const { code, stdout, stderr } = await shell(`${line} < /dev/null`, folder, {
        MILLRACE_TOKEN: token,
      });
      return [code, stdout, stderr];
    };
    const at = `--url ${server.url}`;
    const [code, answer, notices] = await run(`m ${at} --session piped -p "do it"`);
    expect([code, answer]).toEqual([0, "An answer.\n"]);
    expect(notices).toMatch(/denied[\s\S]*there is nobody to ask/);
    const [, json] = await run(`m ${at} --resume piped --json "again"`);
    expect(JSON.parse(json)).toMatchObject({
      session: "piped",
      outcome: "completed",
      text: "Another.",
    });
    expect((await run(`m ${at} --list`))[1]).toMatch(/^piped {2}\d{4}-\d\d-\d\d \d\d:\d\d\n$/);

    const refusals = await Promise.all([
      run(`m ${at} -p hello`, "eve"),
      run(`m --url ${server.url}/nowhere -p hello`),
      run(`m ${at} --resume unknown -p hello`),
    ]);
    expect(refusals.map(([status, stdout]) => [status, stdout])).toEqual(
      [1, 1, 1].map((status) => [status, ""]),
    );
    const lines = refusals.map(([, , stderr]) => stderr);
    expect(lines.every((line) => /^millrace: [^\n]+\n$/.test(line))).toBe(true);
    expect(lines[0]).toContain("set MILLRACE_TOKEN");
    expect(lines[1]).toContain("is its path complete?");
    expect(lines[2]).toContain("there is no session unknown");
  },
);

it(
  "a server that is away at the start is waited for on the screen, and what it never answered is named",
  { timeout },
  async () => {
    await using set = await stage(`export const replies = [[{ say: "Hello." }]];`);
    await set.server.kill();
    const terminal = await set.start("server", [], /connecting …/);
    await terminal.say("hi");
    await terminal.until("waits 1: hi");
    await set.server.restart();

    await terminal.until(/► you: hi\nHello\.\n>$/);
    await set.server.kill();
    await terminal.until("reconnecting …");
    await terminal.say("are you there?");
    await terminal.say("/quit");
    expect(await terminal.ended()).toBe(0);
    expect(await terminal.screen()).toContain("what you sent last may be lost");
  },
);
