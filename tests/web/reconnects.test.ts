import { snapshot } from "@millrace/core/reading";
import { expect, it } from "vitest";
import { textOfDirective } from "../kit/deployment/directive.ts";
import { isRunOver } from "../kit/deployment/is-run-over.ts";
import { inParallel } from "../kit/in-parallel.ts";
import { patience } from "../kit/patience.ts";
import { Random } from "../kit/random.ts";
import { firstSeed as seed, runs } from "../kit/runs.ts";
import { until } from "../kit/until.ts";
import { openFaultProxy } from "./kit/fault-proxy.ts";
import { Fleet } from "./kit/fleet.ts";
import { HttpViewer } from "./kit/http-viewer.ts";
import { createSession, prompt } from "./kit/person.ts";
import { faultsOfPrompt, faultsOfScreen } from "./kit/stored.ts";

const goal = runs(300, 50_000, 120);
const sessions = 6;
const viewersOfEach = 3;
/** Prompts of one session: then another begins, so that no session grows without end. */
const promptsOfEach = 8;
/** Most answers are cut within a few events, some within the first bytes, and some after a whole reply. */
const cutBytes = 6_000;

/** Viewers of one session that are cut and come back, beside one that stays. Resolves to the connections. */
async function watchOne(
  session: string,
  fleet: Fleet,
  urls: { readonly steady: string; readonly faulty: string },
  isOver: (connections: number) => boolean,
): Promise<number> {
  await createSession(urls.steady, session);
  using stack = new DisposableStack();
  const steady = stack.use(new HttpViewer({ session, url: () => urls.steady }));
  const cut = Array.from({ length: viewersOfEach }, () =>
    stack.use(new HttpViewer({ session, url: () => urls.faulty, pauseMs: 60 })),
  );
  const connections = (): number => cut.reduce((sum, viewer) => sum + viewer.connections, 0);
  const keys: string[] = [];
  do {
    const key = `prompt-${session}-${keys.length}`.padEnd(20, "x");
    keys.push(key);
    await prompt(urls.steady, session, key, textOfDirective({ key, mode: "plain", length: 300 }));
    const isShown = (): boolean => steady.state?.ended?.runId === `run_${key}`;
    await until(isShown, `${key} is answered`);
  } while (keys.length < promptsOfEach && !isOver(connections()));
  await until(async () => isRunOver(await fleet.facts(session)), "the run ends");
  const facts = await fleet.facts(session);
  const all = [steady, ...cut];
  await until(() => all.every(({ state }) => state?.head === facts.length), "all are at the head");
  expect(keys.flatMap((key) => faultsOfPrompt(facts, key))).toEqual([]);
  const stateOf = ({ state }: HttpViewer): string =>
    state === undefined ? "" : JSON.stringify(snapshot(state));
  for (const viewer of all) {
    expect(faultsOfScreen(facts, viewer)).toEqual([]);
    expect(stateOf(viewer)).toBe(stateOf(steady));
    expect(viewer.snapshots).toBe(1); // at its first join: a cursor is answered with what comes after it
  }
  return connections();
}

it(
  "viewers that are cut at random bytes come back with their cursor to an equal state, and get nothing twice",
  { timeout: patience * 2 },
  async () => {
    console.log(`SEED=${seed}`); // printed before it may fail
    const random = new Random(seed);
    await using fleet = await Fleet.start({ nodes: 2, drive: true, chunkMs: 8, drainSeconds: 1 });
    let requests = 0;
    await using proxy = await openFaultProxy({
      to: () => fleet.node(requests++ % 2).url,
      decide: () => 1 + Math.floor(random.next() ** 2 * cutBytes),
    });
    const urls = { steady: fleet.node(0).url, faulty: proxy.url };
    let [reconnects, begun] = [0, 0];
    const work = async (): Promise<void> => {
      while (reconnects < goal) {
        const share = (goal - reconnects) / sessions;
        begun += 1;
        const made = await watchOne(
          `cut-off-${begun}`,
          fleet,
          urls,
          (own) => own > share + viewersOfEach,
        );
        reconnects += made - viewersOfEach;
      }
    };
    await inParallel(
      Array.from({ length: sessions }, () => work),
      sessions,
    );

    expect(reconnects).toBeGreaterThanOrEqual(goal);
    expect(fleet.strays).toEqual([]);
    console.log(
      `count: reconnects with a cursor at random cuts (seed ${seed}), ${reconnects}, ${begun} sessions, equal states, 0 twice`,
    );
  },
);
