import { inputId, sessionId } from "../ids.ts";
import type { SessionId, SessionUid } from "../ids.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { follow } from "../reading/follow.ts";
import type { Connection, FollowOptions } from "../reading/follow.ts";
import { manualClock } from "../reference/manual-clock.ts";
import type { ManualClock } from "../reference/manual-clock.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import { memorySessionStore } from "../reference/memory-session-store.ts";

/** What fails, and how often the store and the log were called. Changed by the test. */
export interface FollowFaults {
  storeAway: boolean;
  logAway: boolean;
  /** While true, a subscription is neither made nor refused. */
  logHangs: boolean;
  tails: number;
  reads: number;
  heads: number;
}

/** A session with one fact, whose store and log can be away. */
export interface FollowFixture {
  readonly clock: ManualClock;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** What readers are given: counted, and subject to the faults. */
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly truth: SessionStore;
  readonly faults: FollowFaults;
  /** Stores and announces an input. */
  readonly acceptInput: () => Promise<void>;
  /** All subscriptions throw. */
  readonly breakTails: () => void;
  /** Follows until it ends, and records what it gets. */
  readonly view: (options?: Partial<FollowOptions>) => FollowedView;
}

/** What a viewer got. */
export interface FollowedView {
  /** The numbers of facts, and `snapshot 3` for one at head 3. */
  readonly got: (number | string)[];
  readonly connections: Connection[];
  /** Undefined while it follows, "ended", or the error that it threw. */
  readonly ended: () => unknown;
}

const name = sessionId("followed");

export async function openFollowFixture(): Promise<FollowFixture> {
  const clock = manualClock(1_700_000_000_000);
  const truth = memorySessionStore({ clock });
  const memory = memoryEventLog();
  const { uid } = await truth.create({ sessionId: name });
  await truth.claim(uid, { from: 0 });
  const faults: FollowFaults = {
    storeAway: false,
    logAway: false,
    logHangs: false,
    tails: 0,
    reads: 0,
    heads: 0,
  };
  const breaking: ((error: Error) => void)[] = [];
  const store = faultyStore(truth, faults);
  const log = faultyLog(memory, faults, breaking);
  let inputs = 0;
  return {
    clock,
    uid,
    sessionId: name,
    store,
    log,
    truth,
    faults,
    acceptInput: async () => {
      inputs += 1;
      const id = inputId(`input_${inputs}`);
      const input = { kind: "prompt", parts: [] } as const;
      const answer = await truth.accept(uid, id, { type: "input_accepted", inputId: id, input });
      if (answer.outcome !== "accepted") throw new Error(answer.outcome);
      if (!faults.logAway) for (const fact of answer.facts) await memory.announce(uid, fact);
    },
    breakTails: () => {
      for (const reject of breaking.splice(0)) reject(new Error("the connection broke"));
    },
    view: (options) => view({ store, log, clock, uid, sessionId: name, ...options }),
  };
}

function view(options: FollowOptions): FollowedView {
  const got: (number | string)[] = [];
  const connections: Connection[] = [];
  let ended: unknown;
  const onConnection = (connection: Connection): void => void connections.push(connection);
  const read = async (): Promise<void> => {
    for await (const { message } of follow({ ...options, onConnection }))
      if ("uid" in message) got.push(`snapshot ${message.head}`);
      else if ("n" in message) got.push(message.n);
  };
  read().then(
    () => (ended = "ended"),
    (error: unknown) => (ended = error),
  );
  return { got, connections, ended: () => ended };
}

function faultyStore(truth: SessionStore, faults: FollowFaults): SessionStore {
  const here = <T>(work: () => Promise<T>): Promise<T> =>
    faults.storeAway ? Promise.reject(new Error("the store is away")) : work();
  return {
    ...truth,
    key: (uid) => here(() => truth.key(uid)),
    floors: (uid) => here(() => truth.floors(uid)),
    read: (uid, options) => {
      faults.reads += 1;
      return here(() => truth.read(uid, options));
    },
    heads: (uids) => {
      faults.heads += 1;
      return here(async () => (await truth.heads?.(uids)) ?? new Map());
    },
  };
}

function faultyLog(
  memory: EventLog,
  faults: FollowFaults,
  breaking: ((error: Error) => void)[],
): EventLog {
  const tail: EventLog["tail"] = async (uid, options) => {
    faults.tails += 1;
    if (faults.logAway) throw new Error("the log is away");
    if (faults.logHangs) await new Promise(() => undefined);
    const messages = await memory.tail(uid, options);
    const broken = new Promise<never>((_, reject) => breaking.push(reject));
    broken.catch(() => undefined); // it may not be read any more
    return (async function* () {
      const source = messages[Symbol.asyncIterator]();
      for (;;) {
        const next = await Promise.race([source.next(), broken]);
        if (next.done === true) return;
        yield next.value;
      }
    })();
  };
  return { ...memory, tail };
}
