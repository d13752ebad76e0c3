import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { textOfDirective } from "../kit/deployment/directive.ts";
import { isRunOver } from "../kit/deployment/is-run-over.ts";
import { distribution, percentile } from "../kit/distribution.ts";
import { inParallel } from "../kit/in-parallel.ts";
import { patience } from "../kit/patience.ts";
import { runs } from "../kit/runs.ts";
import { until } from "../kit/until.ts";
import { openBalancer } from "./kit/balancer.ts";
import { Fleet } from "./kit/fleet.ts";
import { HttpViewer } from "./kit/http-viewer.ts";
import { createSession, prompt } from "./kit/person.ts";
import { faultsOfPrompt, faultsOfScreen } from "./kit/stored.ts";

const sessions = runs(8, 200);
/** The pause of a model between pieces: two hundred together write 2,000 in a second. */
const chunkMs = runs(25, 100);
/** A byte is due at least so often while a session streams, also through a change of its node. */
const silentMs = 3_000;
/** Replies of these lengths: most end while a node drains, and the last are handed over in their middle. */
const lengths = [150, 250, 400, 600] as const;

/** A person who asks again as soon as the reply is there. */
class Asking {
  readonly session: string;
  readonly keys: string[] = [];
  readonly viewer: HttpViewer;
  /** How long the viewer had no byte, until the last reply was there. */
  silences: readonly number[] = [];
  readonly #url: string;

  constructor(session: string, url: string) {
    this.session = session;
    this.#url = url;
    this.viewer = new HttpViewer({ session, url: () => url });
  }

  /** Asks until it is to end, and then waits for the last reply. */
  async run(at: number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const key = `prompt-${this.session}-${this.keys.length}`;
      this.keys.push(key);
      const length = lengths[(at + this.keys.length) % lengths.length] ?? 0;
      await prompt(this.#url, this.session, key, textOfDirective({ key, mode: "plain", length }));
      const isShown = (): boolean => this.viewer.state?.ended?.runId === `run_${key}`;
      await until(isShown, `${key} is answered`, { limitMs: patience, everyMs: 30 });
    }
    this.silences = [...this.viewer.silences];
  }
}

it(
  "a deployment that is rolled under streaming sessions loses nothing and doubles nothing",
  { timeout: patience * 3 },
  async () => {
    await using fleet = await Fleet.start({ nodes: 3, drive: true, chunkMs, drainSeconds: 3 });
    await using balancer = await openBalancer(fleet.nodes.map(({ url }) => url));
    using stack = new DisposableStack();
    const asking: Asking[] = [];
    for (let at = 0; at < sessions; at += 1) {
      const session = `rolled-over-${at}`;
      await createSession(balancer.url, session);
      const one = new Asking(session, balancer.url);
      stack.use(one.viewer);
      asking.push(one);
    }
    let isRolled = false;
    const asked = inParallel(
      asking.map((one, at) => () => one.run(at, () => isRolled)),
      sessions,
    );
    const hasBegun = ({ viewer: { state } }: Asking): boolean => (state?.items.length ?? 0) > 0;
    await until(() => asking.every(hasBegun), "all have begun", { limitMs: patience, everyMs: 30 });
    for (const { viewer } of asking) viewer.measure();
    const rolls: number[] = [];
    for (const { process } of fleet.nodes) {
      const begun = performance.now();
      await process.terminate();
      await process.start();
      rolls.push(performance.now() - begun);
      await sleep(300); // until the balancer has found it
    }
    isRolled = true;
    await asked;

    let prompts = 0;
    for (const { session, keys, viewer } of asking) {
      await until(async () => isRunOver(await fleet.facts(session)), "the run ends");
      const facts = await fleet.facts(session);
      await until(() => viewer.state?.head === facts.length, "the viewer is at the head");
      expect(keys.flatMap((key) => faultsOfPrompt(facts, key))).toEqual([]);
      expect(faultsOfScreen(facts, viewer)).toEqual([]);
      expect(viewer.ends).toContain("drain");
      expect(viewer.snapshots).toBe(1); // at its first join: it comes back to where it was
      prompts += keys.length;
    }
    expect(fleet.strays).toEqual([]);
    const silences = asking.flatMap((one) => one.silences);
    const longest = asking.map((one) => percentile(one.silences, 1));
    const drains = asking.reduce((sum, { viewer }) => sum + viewer.ends.length, 0);
    console.log(`a node is rolled in ${distribution(rolls)}; streams that were drained: ${drains}`);
    console.log(
      `without a byte: ${distribution(silences)}; longest of each: ${distribution(longest)}`,
    );
    console.log(
      `count: 3 nodes rolled under ${sessions} sessions, ${prompts} prompts, 0 lost or doubled, p99 of silence ${percentile(silences, 0.99)} ms`,
    );
    expect(Math.max(...longest)).toBeLessThanOrEqual(silentMs);
  },
);
