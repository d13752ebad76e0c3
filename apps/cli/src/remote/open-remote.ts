import { createClient } from "@millrace/client";
import type { Client } from "@millrace/client";
import { terminalLine } from "@millrace/agent/terminal";
import type { Cause } from "@millrace/core";
import { systemClock } from "@millrace/core/memory";
import { newSessionName } from "../session/defaults.ts";
import { RemoteSession } from "./remote-session.ts";

/** A server that does not answer for so long is waited for on the screen. */
const patienceMs = 3_000;

export type OpenedRemote =
  | { readonly session: RemoteSession; readonly fresh: boolean }
  | { readonly session?: undefined; readonly problem: string };

/**
 * Opens a session at a server: waits until it is shown, or known to be missing, or refused. A server that
 * is away is no failure: the session is shown when it is back.
 */
export async function openRemote(
  { url, token }: { readonly url: string; readonly token: string | undefined },
  { session: wanted, resume }: { readonly session: string | undefined; readonly resume: boolean },
): Promise<OpenedRemote> {
  const client: Client = createClient({ url, token });
  const name = wanted ?? newSessionName(systemClock.now(), Math.random);
  const session = new RemoteSession(client, client.session(name), systemClock);
  await session.found(patienceMs);
  const { refusal } = session;
  if (refusal !== undefined) {
    await session.close();
    return { problem: explainRefusal(refusal, url) };
  }
  if (resume && session.isMissing) {
    await session.close();
    return { problem: `there is no session ${terminalLine(name)} at ${terminalLine(url)}` };
  }
  return { session, fresh: session.isMissing };
}

/** Why a server shows nothing, and what the user can do about it. */
export function explainRefusal({ code, message }: Cause, url: string): string {
  const at = terminalLine(url);
  if (code === "unauthenticated")
    return `${at} does not know who this is: set MILLRACE_TOKEN (of a server for this machine alone it is in ~/.millrace/token)`;
  if (code === "http_404") return `${at} is no server of sessions: is its path complete? (${code})`;
  return `${at}: ${terminalLine(message, 400)} (${terminalLine(code)})`;
}
