import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "../../../scripts/services/redis.ts";
import type { DeployedNode } from "../../kit/deployment/deployment.ts";
import type { Random } from "../../kit/random.ts";
import { until } from "../../kit/until.ts";
import type { Lane } from "./lane.ts";
import type { WatchedSession } from "./watched-session.ts";

/** A fault of one lane while a reply is written in it. Resolves when it is over. */
export interface LaneFault {
  readonly cause: (lane: Lane, session: WatchedSession, random: Random) => Promise<void>;
}

/** PostgreSQL's code for a full disk, with which it refuses each fact while the trigger is there. */
const fillDisk = `
  create function millrace.full_disk() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
  create trigger full_disk before insert on millrace.fact execute function millrace.full_disk();
`;
const emptyDisk = "drop function millrace.full_disk() cascade";

export const laneFaults = {
  /** The writer is stopped until another worker writes, and goes on then. */
  zombie: {
    cause: async (_, session) => {
      const { process } = await writerOf(session);
      const { epoch } = session;
      process.stop();
      await until(() => session.epoch > epoch, "another worker writes the reply");
      process.cont();
    },
  },
  redisLost: {
    cause: async ({ deployment: { redis } }, session, random) => {
      await writerOf(session);
      const kind = random.below(3);
      if (kind === 0) await ask(redis.port, "FLUSHALL");
      else await redis.kill();
      if (kind === 1) await sleep(1_000);
      if (kind !== 0) await redis.restart(); // it keeps nothing, as a replica that had nothing yet
    },
  },
  postgresKilled: {
    cause: async ({ deployment: { postgres } }, session) => {
      await writerOf(session);
      await postgres.kill();
      await postgres.restart();
    },
  },
  diskFull: {
    cause: async ({ deployment: { postgres } }, session, random) => {
      await writerOf(session);
      await postgres.query(fillDisk);
      await sleep(1_000 + random.next() * 2_000);
      await postgres.query(emptyDisk);
    },
  },
  clocksJump: {
    cause: async (lane, session, random) => {
      const { workers, webs } = lane.deployment;
      const writer = await writerOf(session);
      const hour = random.pick([3_600, -3_600]);
      for (const worker of workers) worker.clock?.set(worker === writer ? hour : -hour);
      for (const web of webs) web.clock?.set(600);
      await sleep(1_000); // they follow within a second
      await writer.process.kill();
      lane.restart();
    },
  },
} as const satisfies Readonly<Record<string, LaneFault>>;

/** Waits until a reply is written and shown. */
export async function writerOf(session: WatchedSession): Promise<DeployedNode> {
  let writer: DeployedNode | undefined;
  await until(() => (writer = session.writer) !== undefined, "a reply is written");
  if (writer === undefined) throw new Error("no worker");
  return writer;
}
