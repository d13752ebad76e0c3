import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { jsonLines, terminalLine } from "@millrace/agent";
import type { Agent, Session } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { systemClock } from "@millrace/core/memory";
import type { FileStore } from "@millrace/stores/file";
import type { ChatOptions } from "./arguments.ts";
import { Terminal } from "./interactive.ts";
import { openSession } from "./open-session.ts";
import type { Opened } from "./open-session.ts";
import { askEach, denyQuestions, exitCodes, OneAnswer } from "./piped.ts";
import { itemsBefore } from "./past.ts";
import { PlainChat } from "./plain-chat.ts";
import type { Relay } from "./relay.ts";
import { newSessionName } from "./session-name.ts";
import { stopCodes } from "./stops.ts";
import type { Stops } from "./stops.ts";

/** What all ways to talk need. */
export interface Mode {
  readonly options: ChatOptions;
  readonly agent: Agent;
  readonly model: Model;
  readonly store: FileStore;
  readonly relay: Relay;
  readonly stops: Stops;
}

const { stdin, stdout, stderr } = process;

/** A person at a terminal. */
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
    past: itemsBefore(session.transcript, relay.kept()),
    interrupted,
    greeting,
  };
  const drawn = stdout.isTTY && process.env["TERM"] !== "dumb";
  const shown = drawn ? new Terminal(options) : new PlainChat(options);
  relay.to((event) => shown.observe(event));
  const stopped = Promise.withResolvers<number>();
  stops.to((stop) => {
    if (stop === "interrupt") shown.chat.interrupt();
    else stopped.resolve(stopCodes[stop]);
  });
  const code = await Promise.race([shown.left.then(() => 0), stopped.promise]);
  // Whoever is in a hurry need not wait for what is being stopped.
  stops.to((stop) => process.exit(stopCodes[stop]));
  shown.close();
  const { session: last } = shown.chat;
  const unused = fresh && last.items.length === 0 && last.queue.length === 0;
  const running = last.run !== undefined;
  await last.close();
  if (unused) await forget(store, last);
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
    watched: stdout.isTTY,
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

/** Runs without anybody who could answer. A stop is a stop of the run, and then of the process. */
async function unattended(
  mode: Mode,
  observe: Parameters<Relay["to"]>[0],
  work: (session: Session, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const opened = await open(mode);
  if (!opened.opened) return exitCodes.failed;
  const { session } = opened;
  const deny = denyQuestions(() => session);
  mode.relay.to((event) => {
    observe(event);
    deny(event);
  });
  const stopping = new AbortController();
  const stopped = Promise.withResolvers<number>();
  mode.stops.to((stop) => {
    const code = stopCodes[stop];
    const runStops = stop === "interrupt" || stop === "broken_pipe";
    if (runStops) stopping.abort();
    // Left as a crash would leave it: the run goes on when the session is taken up again.
    else stopped.resolve(code);
    // Each further write tells again that nobody reads; whoever asks again is in a hurry.
    mode.stops.to((again) => again !== "broken_pipe" && process.exit(code));
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

/** A session that nothing was said in is not kept. */
async function forget(store: FileStore, session: Session): Promise<void> {
  const record = await store.find(session.id);
  if (record !== undefined) await store.remove(record.uid);
}
