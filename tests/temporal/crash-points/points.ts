import type { Directive } from "../../kit/deployment/directive.ts";
import type { Random } from "../../kit/random.ts";
import { answered, compacted, completed, keepsResults, kept, reasked, stopped } from "./holds.ts";
import type { Holds } from "./holds.ts";
import { laneFaults } from "./faults.ts";
import type { LaneFault } from "./faults.ts";
import type { Station } from "./stations.ts";

/** A crash point of a session that Temporal drives. */
export interface CrashPoint {
  readonly id: string;
  /** What has happened when it is reached. */
  readonly when: string;
  readonly prompt: Pick<Directive, "mode" | "length">;
  /** A process kills itself at this station, or the test causes a fault. */
  readonly reached: AtStation | LaneFault;
  /** What must hold afterwards, beside what the oracle judges. */
  readonly holds: Holds;
}

export interface AtStation {
  /** Whose process is killed. */
  readonly kills: "worker" | "web node";
  readonly station: Station;
  /** At the so-many-th pass. Left out: the first. */
  readonly pass?: ((random: Random) => number) | undefined;
  /** A person stops the run once its tool has started a process. */
  readonly stops?: boolean | undefined;
}

const plain = { mode: "plain", length: 90 } as const;
const effect = { mode: "effect", length: 40 } as const;

const atWorker = (station: Station, pass?: AtStation["pass"]): AtStation => ({
  kills: "worker",
  station,
  pass,
});
const atWeb = (station: Station): AtStation => ({ kills: "web node", station });

/** C01 to C25 and C27. C26 and C28 befall all lanes at once. */
export const points: readonly CrashPoint[] = [
  {
    id: "C01",
    when: "a request was read, and its message is not inserted",
    prompt: plain,
    reached: atWeb("accept"),
    holds: completed,
  },
  {
    id: "C02",
    when: "a message is committed, and its 2xx is not sent",
    prompt: plain,
    reached: atWeb("accepted"),
    holds: completed,
  },
  {
    id: "C03",
    when: "a 2xx is sent, and the run is not started",
    prompt: plain,
    reached: atWeb("wake"),
    holds: completed,
  },
  {
    id: "C04",
    when: "an attempt is stored, and its request is not sent",
    prompt: plain,
    reached: atWorker("request"),
    holds: reasked,
  },
  {
    id: "C05",
    when: "a model has begun to answer, and no event came",
    prompt: plain,
    reached: atWorker("answer"),
    holds: reasked,
  },
  {
    id: "C06",
    when: "some deltas came",
    prompt: plain,
    reached: atWorker("delta", (random) => 1 + random.below(24)),
    holds: reasked,
  },
  {
    id: "C07",
    when: "the reply has ended, and nothing of it is committed",
    prompt: plain,
    reached: atWorker("reply ends"),
    holds: reasked,
  },
  {
    id: "C08",
    when: "PostgreSQL has executed the statement of a reply, and was not told to commit",
    prompt: plain,
    reached: atWorker("statement"),
    holds: reasked,
  },
  {
    id: "C09",
    when: "PostgreSQL has committed a reply, and its answer is lost",
    prompt: plain,
    reached: atWorker("commit sent"),
    holds: kept,
  },
  {
    id: "C10",
    when: "a reply is committed, and not announced",
    prompt: plain,
    reached: atWorker("reply stored"),
    holds: kept,
  },
  {
    id: "C11",
    when: "a reply is announced, and its activity is not completed to Temporal",
    prompt: effect,
    reached: atWorker("step done"),
    holds: kept,
  },
  {
    id: "C12",
    when: "an approval is stored, and nothing is started",
    prompt: { mode: "ask", length: 40 },
    reached: atWorker("call begins"),
    holds: answered("ok", 1),
  },
  {
    id: "C13",
    when: "a call is stored as started, and nothing of it runs",
    prompt: effect,
    reached: atWorker("call started"),
    holds: answered("unknown", 0),
  },
  {
    id: "C14",
    when: "a process of a tool runs",
    prompt: { mode: "child", length: 40 },
    reached: atWorker("child"),
    holds: answered("unknown", 0),
  },
  {
    id: "C15",
    when: "an effect has happened, and its result is not stored",
    prompt: effect,
    reached: atWorker("effect"),
    holds: answered("unknown", 1),
  },
  {
    id: "C16",
    when: "a result is committed, and not announced",
    prompt: effect,
    reached: atWorker("result announced"),
    holds: answered("ok", 1),
  },
  {
    id: "C17",
    when: "some of four parallel calls have ended",
    prompt: { mode: "many", length: 40 },
    reached: atWorker("result stored", (random) => 1 + random.below(3)),
    holds: keepsResults,
  },
  {
    id: "C18",
    when: "a turn has ended, and the next one begins",
    prompt: effect,
    reached: atWorker("reply begins", () => 2),
    holds: answered("ok", 1),
  },
  {
    id: "C19",
    when: "the summary of a compaction is made, and not used",
    prompt: { mode: "long", length: 40 },
    reached: atWorker("summary"),
    holds: compacted,
  },
  {
    id: "C20",
    when: "a stop is handled",
    prompt: { mode: "child", length: 40 },
    reached: { ...atWorker("result comes"), stops: true },
    holds: stopped,
  },
  {
    id: "C21",
    when: "a worker was stopped beyond its heartbeat time-out and goes on",
    prompt: { mode: "plain", length: 400 },
    reached: laneFaults.zombie,
    holds: completed,
  },
  {
    id: "C22",
    when: "a web node has sent a part of a frame",
    prompt: plain,
    reached: atWeb("frame"),
    holds: completed,
  },
  {
    id: "C23",
    when: "Redis is killed, flushed or replaced by an empty one",
    prompt: { mode: "plain", length: 400 },
    reached: laneFaults.redisLost,
    holds: completed,
  },
  {
    id: "C24",
    when: "PostgreSQL is killed and restarted",
    prompt: { mode: "plain", length: 400 },
    reached: laneFaults.postgresKilled,
    holds: completed,
  },
  {
    id: "C25",
    when: "PostgreSQL has a full disk",
    prompt: { mode: "effect", length: 200 },
    reached: laneFaults.diskFull,
    holds: completed,
  },
  {
    id: "C27",
    when: "the clocks of a worker and a web node jump by an hour, and the worker is killed",
    prompt: { mode: "plain", length: 400 },
    reached: laneFaults.clocksJump,
    holds: completed,
  },
];
