import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { jsonLines } from "@millrace/agent";
import { terminalLine } from "@millrace/agent/terminal";
import type { Agent, Session } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { systemClock } from "@millrace/core/memory";
import type { FileStore } from "@millrace/stores/file";
import type { ChatOptions } from "../command/arguments.ts";
import { Terminal } from "./terminal-chat.ts";
import { openSession } from "../session/open-session.ts";
import type { Opened } from "../session/open-session.ts";
import { askEach, denyQuestions, exitCodes, OneAnswer } from "./piped.ts";
import { itemsBefore } from "./past.ts";
import { PlainChat } from "./plain-chat.ts";
import type { EventRelay } from "./event-relay.ts";
import { newSessionName } from "../session/defaults.ts";
import { stopCodes } from "../command/stop-signals.ts";
import type { StopSignals } from "../command/stop-signals.ts";

/** What every mode needs. */
export interface Mode {
  readonly options: ChatOptions;
  readonly agent: Agent;
  readonly model: Model;
  readonly store: FileStore;
  readonly relay: EventRelay;
  readonly stops: StopSignals;
}

const { stdin, stdout, stderr } = process;

/** A chat at a terminal, until the user leaves or a signal ends the process. */
export async function terminalMode(mode: Mode): Promise<number> {
  const { model, store, relay, stops } = mode;
  const opened = await open(mode);
  if (!opened.opened) return exitCodes.failed;
  const { session, fresh, interrupted } = opened;
  const greeting = `${terminalLine(model.id)}, session ${terminalLine(session.id)}; /help shows what there is`;
  const options = {
    input: stdin,
    output: stdout,
    clock: systemClock,
    session,
    past: itemsBefore(session.transcript, relay.buffered()),
    interrupted,
    greeting,
  };
  const drawn = stdout.isTTY && process.env["TERM"] !== "dumb";
  const ui = drawn ? new Terminal(options) : new PlainChat(options);
  relay.connect((event) => ui.observe(event));
  const stopped = Promise.withResolvers<number>();
  stops.connect((stop) => {
    if (stop === "interrupt") ui.chat.interrupt();
    else stopped.resolve(stopCodes[stop]);
  });
  const code = await Promise.race([ui.left.then(() => 0), stopped.promise]);
  // A second signal ends the process at once, without waiting for the session to close.
  stops.connect((stop) => process.exit(stopCodes[stop]));
  ui.close();
  const { session: last } = ui.chat;
  const unused = fresh && last.items.length === 0 && last.queue.length === 0;
  const running = last.run !== undefined;
  await last.close();
  if (unused) await remove(store, last);
  else {
    if (running)
      stdout.write("The run is not done; it goes on when the session is taken up again.\n");
    stdout.write(`To go on: millrace chat --resume ${terminalLine(last.id)}\n`);
  }
  return code;
}

/** One prompt from stdin, one answer on stdout. */
export async function pipeMode(mode: Mode): Promise<number> {
  const prompt = (await text(stdin)).trimEnd();
  if (prompt === "") {
    stderr.write("millrace: there is no prompt on stdin\n");
    return exitCodes.usage;
  }
  const answer = new OneAnswer({
    stdout: (piece) => void stdout.write(piece),
    stderr: (piece) => void stderr.write(piece),
    isTerminal: stdout.isTTY,
  });
  return await unattended(mode, answer.observe, (session, signal) =>
    answer.ask(session, prompt, signal),
  );
}

/** Events as JSON lines on stdout, and nothing else there. */
export async function jsonMode(mode: Mode): Promise<number> {
  return await unattended(mode, jsonLines(stdout), (session, signal) => {
    // Made only when it is read: lines that come before are lost.
    const lines = (): AsyncIterable<string> =>
      createInterface({ input: stdin, terminal: false, signal });
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

async function open({ agent, store, options }: Mode): Promise<Opened> {
  const newName = (): string => newSessionName(systemClock.now(), Math.random);
  const opened = await openSession(agent, store, options, newName);
  if (!opened.opened) stderr.write(`millrace: ${opened.problem}\n`);
  return opened;
}

/** Removes a session that has no items. */
async function remove(store: FileStore, session: Session): Promise<void> {
  const record = await store.find(session.id);
  if (record !== undefined) await store.remove(record.uid);
}
