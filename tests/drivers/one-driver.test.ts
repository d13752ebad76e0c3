import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInbox } from "@millrace/core";
import type { SessionUid } from "@millrace/core";
import { redisLog } from "@millrace/stores/redis";
import { expect, it } from "vitest";
import { bundleNodes } from "../kit/deployment/bundle.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import { textOfDirective } from "../kit/deployment/directive.ts";
import { runs } from "../kit/runs.ts";
import { until } from "../kit/until.ts";

const promptCount = Number(process.env["PROMPTS"] ?? runs(400, 10_000, 200));
const sessionCount = 20;

/** How many lines each process wrote. */
async function countByProcess(file: string): Promise<ReadonlyMap<string, number>> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  const groups = Object.entries(Object.groupBy(lines, (line) => line));
  return new Map(groups.map(([name, own = []]) => [name, own.length]));
}

it(
  "sessions that four processes hold open have one model request for each prompt",
  { timeout: 120_000 * Math.max(1, promptCount / 400) },
  async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "millrace-drivers-"));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const requests = join(folder, "requests.txt");
    await writeFile(requests, "");
    const programs = stack.use(await bundleNodes());
    const deployment = stack.use(
      await Deployment.start({
        programs,
        drives: "open",
        workers: 4,
        webs: 0,
        agent: { chunkMs: 0, requests },
      }),
    );
    const { store, redis, strays } = deployment;
    const log = redisLog({ url: redis.url });
    stack.defer(() => log.close());
    const uids: SessionUid[] = [];
    for (let at = 0; at < sessionCount; at += 1)
      uids.push((await store.create({ sessionId: `held-${at}` })).uid);

    const post = async (uid: SessionUid, number: number): Promise<void> => {
      const inbox = createInbox({ store, log, uid });
      let after = await store.head(uid);
      for (let at = number; at < promptCount; at += sessionCount) {
        const key = `p${at}`;
        await inbox.send(textOfDirective({ key, mode: "plain", length: 10 }), { key });
        await until(async () => {
          const facts = await store.read(uid, { after });
          after += facts.length;
          return facts.some(({ type }) => type === "run_finished");
        }, `the run of ${key} ends`);
      }
    };
    await Promise.all(uids.map(post));

    const byProcess = await countByProcess(requests);
    const total = [...byProcess.values()].reduce((sum, count) => sum + count, 0);
    console.log(
      `count: one driver for each prompt over PostgreSQL and Redis, ${promptCount} prompts to ${sessionCount} sessions that 4 processes hold open, ${total} model requests (${[...byProcess.values()].join(" + ")})`,
    );
    expect(total).toBe(promptCount);
    expect(byProcess.size).toBeGreaterThan(1);
    for (let at = 0; at < sessionCount; at += 1)
      expect((await store.verify(`held-${at}`)).ok).toBe(true);
    expect(strays).toEqual([]);
  },
);
