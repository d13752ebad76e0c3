import { setTimeout as sleep } from "node:timers/promises";
import { snapshot } from "@millrace/core/reading";
import { expect, it } from "vitest";
import { redisFaults } from "../../packages/stores/src/testing/redis-faults.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import { textOfDirective } from "../kit/deployment/directive.ts";
import { distribution } from "../kit/distribution.ts";
import { inParallel } from "../kit/in-parallel.ts";
import { patience } from "../kit/patience.ts";
import { Random } from "../kit/random.ts";
import { firstSeed as seed, runs } from "../kit/runs.ts";
import { until } from "../kit/until.ts";
import { Fleet } from "./kit/fleet.ts";
import { HttpViewer } from "./kit/http-viewer.ts";
import { createSession, prompt } from "./kit/person.ts";
import { faultsOfPrompt, faultsOfScreen } from "./kit/stored.ts";

const faultCount = runs(6, 200);
const sessions = 4;
const viewersOfEach = 3;
/** After a fault every viewer has to show all that is stored within this. */
const limitMs = 10_000;

const { "is stopped for longer than its clients wait": _, ...faults } = redisFaults({
  awayMs: 50,
  momentMs: 100,
  silentMs: 0,
});

it(
  "streams stay open while Redis is emptied, killed or cut off, and every screen shows what is stored",
  { timeout: patience },
  async () => {
    console.log(`SEED=${seed}`); // printed before it may fail
    const random = new Random(seed);
    await using redis = await startRedis();
    const space = { url: redis.url, prefix: "lost:" };
    const options = { nodes: 2, drive: true, chunkMs: 5, drainSeconds: 1, redis: space };
    await using fleet = await Fleet.start(options);
    using viewers = new DisposableStack();
    const names = Array.from({ length: sessions }, (_each, at) => `lost-${at}`);
    const watched = new Map<string, readonly HttpViewer[]>();
    for (const session of names) {
      await createSession(fleet.node(0).url, session);
      const own = Array.from({ length: viewersOfEach }, (_each, at) =>
        viewers.use(new HttpViewer({ session, url: () => fleet.node(at % 2).url })),
      );
      watched.set(session, own);
    }
    const all = [...watched.values()].flat();
    await until(() => all.every(({ connected }) => connected), "all watch");

    const convergedMs: number[] = [];
    const keys = new Map<string, string[]>(names.map((session) => [session, []]));
    const kinds = Object.entries(faults);
    const isAnswered = async (session: string): Promise<boolean> => {
      const runId = `run_${keys.get(session)?.at(-1)}`;
      const facts = await fleet.facts(session);
      return facts.some((fact) => fact.type === "run_finished" && fact.runId === runId);
    };
    for (let at = 0; at < faultCount; at += 1) {
      const post = async (session: string): Promise<void> => {
        const key = `prompt-${session}-${at}`.padEnd(20, "x");
        keys.get(session)?.push(key);
        const text = textOfDirective({ key, mode: "plain", length: 300 });
        await prompt(fleet.node(at % 2).url, session, key, text);
      };
      await inParallel(
        names.map((session) => () => post(session)),
        sessions,
      );
      await sleep(random.next() * 200); // anywhere in the replies
      const [, fault] = kinds[at % kinds.length] ?? never();
      await fault(redis);
      await inParallel(
        names.map((session) => () => until(() => isAnswered(session), `${session} is answered`)),
        sessions,
      );
      const endedAt = performance.now();
      for (const [session, own] of watched) {
        const { length } = await fleet.facts(session);
        const isShown = (): boolean => own.every(({ state }) => state?.head === length);
        await until(isShown, `${session} is shown`, { limitMs });
      }
      convergedMs.push(performance.now() - endedAt);
    }

    for (const [session, own] of watched) {
      const facts = await fleet.facts(session);
      expect((keys.get(session) ?? []).flatMap((key) => faultsOfPrompt(facts, key))).toEqual([]);
      const [first] = own;
      for (const viewer of own) {
        expect(faultsOfScreen(facts, viewer)).toEqual([]);
        expect([viewer.connections, viewer.ends]).toEqual([1, []]); // nobody was sent away
        expect(itemsOf(viewer)).toBe(itemsOf(first ?? never()));
      }
    }
    expect(fleet.strays).toEqual([]);
    console.log(
      `count: faults of Redis while streams are open (seed ${seed}), ${faultCount}, ${all.length} viewers, ${sessions * faultCount} prompts, after the ends of runs ${distribution(convergedMs)}`,
    );
  },
);

function itemsOf({ state }: HttpViewer): string {
  return state === undefined ? "" : JSON.stringify(snapshot(state).items);
}

function never(): never {
  throw new Error("there is none");
}
