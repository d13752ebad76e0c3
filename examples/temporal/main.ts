// A person asks, and the worker is killed in the middle of its answer. Another one finds the workflow in
// Temporal and goes on. One answer is stored, and the person sees it whole.
//
//     npm run services -- run npm start -w examples/temporal
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createClient } from "@millrace/client";
import { postgresStore } from "@millrace/stores/postgres";

await using store = postgresStore();
await store.migrate();

/** Starts a program of this folder, and waits for its first line. */
async function start(file: string): Promise<{ readonly process: ChildProcess; line: string }> {
  const parameters = ["--conditions=@millrace/source", new URL(file, import.meta.url).pathname];
  const child = spawn(process.execPath, parameters, {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { process: child, line };
}

const [server, first] = await Promise.all([start("server.ts"), start("worker.ts")]);
const { port } = JSON.parse(server.line) as { readonly port: number };
using client = createClient({ url: `http://127.0.0.1:${port}`, token: "ann" });
const session = client.session(`trip-${process.pid}`);
const run = session.send("What do I pack for Oslo?");

/** Prints what a screen would show: a text that does not go on from the one before takes its place. */
let shown = "";
let second: ReturnType<typeof start> | undefined;
session.subscribe(({ items }) => {
  const parts = items.at(-1)?.author === "model" ? (items.at(-1)?.parts ?? []) : [];
  const text = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("");
  if (text === "" || text === shown) return;
  const goesOn = text.startsWith(shown) && shown !== "";
  process.stdout.write(goesOn ? text.slice(shown.length) : `\n> ${text}`);
  shown = text;
  if (second !== undefined || text.length < 80) return;
  first.process.kill("SIGKILL");
  process.stdout.write("\n  (the worker is dead)");
  second = start("worker.ts");
});
const { outcome } = await run.result;
const replies = session.items.filter(({ author }) => author === "model");
console.log(`\n\n${outcome}, ${replies.length} replies stored, ${shown.length} characters shown`);
for (const child of [server.process, (await second)?.process]) {
  child?.kill("SIGTERM");
  if (child?.exitCode === null) await once(child, "exit");
}
