// A chat in the terminal. It starts the agent in this process, or is a client of the server that MILLRACE_URL
// names. A session goes on where it was left, also in the middle of a question.
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import { createTerminalText, terminalLine } from "@millrace/agent/terminal";
import { createClient } from "@millrace/client";
import { showQuestion } from "@millrace/core/reading";
import { refuse } from "./refuse.ts";
import { serve } from "./serve.ts";
import type { Served } from "./serve.ts";
import { withKey } from "./with-key.ts";

const { MILLRACE_URL, TOKEN, SESSION = "main" } = process.env;
if (MILLRACE_URL && !TOKEN) refuse("MILLRACE_URL needs a TOKEN, which that server knows.");

const key = (MILLRACE_URL && TOKEN) || randomUUID();
const signIn = { authenticate: withKey(key) };
const server = MILLRACE_URL ? undefined : await serve({ signIn, port: 0 });
const url = MILLRACE_URL || `${server?.url}/agent`;
const client = createClient<Served>({ url, token: key });
const session = client.session(SESSION);
const terminal = createInterface({ input: process.stdin, output: process.stdout });

// A person who closes the input leaves at once; of a pipe all lines are answered first.
const isPerson = process.stdin.isTTY;
const ended = new AbortController();
const loaded = Promise.withResolvers<void>();
terminal.on("close", () => {
  ended.abort();
  if (!isPerson) return;
  client.close();
  loaded.resolve();
});
terminal.on("SIGINT", () => (session.status === "idle" ? terminal.close() : session.abort()));

// A line that is typed while a reply is written steers it; one that comes just after it is the next prompt.
const typed: string[] = [];
terminal.on("line", (line) => {
  if (session.status === "idle") typed.push(line);
  else if (line.trim() !== "") session.steer(line);
});

type Question = (typeof session.approvals)[number];

/** Shows exactly what would run, and asks. Only `y` runs it. Another client of the session may answer first. */
async function ask(question: Question): Promise<void> {
  const { tool, input, parsed } = showQuestion(question);
  const answered = new AbortController();
  const unwatch = session.subscribe(({ approvals }) => {
    if (!approvals.some(({ id }) => id === question.id)) answered.abort();
  });
  const gets = parsed === undefined ? "" : `\nThe tool gets ${parsed.text}`;
  process.stdout.write(`\n\n${tool} ${input.text}${gets}\n`);
  try {
    const signal = AbortSignal.any([answered.signal, ended.signal]);
    const answer = await terminal.question("Run it? [y/N] ", { signal });
    if (answer.trim().toLowerCase() === "y") session.allow(question.id);
    else session.deny(question.id);
  } catch {
    // Answered elsewhere, or left: then it waits for the next start. Behind a pipe nobody is there.
    if (!isPerson) session.deny(question.id, "nobody is there to ask");
  } finally {
    unwatch();
  }
}

const safe = createTerminalText(); // what a model writes has no effect on the terminal
let shown = { after: "", text: "" };

/** Prints what is new of the reply to the last message of a person. */
function show({ items }: { readonly items: typeof session.items }): void {
  const last = items.findLastIndex(({ author }) => author === "user");
  const after = items[last]?.id ?? "";
  const parts = items.slice(last + 1).flatMap((item) => item.parts);
  const text = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");
  const before = after === shown.after ? shown.text : "";
  const isLonger = text.startsWith(before); // else it is written anew
  process.stdout.write(safe.write(isLonger ? text.slice(before.length) : `\n\n${text}`));
  shown = { after, text };
}

/** Waits for the end of a run, whose text is printed as it comes. */
async function finish(run: NonNullable<typeof session.run>): Promise<void> {
  const result = await run.result;
  if (isPerson && ended.signal.aborted) return;
  show(session);
  const why = result.outcome === "failed" ? result.error.message : result.outcome;
  const note = result.outcome === "completed" ? "" : `\n[${terminalLine(why)}]`;
  process.stdout.write(`${safe.end()}${note}\n\n`);
}

console.log(`Session “${SESSION}”. Try “My lamp arrived broken”. Ctrl-C stops, Ctrl-D leaves.\n`);
const asked = new Set<string>();
session.subscribe((view) => {
  show(view);
  for (const question of view.approvals) {
    if (asked.has(question.id)) continue;
    asked.add(question.id);
    void ask(question);
  }
  if (!view.loading || view.error !== undefined) loaded.resolve();
});
await loaded.promise;
if (session.loading && session.error) {
  console.error(`${url}: ${session.error.message}`);
  process.exit(1);
}
if (session.run !== undefined) await finish(session.run);
else if (shown.text !== "") process.stdout.write("\n\n");
for (;;) {
  const { signal } = ended;
  const text = typed.shift() ?? (await terminal.question("> ", { signal }).catch(() => undefined));
  if (text === undefined) break;
  if (text.trim() !== "") await finish(session.send(text));
}
client.close();
await server?.close(0);
