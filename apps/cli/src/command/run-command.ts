import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { defineAgent } from "@millrace/agent";
import { terminalLine } from "@millrace/agent/terminal";
import { isJsonObject, parseJsonText } from "@millrace/core/wire";
import { systemClock } from "@millrace/core/memory";
import { fileStore } from "@millrace/stores/file";
import type { FileStore } from "@millrace/stores/file";
import { parseCommand } from "./arguments.ts";
import type { ChatOptions, Command } from "./arguments.ts";
import { exitCodes } from "./exit-codes.ts";
import { describeFailure } from "./failure.ts";
import { helpText } from "./help.ts";
import { listSessions } from "../session/list-sessions.ts";
import { chooseModel } from "../model/choose-model.ts";
import { createModel } from "../model/create-model.ts";
import { jsonEventsMode, printMode, terminalMode } from "../chat/modes.ts";
import { EventRelay } from "../chat/event-relay.ts";
import { listenForStopSignals } from "./stop-signals.ts";
import { defaultStoreFolder } from "../session/defaults.ts";
import { findSession } from "../session/open-session.ts";
import { rememberedModel } from "../session/remembered-model.ts";
import { listRemote } from "../remote/list-remote.ts";
import { remotePrint, remoteTerminal } from "../remote/remote-modes.ts";
import { readServerAddress } from "../remote/server-address.ts";
import { createTools } from "../tools/tools.ts";

const { stdin, stdout, stderr, env } = process;

/** Runs the command that the process was started with, and gives its exit code. Never rejects. */
export async function main(): Promise<number> {
  // A closed pipe is an error event, which would end the process with a stack trace if it had no listener.
  stdout.on("error", () => undefined);
  stderr.on("error", () => undefined);
  const command = parseCommand(process.argv.slice(2));
  process.on("uncaughtException", (error) => process.exit(fail(error, command)));
  try {
    return await run(command);
  } catch (error) {
    return fail(error, command);
  }
}

async function run(command: Command): Promise<number> {
  switch (command.command) {
    case "help":
      stdout.write(helpText);
      return 0;
    case "version":
      stdout.write(`${await ownVersion()}\n`);
      return 0;
    case "usage":
      return refuse(`${command.problem}; millrace --help shows what there is`);
    case "list": {
      if (command.url !== undefined) return await listAtServer(command.url);
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

/** Prints what the user has to change, and gives the exit code for it. */
function refuse(problem: string, code: number = exitCodes.usage): number {
  stderr.write(`millrace: ${terminalLine(problem, 600)}\n`);
  return code;
}

/** Prints an error in one line. Where it was thrown is of use to those who mend this program only. */
function fail(error: unknown, command: Command): number {
  const store =
    command.command === "chat"
      ? command.options.store
      : command.command === "list"
        ? command.store
        : undefined;
  const { problem, code } = describeFailure(error, folderOf(store));
  stderr.write(`millrace: ${problem}\n`);
  if (env["MILLRACE_DEBUG"] && error instanceof Error) stderr.write(`${error.stack}\n`);
  return code;
}

function folderOf(store: string | undefined): string {
  return store ?? defaultStoreFolder(env, homedir());
}

function openStore(folder: string | undefined): FileStore {
  return fileStore(folderOf(folder), {
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

/** Lists the sessions of a server. */
async function listAtServer(url: string): Promise<number> {
  const address = readServerAddress(url, env["MILLRACE_TOKEN"]);
  if (address.url === undefined) return refuse(address.problem);
  const listed = await listRemote(address);
  if (listed.lines === undefined) return refuse(listed.problem, exitCodes.failed);
  for (const line of listed.lines) stdout.write(`${line}\n`);
  return exitCodes.completed;
}

/** A chat with a session at a server. */
async function chatAtServer(url: string, options: ChatOptions): Promise<number> {
  const address = readServerAddress(url, env["MILLRACE_TOKEN"]);
  if (address.url === undefined) return refuse(address.problem);
  using stops = listenForStopSignals(stdout);
  const ended = await (isTerminalWanted(options) ? remoteTerminal : remotePrint)({
    options,
    address,
    stops,
  });
  return typeof ended === "number" ? ended : refuse(ended.problem, ended.code);
}

/** Whether the chat is shown on a screen, and not one answer printed. */
function isTerminalWanted({ print, json, prompt }: ChatOptions): boolean {
  const isTerminal = stdin.isTTY && (prompt === undefined || stdout.isTTY);
  return !print && json === undefined && isTerminal;
}

async function chat(options: ChatOptions): Promise<number> {
  if (options.url !== undefined) return await chatAtServer(options.url, options);
  await using store = openStore(options.store);
  const found = await findSession(store, options);
  if (!found.named) return refuse(found.problem, exitCodes.failed);
  const { record } = found;
  const remembered = rememberedModel(record?.metadata);
  const ownFolder = options.store === undefined;
  const choice = chooseModel(options.model, env, { remembered, ownFolder });
  if (choice.kind === "problem") return refuse(choice.problem);
  let model;
  try {
    model = await createModel(choice);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return refuse(`can't make the model ${choice.name}: ${message}`);
  }
  const relay = new EventRelay();
  const agent = defineAgent({
    model,
    tools: createTools(options.tools, { clock: systemClock, cwd: process.cwd() }),
    observers: [relay.observe],
  });
  using stops = listenForStopSignals(stdout);
  const mode = { options, agent, model, modelName: choice.name, store, record, relay, stops };
  if (options.json === "events") return await jsonEventsMode(mode);
  return await (isTerminalWanted(options) ? terminalMode(mode) : printMode(mode));
}
