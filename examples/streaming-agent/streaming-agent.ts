// A streaming agent with four tools, and the event loop of its terminal: text as it comes, and a
// spinner that turns while a tool runs.
import { setTimeout as later } from "node:timers/promises";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent, Run } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { z } from "zod";

/** Files in memory, so that the example changes nothing on this machine. */
const files = new Map([["f.txt", "forty-two"]]);

const read = defineTool({
  name: "read",
  description: "Reads a file",
  input: z.object({ path: z.string() }),
  effect: "pure",
  run: async ({ path }) => {
    await later(300);
    return files.get(path) ?? "there is no such file";
  },
});
const write = defineTool({
  name: "write",
  description: "Writes a file",
  input: z.object({ path: z.string(), text: z.string() }),
  effect: "idempotent",
  run: ({ path, text }) => {
    files.set(path, text);
    return "written";
  },
});
const edit = defineTool({
  name: "edit",
  description: "Replaces a text in a file",
  input: z.object({ path: z.string(), from: z.string(), to: z.string() }),
  run: ({ path, from, to }) => {
    files.set(path, (files.get(path) ?? "").replace(from, to));
    return "edited";
  },
});
const bash = defineTool({
  name: "bash",
  description: "Runs a command",
  input: z.object({ command: z.string() }),
  run: ({ command }) => `(pretended to run ${command})`,
});

const tools = [bash, read, write, edit] as const;

export function streamingAgent(model: Model): Agent<typeof tools> {
  const retry = { attempts: 1, baseMs: 1, capMs: 1 };
  return defineAgent({ model, tools, retry });
}

const frames = ["|", "/", "-", "\\"];
const tickMs = 50;

/** Waits for the next event or the next tick, whichever is first. */
export async function show(
  run: Run<typeof tools>,
  print: (text: string) => void,
): Promise<{ readonly ticks: number }> {
  const events = run.narrate()[Symbol.asyncIterator]();
  let next = events.next();
  let spinning = false;
  let ticks = 0;
  for (;;) {
    const event = await Promise.race([next, later(tickMs, "tick" as const)]);
    if (event === "tick") {
      if (spinning) print(`\r${frames[ticks % frames.length]}`);
      ticks += spinning ? 1 : 0;
      continue;
    }
    if (event.done === true) break;
    if (event.value.type === "assistant_text_delta") print(event.value.text);
    if (event.value.type === "tool_call_ready") {
      print(`[${event.value.tool} ${JSON.stringify(event.value.input)}]`);
      spinning = true;
    }
    if (event.value.type === "tool_execution_finished") {
      if (ticks > 0) print("\r");
      spinning = false;
    }
    next = events.next();
  }
  const result = await run.result;
  if (result.outcome === "failed") print(`error: ${result.error.code}`);
  return { ticks };
}
