import { systemClock } from "@millrace/core/memory";
import { stopCodes } from "../command/stop-signals.ts";
import type { StopSignals } from "../command/stop-signals.ts";
import type { ChatSession } from "../session/chat-session.ts";
import type { Chat } from "./chat.ts";
import { PlainChat } from "./plain-chat.ts";
import { Terminal } from "./terminal-chat.ts";
import type { Interactive } from "./terminal-chat.ts";

const { stdin, stdout } = process;

/** How a chat ended: the exit code, and the session that it was in then. */
export interface Left {
  readonly code: number;
  readonly session: ChatSession;
}

/** A chat at a terminal, until the user leaves or a signal ends the process. The session stays open. */
export async function runChat(
  shown: Omit<Interactive, "input" | "output" | "clock">,
  {
    stops,
    prompt,
    connect,
  }: {
    readonly stops: StopSignals;
    readonly prompt: string | undefined;
    /** Brings what happens to the chat, from now on. */
    readonly connect: (chat: Chat) => void;
  },
): Promise<Left> {
  const options = { input: stdin, output: stdout, clock: systemClock, ...shown };
  const drawn = stdout.isTTY && process.env["TERM"] !== "dumb";
  const ui = drawn ? new Terminal(options) : new PlainChat(options);
  connect(ui.chat);
  if (prompt !== undefined) ui.chat.begin(prompt);
  const stopped = Promise.withResolvers<number>();
  stops.connect((stop) => {
    if (stop === "interrupt") ui.chat.interrupt();
    else stopped.resolve(stopCodes[stop]);
  });
  const code = await Promise.race([ui.left.then(() => 0), stopped.promise]);
  // A second signal ends the process at once, without waiting for the session to close.
  stops.connect((stop) => process.exit(stopCodes[stop]));
  ui.close();
  return { code, session: ui.chat.session };
}
