/** A store or a log in another process: each call is a message there and one back. */
import type { Random } from "../../kit/random.ts";
import { callTimeoutMs } from "./link.ts";
import type { Link } from "./link.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { simulation } from "./simulation.ts";

export interface RemoteOptions {
  /** Such as `store`: it begins the names of messages in the trace. */
  readonly name: string;
  readonly caller: SimulatedProcess;
  readonly server: SimulatedProcess;
  readonly link: Link;
  readonly random: Random;
  /** Methods that stay as they are: they answer at once, or are made remote elsewhere. */
  readonly local: readonly string[];
}

type Method = (...values: readonly unknown[]) => Promise<unknown>;

/**
 * The object as a process sees it. A call that is lost on its way there was not carried out, one whose answer
 * is lost was: its caller gets an error either way, and can't find out which.
 */
export function remote<T extends object>(target: T, options: RemoteOptions): T {
  const methods = Object.entries(target).filter(
    (entry): entry is [string, Method] =>
      typeof entry[1] === "function" && !options.local.includes(entry[0]),
  );
  const replaced = methods.map(([name, method]) => [name, remoteMethod(name, method, options)]);
  return { ...target, ...(Object.fromEntries(replaced) as Partial<T>) };
}

function remoteMethod(method: string, call: Method, options: RemoteOptions): Method {
  const { name, caller, server, link, random } = options;
  const latency = (): number => callLatency(link, random);
  return (...values) =>
    new Promise((resolve, reject) => {
      const channel = `< ${name}`;
      const answer = (ms: number, note: string, settle: () => void): void =>
        void simulation().schedule(ms, caller, `< ${name}.${method} ${note}`, settle, { channel });
      const fail = (ms: number, note: string, message: string): void =>
        answer(ms, note, () => reject(new Error(message)));
      const isLost = random.chance(link.loss);
      const isAnswerLost = random.chance(link.loss);
      const [there, back] = [latency(), latency()];
      if (link.isAway) return fail(there, "is refused", "connect ECONNREFUSED");
      if (link.isCut) return fail(callTimeoutMs, "is given up", "Query read timeout");
      if (isLost) return fail(there, "is lost", "Connection terminated unexpectedly");
      const succeed = (value: unknown): void => {
        if (link.isCut) fail(callTimeoutMs, "has no answer", "Query read timeout");
        else if (isAnswerLost || link.isAway)
          fail(back, "has its answer lost", "Connection terminated unexpectedly");
        else answer(back, `ok ${brief(value)}`, () => resolve(value));
      };
      const refuse = (error: unknown): void =>
        answer(back, `throws ${codeOf(error)}`, () => reject(error));
      simulation().schedule(there, server, `> ${name}.${method} of ${caller.name}`, () => {
        call(...values).then(succeed, refuse);
      });
    });
}

export function callLatency({ slowMs }: Link, random: Random): number {
  const tail = random.chance(0.02) ? random.next() * 40 : 0;
  return 0.3 + random.next() * 2 + tail + slowMs * random.next();
}

/** What of an answer stands in the trace. */
function brief(value: unknown): string {
  if (Array.isArray(value)) return `of ${value.length}`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "object" || value === null) return "";
  const { outcome, head } = value as { readonly outcome?: string; readonly head?: number };
  return outcome ?? (head === undefined ? "" : String(head));
}

function codeOf(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return code ?? message ?? "";
}
