import { createInterface } from "node:readline";
import { jsonLines } from "@millrace/agent";
import { terminalLine } from "@millrace/agent/terminal";
import type { Agent, Session } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { systemClock } from "@millrace/core/memory";
import type { SessionRecord } from "@millrace/core/ports";
import type { FileStore } from "@millrace/stores/file";
import type { ChatOptions } from "../command/arguments.ts";
import { openSession } from "../session/open-session.ts";
import type { Opened } from "../session/open-session.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { isTakenFromSession } from "../model/choose-model.ts";
import { goOnCommand } from "../session/go-on.ts";
import { modelMetadata, rememberedModel } from "../session/remembered-model.ts";
import { jsonResult } from "./json-result.ts";
import { OneAnswer } from "./one-answer.ts";
import { askEach, askOnce, denyQuestions } from "./piped.ts";
import { readWholePrompt } from "./read-prompt.ts";
import { itemsBefore } from "./past.ts";
import { runChat } from "./run-chat.ts";
import type { EventRelay } from "./event-relay.ts";
import { newSessionName } from "../session/defaults.ts";
import { stopCodes } from "../command/stop-signals.ts";
import type { StopSignals } from "../command/stop-signals.ts";

/** What every mode needs. */
export interface Mode {
  readonly options: ChatOptions;
  readonly agent: Agent;
  readonly model: Model;
  /** The model as the user names it. */
  readonly modelName: string;
  /** The session that the command line names, if it is there already. */
  readonly record: SessionRecord | undefined;
  readonly store: FileStore;
  readonly relay: EventRelay;
  readonly stops: StopSignals;
}

const { stdin, stdout, stderr } = process;

/** A chat at a terminal, until the user leaves or a signal ends the process. */
export async function terminalMode(mode: Mode): Promise<number> {
  const { store, relay, stops } = mode;
  const opened = await open(mode);
  if (!opened.opened) return exitCodes.failed;
  const { session, fresh, interrupted } = opened;
  const greeting = `${terminalLine(greetingName(mode))}, session ${terminalLine(session.id)}; /help shows what there is`;
  const past = { items: itemsBefore(session.transcript, relay.buffered()), earlier: 0 };
  const { code, session: last } = await runChat(
    { session, past, interrupted, greeting },
    {
      stops,
      prompt: mode.options.prompt,
      connect: (chat) => relay.connect((event) => chat.observe(event)),
    },
  );
  const unused = fresh && last.transcript.length === 0 && last.queue.length === 0;
  const running = last.run !== undefined;
  await last.close();
  if (unused) await remove(store, last.id);
  else {
    if (running)
      stdout.write("The run is not done; it goes on when the session is taken up again.\n");
    const command = goOnCommand(last.id, { ...mode.options, model: modelToName(mode) });
    stdout.write(`To go on: ${terminalLine(command, 4_000)}\n`);
  }
  return code;
}

/** The path of a script is longer than its name. */
function greetingName({ model, modelName }: Mode): string {
  return modelName === "demo" || modelName.startsWith("scripted:") ? model.id : modelName;
}

/** The model, if a session that is gone on with would not have it by itself. */
function modelToName({ options, record, modelName }: Mode): string | undefined {
  const remembered = record === undefined ? modelName : rememberedModel(record.metadata);
  const isTaken =
    remembered === modelName && isTakenFromSession(modelName, options.store === undefined);
  return isTaken ? undefined : modelName;
}

/** One prompt, from the command line and stdin, and its answer on stdout: as text, or as a line of JSON. */
export async function printMode(mode: Mode): Promise<number> {
  const read = await readWholePrompt(mode.options.prompt, mode.stops);
  if (read.prompt === undefined) {
    stderr.write(`millrace: ${read.problem}\n`);
    return exitCodes.usage;
  }
  const { prompt } = read;
  const { modelName } = mode;
  if (mode.options.json === "result") {
    return await unattended(
      mode,
      () => undefined,
      async (session, signal) => {
        const result = await askOnce(session, prompt, signal);
        stdout.write(`${jsonResult(result, { session: session.id, model: modelName })}\n`);
        return exitCodes[result.outcome];
      },
    );
  }
  const answer = new OneAnswer({
    stdout: (piece) => void stdout.write(piece),
    stderr: (piece) => void stderr.write(piece),
    isTerminal: stdout.isTTY,
  });
  return await unattended(mode, answer.observe, async (session, signal) => {
    const result = await askOnce(session, prompt, signal);
    answer.finish(result, session.id);
    return exitCodes[result.outcome];
  });
}

/** Events as JSON lines on stdout, and nothing else there. Without a prompt, each line of stdin is one. */
export async function jsonEventsMode(mode: Mode): Promise<number> {
  const named =
    mode.options.prompt === undefined
      ? undefined
      : await readWholePrompt(mode.options.prompt, mode.stops);
  if (named !== undefined && named.prompt === undefined) {
    stderr.write(`millrace: ${named.problem}\n`);
    return exitCodes.usage;
  }
  return await unattended(mode, jsonLines(stdout), (session, signal) => {
    // Made only when it is read: lines that come before are lost.
    const lines = (): AsyncIterable<string> | readonly string[] =>
      named === undefined
        ? createInterface({ input: stdin, terminal: false, signal })
        : [named.prompt];
    return askEach(session, lines, { signal, stderr: (piece) => void stderr.write(piece) });
  });
}

/** Runs without a user: questions are denied. The first stop aborts the run, the second the process. */
async function unattended(
  mode: Mode,
  observe: Parameters<EventRelay["connect"]>[0],
  work: (session: Session, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const opened = await open(mode);
  if (!opened.opened) return exitCodes.failed;
  const { session } = opened;
  const deny = denyQuestions(() => session);
  mode.relay.connect((event) => {
    observe(event);
    deny(event);
  });
  const stopping = new AbortController();
  const stopped = Promise.withResolvers<number>();
  mode.stops.connect((stop) => {
    const code = stopCodes[stop];
    const runStops = stop === "interrupt" || stop === "broken_pipe";
    if (runStops) stopping.abort();
    // The same state as after a crash: the run is resumed when the session is opened again.
    else stopped.resolve(code);
    // Each further write to a broken pipe fails again, so only another signal ends the process at once.
    mode.stops.connect((again) => again !== "broken_pipe" && process.exit(code));
  });
  const code = await Promise.race([work(session, stopping.signal), stopped.promise]);
  await session.close();
  return stopping.signal.aborted ? exitCodes.aborted : code;
}

async function open({ agent, store, options, record, modelName }: Mode): Promise<Opened> {
  const name = options.session ?? newSessionName(systemClock.now(), Math.random);
  const metadata = modelMetadata(modelName);
  const opened = await openSession(agent, store, { name, record, metadata });
  if (!opened.opened) stderr.write(`millrace: ${opened.problem}\n`);
  return opened;
}

/** Removes a session that has no items. */
async function remove(store: FileStore, id: string): Promise<void> {
  const record = await store.find(id);
  if (record !== undefined) await store.remove(record.uid);
}
