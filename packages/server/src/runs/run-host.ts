import type { Agent, SessionInfo } from "@millrace/agent";
import { createWorker } from "@millrace/agent/worker";
import type { TenantStore, Worker, WorkerEvent, WorkerOptions } from "@millrace/agent/worker";
import type {
  BlobStore,
  Clock,
  EventLog,
  SessionRecord,
  SessionDriver,
} from "@millrace/core/ports";
import { warn } from "@millrace/core/checks";
import { redactedMessage } from "@millrace/core/secrets";
import { localIndex } from "./local-index.ts";

/** The agent of all sessions, or the choice of one by what is known of a session. */
export type ServedAgent = Agent | ((session: SessionInfo) => Agent | Promise<Agent>);

/** Which sessions are driven in this process, and how many at once. */
export interface RunHostOptions {
  readonly agent: ServedAgent;
  /** Of all tenants: its index finds the sessions that a process which died has left. */
  readonly store: TenantStore;
  readonly log: EventLog;
  readonly blobs?: BlobStore | undefined;
  /** Which runs may be worked on, and what they may spend. A run above the limits waits in its queue. */
  readonly limits: Pick<WorkerOptions, "admit" | "acquireSlot" | "allowance">;
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Drives runs in this process, beyond the requests that began them. */
export interface RunHost {
  /** True if runs are driven here. */
  readonly drives: boolean;
  /**
   * Called after an input was stored, with the session as it was found before and the number of the
   * input's fact: its run begins at once if no run is on. Costs nothing where another process has the run.
   */
  readonly wake: (session: SessionRecord, n: number) => void;
  /**
   * Called after a fact was stored that begins no run: a stop, or an input that was taken back. A driver of
   * this process reads it by itself, so that `head` is called only for a driver outside.
   */
  readonly note: (session: SessionRecord, head: () => Promise<number>) => void;
  /** Finishes turns under way, releases claims and hands over. Resolves after `drainMs` at most. */
  readonly close: (options: { readonly drainMs: number }) => Promise<void>;
}

/** How long a session stays open after its run, so that a prompt that follows is driven at once. */
const idleMs = 5_000;
/** Runs in one process: beyond it they wait. A run costs memory by its session's items. */
const capacity = 1_000;

/**
 * A run host. A process that serves requests and drives is a worker of its store: prompts of its own
 * requests begin at once, and runs of processes that died are found in the store's index. Starts at once.
 */
export function createRunHost(options: RunHostOptions): RunHost {
  const { agent: served, store, log, blobs, limits, clock, random, onEvent } = options;
  const index = store.drivers === undefined ? localIndex(store) : undefined;
  const agent = async (session: SessionRecord): Promise<Agent> =>
    typeof served === "function" ? await served(infoOf(session)) : served;
  const started: Promise<Worker> = createWorker({
    agent,
    store,
    log,
    blobs,
    index,
    clock,
    random,
    idleMs,
    capacity,
    ...limits,
    onEvent: (event) => {
      if (event.type === "session_closed" && event.why === "idle") index?.forget(event.uid);
      onEvent?.(event);
    },
  });
  void started.then((worker) => worker.run());
  return {
    drives: true,
    wake: (session, n) => {
      const { uid, sessionId, tenant, incarnation, status } = session;
      const head = Math.max(session.head, n);
      const due = { uid, sessionId, tenant, incarnation, head, isRunning: status !== "idle" };
      index?.note(due);
      void started.then((worker) => worker.wake(due));
    },
    note: () => undefined,
    close: async (options) => {
      await (await started).shutdown(options);
    },
  };
}

/** What an application chooses the agent of a session by. */
function infoOf({ sessionId, tenant = "default", owner, metadata }: SessionRecord): SessionInfo {
  return { id: sessionId, tenant, user: owner ?? "local", metadata };
}

/** The host of a server whose runs workers elsewhere drive. */
const undriven: RunHost = {
  drives: false,
  wake: () => undefined,
  note: () => undefined,
  close: async () => undefined,
};

/**
 * A run host that drives nothing: it reports stored facts to a driver outside, if there is one. No request
 * waits for the driver, and none fails by it; what a lost report would have begun is in the store.
 */
export function driverHost(driver: SessionDriver | false): RunHost {
  if (driver === false) return undriven;
  const wake = async (session: SessionRecord, n: number): Promise<void> => {
    const { uid, sessionId, tenant } = session;
    await driver.wake({ uid, sessionId, tenant, head: Math.max(session.head, n) });
  };
  return {
    drives: false,
    wake: (session, n) => void warnIfFailed("wake", () => wake(session, n)),
    note: (session, head) =>
      void warnIfFailed("wake", async () => await wake(session, await head())),
    close: () => warnIfFailed("close", async () => await driver.close?.()),
  };
}

async function warnIfFailed(call: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    warn("MILLRACE_DRIVER_FAILED", `${call} of the driver failed: ${redactedMessage(error)}`);
  }
}

/** The names of the tools that clients of a session carry out. */
export type ClientTools = (session: SessionRecord) => Promise<ReadonlySet<string>>;

/** Those of the agent that the session has. */
export function clientToolsOf(served: ServedAgent): ClientTools {
  return async (session) => {
    const agent = typeof served === "function" ? await served(infoOf(session)) : served;
    const clients = agent.tools.filter((tool) => "run" in tool && tool.run === "client");
    return new Set(clients.map(({ name }) => name));
  };
}
