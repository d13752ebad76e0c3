import { setTimeout as sleep } from "node:timers/promises";

/** A command of a person, as it is posted to a web node. */
export interface Command {
  readonly call: "send" | "steer" | "followUp" | "takeBack" | "allow" | "deny" | "abort";
  /** The same for each try, so that a command takes effect once. */
  readonly key: string;
  /** Of an input. */
  readonly text?: string | undefined;
  /** The input that is taken back, or the question that is answered. */
  readonly target?: string | undefined;
}

/** The answer of a web node. */
export type Answer =
  | { readonly accepted: true; readonly replayed: boolean }
  | { readonly accepted: false; readonly reason: string };

export interface PostOptions {
  readonly session: string;
  /** The addresses of the web nodes that may be up. */
  readonly addresses: readonly string[];
  /** How long the person tries. */
  readonly patienceMs: number;
}

const tryMs = 2_500;

/** Posts a command until a web node answers, at one node after the other. Undefined: none did in time. */
export function post(command: Command, options: PostOptions): Promise<Answer | undefined> {
  return postBy((address, session) => tryOnce(`${address}/${session}`, command), options);
}

/** The same by a request of another form. `tryAt` is given the address of a web node and the session's name. */
export async function postBy(
  tryAt: (address: string, session: string) => Promise<Answer | undefined>,
  options: PostOptions,
): Promise<Answer | undefined> {
  const { session, addresses, patienceMs } = options;
  const end = performance.now() + patienceMs;
  for (let tries = Math.floor(Math.random() * 2); performance.now() < end; tries += 1) {
    const answer = await tryAt(addresses[tries % addresses.length] ?? "", session);
    if (answer !== undefined) return answer;
    await sleep(100);
  }
  return undefined;
}

async function tryOnce(url: string, command: Command): Promise<Answer | undefined> {
  try {
    const signal = AbortSignal.timeout(tryMs);
    const response = await fetch(url, { method: "POST", body: JSON.stringify(command), signal });
    const text = await response.text();
    return response.status === 200 ? (JSON.parse(text) as Answer) : undefined;
  } catch {
    return undefined; // the node is down, or silent
  }
}
