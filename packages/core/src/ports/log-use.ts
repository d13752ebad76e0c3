import type { EventLog } from "./event-log.ts";
import type { SessionStore } from "./session-store.ts";
import { warn } from "./warn.ts";

interface LogUse {
  hub?: EventLog;
  session?: EventLog;
  warned?: true;
}

const uses = new WeakMap<SessionStore, LogUse>();

/**
 * Notes by which log a store's sessions are written or watched in this process. If a hub reads another
 * log than the one that a session is written with, its viewers see text only once it is stored: the
 * process gets one warning for the store.
 */
export function noteLog(by: "hub" | "session", store: SessionStore, log: EventLog): void {
  const use = uses.get(store) ?? {};
  use[by] = log;
  uses.set(store, use);
  const { hub, session, warned } = use;
  if (warned === true || hub === undefined || session === undefined || hub === session) return;
  use.warned = true;
  warn(
    "MILLRACE_OTHER_LOG",
    "a session is written with another log than its hub reads: viewers see its text only once it is stored. Pass one and the same log to createHub and to agent.open",
  );
}

/** Warns once for a store that other processes share and whose sessions are written without a log. */
export function noteMissingLog(store: SessionStore): void {
  if (store.shared !== true || unlogged.has(store)) return;
  unlogged.add(store);
  warn(
    "MILLRACE_NO_LOG",
    "a session is opened without a log in a store that other processes share: they see its text only once it is stored, and a stop from them takes seconds. Pass log to agent.open, such as redisLog({ url }) of @millrace/stores/redis, or memoryEventLog() of @millrace/core/memory if this is the only process",
  );
}

const unlogged = new WeakSet<SessionStore>();
