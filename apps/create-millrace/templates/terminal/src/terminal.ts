// A chat in the terminal. It starts the agent in this process, or is a client of the server that MILLRACE_URL
// names. Ctrl-C stops a reply and keeps what came; without one it ends the program.
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import { createTerminalText, terminalLine } from "@millrace/agent/terminal";
import { createClient } from "@millrace/client";
import { showQuestion } from "@millrace/core/reading";
import { serve } from "./serve.ts";
import type { Served } from "./serve.ts";
import { withKey } from "./with-key.ts";

const { MILLRACE_URL, API_KEY = randomUUID(), SESSION = "main" } = process.env;

const server = MILLRACE_URL ? undefined : await serve({ authenticate: withKey(API_KEY), port: 0 });
const client = createClient<Served>({
  url: MILLRACE_URL || `${server?.url}/agent`,
  token: API_KEY,
});
const session = client.session(SESSION);
const terminal = createInterface({ input: process.stdin, output: process.stdout });
const leave = new AbortController();

terminal.on("close", () => leave.abort());
// A line that is typed while a reply is written steers it; one that comes just after it is the next prompt.
const typed: string[] = [];
terminal.on("line", (line) => {
  if (session.status === "idle") typed.push(line);
  else if (line.trim() !== "") session.steer(line);
});
terminal.on("SIGINT", () => (session.status === "idle" ? terminal.close() : session.abort()));

type Question = (typeof session.approvals)[number];

/** Shows exactly what would run, and asks. Only `y` runs it. */
async function ask(question: Question): Promise<"allow" | "deny"> {
  const { tool, input } = showQuestion(question);
  const answer = await terminal.question(`\n\n${tool} ${input.text}\nRun it? [y/N] `);
  return answer.trim().toLowerCase() === "y" ? "allow" : "deny";
}

/** Prints a reply as it is written. What a model writes has no effect on the terminal. */
async function reply(text: string): Promise<void> {
  const safe = createTerminalText();
  const run = session.send(text, { ask });
  try {
    for await (const piece of run.textStream()) process.stdout.write(safe.write(piece));
    process.stdout.write(`${safe.end()}\n\n`);
  } catch {
    const result = await run.result;
    const why = result.outcome === "failed" ? result.error.message : result.outcome;
    process.stdout.write(`${safe.end()}\n[${terminalLine(why)}]\n\n`);
  }
}

console.log(`Session “${SESSION}”. Try “My lamp arrived broken”. Ctrl-C stops, Ctrl-D leaves.\n`);
try {
  for (;;) {
    const text = typed.shift() ?? (await terminal.question("> ", { signal: leave.signal }));
    if (text.trim() !== "") await reply(text);
  }
} catch (error) {
  if (!leave.signal.aborted) throw error;
} finally {
  client.close();
  await server?.close(0);
}
