import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { defineAgent } from "@millrace/agent";
import { terminalLine } from "@millrace/agent/terminal";
import { isJsonObject, parseJsonText } from "@millrace/core/wire";
import type { Model } from "@millrace/core";
import { systemClock } from "@millrace/core/memory";
import { fileStore } from "@millrace/stores/file";
import type { FileStore } from "@millrace/stores/file";
import { parseCommand } from "./arguments.ts";
import type { ChatOptions } from "./arguments.ts";
import { helpText } from "./help.ts";
import { listSessions } from "../session/list-sessions.ts";
import { chooseModel, createModel } from "../model/choose-model.ts";
import { jsonMode, pipeMode, terminalMode } from "../chat/modes.ts";
import { exitCodes } from "../chat/piped.ts";
import { EventRelay } from "../chat/event-relay.ts";
import { listenForStopSignals } from "./stop-signals.ts";
import { defaultStoreFolder } from "../session/defaults.ts";
import { createTools } from "../tools/tools.ts";

const { stdin, stdout, stderr, env } = process;

/** Runs the command that the process was started with, and gives its exit code. */
export async function main(): Promise<number> {
  // A closed pipe is an error event, which would end the process with a stack trace if it had no listener.
  stdout.on("error", () => undefined);
  stderr.on("error", () => undefined);
  const command = parseCommand(process.argv.slice(2));
  switch (command.command) {
    case "help":
      stdout.write(helpText);
      return 0;
    case "version":
      stdout.write(`${await ownVersion()}\n`);
      return 0;
    case "usage":
      stderr.write(
        `millrace: ${terminalLine(command.problem)}\nmillrace --help shows what there is\n`,
      );
      return exitCodes.usage;
    case "list": {
      await using store = openStore(command.store);
      for (const line of await listSessions(store)) stdout.write(`${line}\n`);
      return 0;
    }
    case "chat":
      return await chat(command.options);
    default:
      command satisfies never;
      return exitCodes.usage;
  }
}

function openStore(folder: string | undefined): FileStore {
  return fileStore(folder ?? defaultStoreFolder(env, homedir()), {
    onBroken: ({ path }) =>
      stderr.write(`millrace: ${terminalLine(path)} can't be read; left out\n`),
  });
}

async function ownVersion(): Promise<string> {
  const parsed = parseJsonText(
    await readFile(new URL("../../package.json", import.meta.url), "utf8"),
  );
  const version = isJsonObject(parsed) ? parsed["version"] : undefined;
  return typeof version === "string" ? version : "unknown";
}

async function chat(options: ChatOptions): Promise<number> {
  const choice = chooseModel(options.model, env);
  if (choice.kind === "problem") {
    stderr.write(`millrace: ${choice.problem}\n`);
    return exitCodes.usage;
  }
  let model: Model;
  try {
    model = await createModel(choice);
  } catch (error) {
    stderr.write(
      `millrace: ${terminalLine(error instanceof Error ? error.message : String(error))}\n`,
    );
    return exitCodes.usage;
  }
  await using store = openStore(options.store);
  const relay = new EventRelay();
  const agent = defineAgent({
    model,
    tools: createTools(options.tools, { clock: systemClock, cwd: process.cwd() }),
    observers: [relay.observe],
  });
  using stops = listenForStopSignals(stdout);
  const mode = { options, agent, model, store, relay, stops };
  if (options.json) return await jsonMode(mode);
  if (!stdin.isTTY) return await pipeMode(mode);
  return await terminalMode(mode);
}
