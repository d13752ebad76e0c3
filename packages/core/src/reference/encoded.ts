import { MillraceError } from "../errors.ts";
import type { Batch } from "../event/batch.ts";
import type { Fact } from "../event/event.ts";
import type { EventLog, SubscribeOptions } from "../ports/event-log.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { decodeMessage, encodeMessage } from "../wire/message-codec.ts";

/**
 * The same store, as it is to a process that reaches it over a network: what it takes is copied, what it gives
 * is another object for each call, and facts go through the codec of the wire. So no two callers share an
 * object. A fact that can't be encoded throws `invalid_event`.
 */
export function encodedStore(store: SessionStore): SessionStore {
  const { now, drivers } = store;
  const encoded = { ...copying(store), now };
  return drivers === undefined ? encoded : { ...encoded, drivers: copying(drivers) };
}

/** The same log, in the same way. */
export function encodedLog<Log extends EventLog>(log: Log): Log {
  const tail = async (...given: [Parameters<EventLog["tail"]>[0], SubscribeOptions?]) =>
    copies(await log.tail(...given));
  return {
    ...log,
    tail,
    append: async (uid, batch) => await log.append(uid, copyOf(batch)),
    read: async (...given) => copyOf(await log.read(...given)),
    announce: async (uid, fact) => await log.announce(uid, copyOf(fact)),
    nudge: async (uid, nudge) => await log.nudge(uid, copyOf(nudge)),
  };
}

/** The methods of a port, each with copies of what it takes and gives. */
function copying<Port extends object>(port: Port): Port {
  const entries = Object.entries(port).map(([name, call]: [string, unknown]) => {
    if (typeof call !== "function") return [name, call];
    const copied = async (...given: unknown[]): Promise<unknown> =>
      copyOf(await (call as (...given: unknown[]) => unknown)(...copyOf(given)));
    return [name, copied];
  });
  return Object.fromEntries(entries) as Port; // the same names, parameters and answers
}

/** Without a generator: `return` on one that waits would not end the subscription. */
function copies<T>(values: AsyncIterable<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => {
      const given = values[Symbol.asyncIterator]();
      const next = async (): Promise<IteratorResult<T, undefined>> => {
        const came = await given.next();
        return came.done === true
          ? { done: true, value: undefined }
          : { done: false, value: copyOf(came.value) };
      };
      const end = async (): Promise<IteratorResult<T, undefined>> => {
        await given.return?.();
        return { done: true, value: undefined };
      };
      return { next, return: end };
    },
  };
}

/** A copy down to the last field, in which each fact and each batch was encoded and decoded. */
function copyOf<T>(value: T): T {
  return copyAny(value) as T; // of the same form
}

function copyAny(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyAny);
  if (isMessage(value)) return recoded(value);
  if (!isPlain(value)) return typeof value === "object" ? structuredClone(value) : value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, copyAny(field)]));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** A fact has a number and a batch its first one; what a fact is made of has neither. */
function isMessage(value: unknown): value is Fact | Batch {
  return isPlain(value) && "v" in value && ("n" in value || "first" in value);
}

function recoded(message: Fact | Batch): Fact | Batch {
  // What an unknown type stands for has an envelope of its own in a store, and none here.
  if ("type" in message && message.type === "opaque") return structuredClone(message);
  const read = decodeMessage(encodeMessage(message));
  if (read.ok && !("uid" in read.value)) return read.value;
  const why = read.ok ? "it reads as a snapshot" : read.fault.message;
  throw new MillraceError("invalid_event", `a fact or batch can't be encoded: ${why}`);
}
