import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The command, as a user's shell would start it, from the sources. */
export const command: readonly string[] = [
  process.execPath,
  "--conditions=@millrace/source",
  new URL("../main.ts", import.meta.url).pathname,
];

export interface TerminalOptions {
  readonly folder: string;
  readonly args: readonly string[];
  /** What is run in it. Left out: the command of this package. */
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  /** What the terminal says it is. Left out: what tmux is. */
  readonly term?: string;
}

let terminals = 0;

/** A real terminal: a tmux server of its own, with one pane that runs the command. */
export class TestTerminal implements AsyncDisposable {
  /** Where its socket, its settings, and what is known of its process are. */
  readonly #files: string;

  private constructor(files: string) {
    this.#files = files;
  }

  static async open(options: TerminalOptions): Promise<TestTerminal> {
    const { folder, args, env = {}, columns = 80, rows = 30, term = "tmux-256color" } = options;
    terminals += 1;
    const files = join(folder, `terminal-${terminals}`);
    const settings = [
      "set -g remain-on-exit on",
      "set -g history-limit 20000",
      "set -s escape-time 0",
      `set -g default-terminal ${term}`,
    ];
    await writeFile(`${files}.conf`, `${settings.join("\n")}\n`);
    const variables = Object.entries({ NO_COLOR: "1", HOME: folder, ...env });
    const words = [...(options.command ?? command), ...args].map(quoted).join(" ");
    // tmux may never learn the status of a short process, so a shell writes it down.
    const noted = quoted(`echo $$ > ${quoted(`${files}.pid`)}; exec ${words}`);
    const server = ["-S", `${files}.sock`, "-f", `${files}.conf`, "-u", "new-session", "-d"];
    const size = ["-x", String(columns), "-y", String(rows), "-c", folder];
    await run("tmux", [
      ...server,
      ...size,
      ...variables.flatMap(([name, value]) => ["-e", `${name}=${value}`]),
      `sh -c ${noted}; code=$?; stty -a > ${quoted(`${files}.tty`)}; echo $code > ${quoted(`${files}.status`)}`,
    ]);
    return new TestTerminal(files);
  }

  /** Everything on the pane and what has scrolled off it, as it is copied: a line that the terminal wrapped is one. */
  async screen(): Promise<string> {
    return await this.#capture("-J");
  }

  /** The same as rows, as it is looked at. */
  async rows(): Promise<readonly string[]> {
    return (await this.#capture()).split("\n");
  }

  async #capture(...options: readonly string[]): Promise<string> {
    const { stdout } = await this.#tmux("capture-pane", "-p", ...options, "-S", "-");
    const shown = stdout.replaceAll(/[ \t]+$/gm, "").trimEnd();
    // tmux writes this itself, some time after the command has ended.
    return shown.replace(/\s*\nPane is dead [^\n]*$/, "");
  }

  async type(text: string): Promise<void> {
    await this.#tmux("send-keys", "-l", text);
  }

  /** Named keys, such as `Enter` and `C-c`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux("send-keys", ...keys);
  }

  async say(line: string): Promise<void> {
    await this.type(line);
    await this.press("Enter");
  }

  /** Waits until the screen has what is wanted, and gives it. */
  async until(wanted: string | RegExp, ms = 60_000): Promise<string> {
    const has = (text: string): boolean =>
      typeof wanted === "string" ? text.includes(wanted) : wanted.test(text);
    const end = Date.now() + ms;
    for (;;) {
      const shown = await this.screen();
      if (has(shown)) return shown;
      if (Date.now() > end) throw new Error(`${String(wanted)} did not come:\n${shown}`);
      await sleep(50);
    }
  }

  /** The exit status, once the command has ended. */
  async ended(ms = 60_000): Promise<number> {
    const status = await this.#file("status", ms);
    return Number(status);
  }

  /** How the terminal was left, as `stty -a` prints it. */
  async modes(): Promise<readonly string[]> {
    await this.ended();
    return (await this.#file("tty", 60_000)).split(/[\s;]+/);
  }

  async pid(): Promise<number> {
    return Number(await this.#file("pid", 60_000));
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux("resize-window", "-x", String(columns), "-y", String(rows));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tmux("kill-server").catch(() => undefined); // gone already
  }

  /** What a file has, once it has something. */
  async #file(ending: "pid" | "status" | "tty", ms: number): Promise<string> {
    const end = Date.now() + ms;
    for (;;) {
      const text = await readFile(`${this.#files}.${ending}`, "utf8").catch(() => "");
      if (text.endsWith("\n")) return text.trim();
      if (Date.now() > end) throw new Error(`there is no ${ending}:\n${await this.screen()}`);
      await sleep(50);
    }
  }

  #tmux(...words: readonly string[]): Promise<{ stdout: string }> {
    return run("tmux", ["-S", `${this.#files}.sock`, ...words]);
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
