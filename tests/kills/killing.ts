import { setTimeout as sleep } from "node:timers/promises";
import type { Deployment, DeployedNode } from "../kit/deployment/deployment.ts";
import { textOfDirective } from "../kit/deployment/directive.ts";
import { post } from "../kit/deployment/command.ts";
import { modelOf } from "../kit/deployment/paced-agent.ts";
import { RemoteViewer } from "../kit/deployment/remote-viewer.ts";
import type { Random } from "../kit/random.ts";
import { until } from "../kit/until.ts";

/** A session in the middle of a reply, and the viewer that shows it. */
interface Streaming {
  readonly session: string;
  readonly viewer: RemoteViewer;
}

/** A screen that stood still because its driver was killed. */
export interface Standstill {
  readonly session: string;
  /** From the kill until text of another driver was shown. */
  readonly ms: number;
}

const sessionsAtOnce = 3;

/** Kills drivers of a deployment in the middle of replies, one after the other, and measures its screens. */
export class Killing {
  readonly sessions: string[] = [];
  readonly faults: string[] = [];
  readonly #deployment: Deployment;
  readonly #random: Random;

  constructor(deployment: Deployment, random: Random) {
    this.#deployment = deployment;
    this.#random = random;
  }

  /** Begins some replies, kills one of their drivers, and starts it again when the screens go on. */
  async kill(): Promise<readonly Standstill[]> {
    using stack = new DisposableStack();
    const streaming = await Promise.all(
      Array.from({ length: sessionsAtOnce }, async () => {
        const begun = await this.#begin();
        stack.use(begun.viewer);
        return begun;
      }),
    );
    const [chosen] = streaming;
    if (chosen === undefined) return [];
    await until(() => shownText(chosen.viewer) > 40, `${chosen.session} streams`);
    await sleep(this.#random.next() * 800);
    const victim = this.#driverOf(chosen);
    if (victim === undefined) return []; // the reply has just ended
    const hit = streaming.filter((one) => this.#driverOf(one) === victim);
    const epochs = hit.map(({ viewer }) => viewer.state?.lanes[0]?.epoch ?? 0);
    const killedAt = performance.now();
    await victim.process.kill();
    const standstills = await Promise.all(
      hit.map(async ({ session, viewer }, at) => {
        const before = epochs[at] ?? 0;
        await until(() => isContinued(viewer, before), `${session} goes on`);
        this.faults.push(...viewer.checks.faults.map((fault) => `${session} saw ${fault}`));
        return { session, ms: viewer.changedAt - killedAt };
      }),
    );
    await victim.process.start();
    return standstills;
  }

  async #begin(): Promise<Streaming> {
    const { store, addresses } = this.#deployment;
    const session = `killed-${this.sessions.length}`;
    this.sessions.push(session);
    await store.create({ sessionId: session });
    const viewer = new RemoteViewer({ session, addresses, returns: "cursor" });
    await until(() => viewer.state !== undefined, `${session} is watched`);
    const text = textOfDirective({ key: session, mode: "plain", length: 500 });
    const command = { call: "send", key: session, text } as const;
    await post(command, { session, addresses, patienceMs: 10_000 });
    return { session, viewer };
  }

  #driverOf({ viewer }: Streaming): DeployedNode | undefined {
    const model = viewer.state?.lanes[0]?.model;
    return this.#deployment.workers.find(({ name }) => modelOf(name) === model);
  }
}

/** How many characters of a reply are shown. */
function shownText({ state }: RemoteViewer): number {
  const part = state?.lanes[0]?.draft.parts[0];
  return part?.state === "open" ? part.settled.length + part.tail.length : 0;
}

/** Whether text of a later attempt than this is shown, or the run is over. */
function isContinued(viewer: RemoteViewer, epoch: number): boolean {
  const { state } = viewer;
  if (state?.ended !== undefined) return true;
  return (state?.lanes[0]?.epoch ?? 0) > epoch && shownText(viewer) > 0;
}
