import { writeSync } from "node:fs";
import type { EventLog, SessionStore } from "@millrace/core/ports";

/** Counts the places at which a process may end, and ends it at one of them. */
export interface Boundaries {
  /** Passes one. The process does not come back from the one at which it is to end. */
  readonly cross: (label: string) => void;
  /** Those that were passed, in order. */
  readonly passed: readonly string[];
}

/**
 * `killAt` 0: never. The place is written to `file` before the process ends, since it can't report
 * it afterwards.
 */
export function createBoundaries(killAt: number, file: number): Boundaries {
  const passed: string[] = [];
  return {
    cross: (label) => {
      passed.push(label);
      if (passed.length !== killAt) return;
      writeSync(file, `${label}\n`);
      process.kill(process.pid, "SIGKILL");
    },
    passed,
  };
}

type StoreCall = "create" | "claim" | "accept" | "open" | "commit" | "append" | "fork";

/** A store with a boundary before and after each call that stores something. */
export function watchStore(store: SessionStore, { cross }: Boundaries): SessionStore {
  const watch = <Args extends readonly unknown[], Answer>(
    name: StoreCall,
    call: (...args: Args) => Promise<Answer>,
  ): ((...args: Args) => Promise<Answer>) => {
    return async (...args) => {
      cross(`before store.${name}`);
      const answer = await call(...args);
      cross(`after store.${name}`);
      return answer;
    };
  };
  return {
    ...store,
    create: watch("create", store.create),
    claim: watch("claim", store.claim),
    accept: watch("accept", store.accept),
    open: watch("open", store.open),
    commit: watch("commit", store.commit),
    append: watch("append", store.append),
    fork: watch("fork", store.fork),
  };
}

/** A log with a boundary before and after each batch. */
export function watchLog(log: EventLog, { cross }: Boundaries): EventLog {
  return {
    ...log,
    append: async (uid, batch) => {
      cross("before log.append");
      const answer = await log.append(uid, batch);
      cross("after log.append");
      return answer;
    },
  };
}
