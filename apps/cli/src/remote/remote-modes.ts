import { terminalLine } from "@millrace/agent/terminal";
import type { ChatOptions } from "../command/arguments.ts";
import { exitCodes } from "../command/exit-codes.ts";
import type { Failure } from "../command/failure.ts";
import { stopCodes } from "../command/stop-signals.ts";
import type { Stop, StopSignals } from "../command/stop-signals.ts";
import { jsonResult } from "../chat/json-result.ts";
import { OneAnswer } from "../chat/one-answer.ts";
import { showPast } from "../chat/past.ts";
import { askOnce, denyOpen } from "../chat/piped.ts";
import { readWholePrompt } from "../chat/read-prompt.ts";
import { runChat } from "../chat/run-chat.ts";
import { quoted } from "../session/go-on.ts";
import { explainRefusal, openRemote } from "./open-remote.ts";
import { RemoteSession } from "./remote-session.ts";

/** What a command needs to use a server. */
export interface RemoteMode {
  readonly options: ChatOptions;
  readonly address: { readonly url: string; readonly token: string | undefined };
  readonly stops: StopSignals;
}

const { stdout, stderr } = process;

/** A chat at a terminal with a session at a server. Leaving stops nothing. */
export async function remoteTerminal(mode: RemoteMode): Promise<number | Failure> {
  const { options, address, stops } = mode;
  const opened = await openRemote(address, options);
  if (opened.session === undefined) return { problem: opened.problem, code: exitCodes.failed };
  const { session } = opened;
  const greeting = `${terminalLine(address.url)}, session ${terminalLine(session.id)}; /help shows what there is`;
  const { code, session: last } = await runChat(
    { session, interrupted: false, greeting },
    {
      stops,
      prompt: options.prompt,
      connect: (chat) =>
        session.connect({
          past: (past) => showPast(chat.printer, { past, interrupted: false }),
          show: (narrations, time, isFact) => chat.show(narrations, time, isFact),
          changed: () => chat.update(),
          refused: (cause) => chat.printer.note(explainRefusal(cause, address.url), "bad"),
        }),
    },
  );
  await leave(last instanceof RemoteSession ? last : session, address.url); // the last may be a copy
  return code;
}

/** Leaves the session, and prints what becomes of it. */
async function leave(session: RemoteSession, url: string): Promise<void> {
  const isRunning = session.run !== undefined;
  await session.close();
  if (session.isMissing && !session.isUnanswered) return;
  if (session.isUnanswered)
    stdout.write("The server did not answer: what you sent last may be lost.\n");
  else if (isRunning) stdout.write("The run goes on at the server.\n");
  const words = ["millrace", "chat", "--url", url, "--session", session.id];
  const command = words.map((word) => quoted(word)).join(" ");
  stdout.write(`To go on: ${terminalLine(command, 4_000)}\n`);
}

/** One prompt, and its answer on stdout: as text, or as a line of JSON. Questions are denied. */
export async function remotePrint(mode: RemoteMode): Promise<number | Failure> {
  const { options, address, stops } = mode;
  const read = await readWholePrompt(options.prompt, stops);
  if (read.prompt === undefined) return { problem: read.problem, code: exitCodes.usage };
  const opened = await openRemote(address, options);
  if (opened.session === undefined) return { problem: opened.problem, code: exitCodes.failed };
  const { session } = opened;
  const answer = new OneAnswer({
    stdout: (piece) => void stdout.write(piece),
    stderr: (piece) => void stderr.write(piece),
    isTerminal: stdout.isTTY,
  });
  const isJson = options.json !== undefined;
  const stopping = new AbortController();
  session.connect({
    past: () => undefined,
    show: (narrations, time, isFact) => {
      if (!isJson) answer.show(narrations, time);
      if (isFact) denyOpen(session);
    },
    changed: () => undefined,
    refused: (cause) => {
      stderr.write(`millrace: ${explainRefusal(cause, address.url)}\n`);
      stopping.abort();
    },
  });
  const stopped = Promise.withResolvers<Stop>();
  stops.connect((stop) => {
    // As at a terminal: other signals leave, and the run goes on at the server.
    if (stop === "interrupt" || stop === "broken_pipe") stopping.abort();
    else stopped.resolve(stop);
    stops.connect((again) => again !== "broken_pipe" && process.exit(stopCodes[again]));
  });
  const result = await Promise.race([
    askOnce(session, read.prompt, stopping.signal),
    stopped.promise,
  ]);
  await session.close();
  if (typeof result === "string") return stopCodes[result];
  if (isJson) stdout.write(`${jsonResult(result, { session: session.id })}\n`);
  else answer.finish(result, session.id);
  return exitCodes[result.outcome];
}
