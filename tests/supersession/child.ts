/**
 * A process that writes. As the first writer it opens a session, sends to it, and ends at the place in
 * its plan, by SIGKILL or SIGSTOP. As the second it resumes the sessions that its input names, one at a
 * time.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { defineAgent } from "@millrace/agent";
import type { Session } from "@millrace/agent";
import { createModelStream } from "@millrace/core/model";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { parseJsonText } from "@millrace/core/wire";
import { commitOf, partId } from "@millrace/core/writing";
import type { Delta, Model } from "@millrace/core";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { piecesOf } from "./kit/plan.ts";
import type { Plan } from "./kit/plan.ts";

// The test that starts it wrote it.
const plan = parseJsonText(process.argv[2] ?? "") as Plan;
const commands = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const progress = { appended: 0, emitted: 0, stored: 0, awake: false, fenced: false, over: false };

/** Written at once: the process may be gone at the next statement. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function hear(): Promise<string> {
  const { value, done } = await commands.next();
  return done === true ? "" : value;
}

/** A place at which it may wait or end. A stopped process goes on from here. */
async function at(place: string): Promise<void> {
  if (place === plan.pauseAt) {
    say("paused");
    await hear();
  }
  if (place !== plan.endAt) return;
  say(`ends at ${place}`);
  progress.awake = true;
  process.kill(process.pid, plan.how);
}

/** What became of what it tried after it was woken. */
function tried(what: string, { outcome }: { readonly outcome: string }): void {
  if (progress.awake) say(`tried ${what}: ${outcome}`);
}

async function watched<T extends { readonly outcome: string }>(
  what: string,
  call: () => Promise<T>,
): Promise<T> {
  await at(`${what} held`);
  const sent = call();
  sent.catch(() => undefined); // awaited below
  if (plan.endAt === `${what} sent`) {
    await turn();
    await turn();
    await at(`${what} sent`);
  }
  const answer = await sent;
  tried(what.replace(/ \d+$/, ""), answer);
  return answer;
}

function watchedStore(store: SessionStore): SessionStore {
  return {
    ...store,
    claim: async (...args) => {
      const answer = await store.claim(...args);
      tried("claim", answer);
      return answer;
    },
    append: async (...args) => {
      const answer = await store.append(...args);
      tried("append", answer);
      // A turn opens the lane of its reply together with its first facts.
      if (args[1].opens !== undefined && answer.outcome === "appended") await at("batch 0");
      return answer;
    },
    open: async (...args) => {
      const answer = await store.open(...args);
      tried("open", answer);
      await at("batch 0");
      return answer;
    },
    commit: async (...args) => {
      // If there were fewer batches than last time it ends here at the latest.
      if (plan.endAt?.startsWith("batch") === true && !progress.awake) await at(plan.endAt);
      const answer = await watched("commit", () => store.commit(...args));
      progress.over = true;
      await at("committed");
      return answer;
    },
  };
}

function watchedLog(log: EventLog): EventLog {
  return {
    ...log,
    append: async (uid, batch) => {
      const number = progress.appended + 1;
      const deltas = batch.events.filter(({ type }) => type === "content_delta").length;
      // A restated lane has all that its model has written.
      const after = batch.first === 0 ? progress.emitted : progress.stored + deltas;
      const answer = await watched(`batch ${number}`, () => log.append(uid, batch));
      progress.appended = number;
      progress.stored = after;
      progress.fenced ||= answer.outcome === "refused";
      await at(`batch ${number}`);
      return answer;
    },
  };
}

/** A model whose every delta is a batch of its own. */
function pacedModel(): Model {
  const id = "paced/model";
  const text = partId("p1");
  const until = async (isSo: () => boolean): Promise<void> => {
    for (let left = 2_000; left > 0 && !isSo() && !progress.fenced; left -= 1) await sleep(5);
  };
  return {
    id,
    stream: ({ signal }) =>
      createModelStream({
        model: id,
        signal,
        produce: async ({ emit, draft }) => {
          signal?.addEventListener("abort", () => (progress.over = true), { once: true });
          const paced = async (delta: Delta | undefined): Promise<void> => {
            if (delta === undefined) return;
            emit(delta);
            progress.emitted += 1;
            await until(() => progress.stored >= progress.emitted);
          };
          await until(() => progress.appended > 0);
          await paced({ op: "begin_part", partId: text, kind: "text" });
          for (const chunk of piecesOf(plan.name))
            await paced({ op: "append_text", partId: text, chunk });
          await paced(commitOf(draft(), text));
          return { stop: "end", evidence: "said all" };
        },
      }),
  };
}

const store = postgresStore({ url: plan.postgres });
const log = redisLog({ url: plan.redis, prefix: plan.prefix });
const ports = { store: watchedStore(store), log: watchedLog(log) };
const agent = defineAgent({ model: pacedModel() });

/** How the last run of a session ended whose end was stored together with its reply. */
function endOf({ lastRun, transcript }: Session): { outcome?: string; text: string } {
  const parts = transcript.at(-1)?.parts ?? [];
  const text = parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
  return { ...(lastRun === undefined ? {} : { outcome: lastRun.outcome }), text };
}

say("ready");
for (let line = await hear(); line !== ""; line = await hear()) {
  const [what, id = ""] = line.split(" ");
  Object.assign(progress, { appended: 0, emitted: 0, stored: 0 });
  const session = await agent.open({ id, ...ports });
  if (what === "begin") {
    say("opened");
    await hear();
  }
  const run = what === "begin" ? session.send("hello") : session.run;
  const result = (await run?.result) ?? endOf(session);
  // A superseded process reads the run's end before its own attempt is over.
  for (let left = 400; progress.awake && !progress.over && left > 0; left -= 1) await sleep(5);
  say(`done ${result?.outcome} after ${progress.appended}: ${result?.text}`);
  await session.close();
}
await log.close();
await store.close();
process.stdin.destroy();
say("closed");
