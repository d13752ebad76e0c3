import { createInbox } from "@millrace/core";
import type { Fact } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { redisLog } from "@millrace/stores/redis";
import { judge } from "../../chaos/oracle.ts";
import type { SentCommand, Violation } from "../../chaos/oracle.ts";
import { post } from "../../kit/deployment/command.ts";
import type { Answer, Command } from "../../kit/deployment/command.ts";
import type { DeployedNode, Deployment } from "../../kit/deployment/deployment.ts";
import { textOfDirective } from "../../kit/deployment/directive.ts";
import type { Directive } from "../../kit/deployment/directive.ts";
import { isRunOver } from "../../kit/deployment/is-run-over.ts";
import { modelOf } from "../../kit/deployment/paced-agent.ts";
import { RemoteViewer } from "../../kit/deployment/remote-viewer.ts";
import { until } from "../../kit/until.ts";

/** A session of a deployment that is sent prompts and watched, and all that is needed to judge it. */
export class PromptedSession implements Disposable {
  readonly record: SessionRecord;
  readonly viewer: RemoteViewer;
  readonly #deployment: Deployment;
  readonly #sent: SentCommand[] = [];

  private constructor(deployment: Deployment, record: SessionRecord) {
    this.#deployment = deployment;
    this.record = record;
    const { addresses } = deployment;
    this.viewer = new RemoteViewer({ session: record.sessionId, addresses, returns: "cursor" });
  }

  static async create(deployment: Deployment, sessionId: string): Promise<PromptedSession> {
    return new PromptedSession(deployment, await deployment.store.create({ sessionId }));
  }

  /** Sends a prompt. Rejects if no web node took it. */
  async prompt(mode: Directive["mode"], length: number): Promise<void> {
    const { sessionId: session } = this.record;
    const { addresses } = this.#deployment;
    await this.#send(mode, length, (command) =>
      post(command, { session, addresses, patienceMs: 60_000 }),
    );
  }

  /** Stores a prompt and wakes no workflow, as a web node without a driver does. */
  async store(mode: Directive["mode"], length: number): Promise<void> {
    const { store, redis } = this.#deployment;
    await using log = redisLog({ url: redis.url });
    const inbox = createInbox({ uid: this.record.uid, store, log });
    await this.#send(mode, length, ({ text, key }) => inbox.send(text, { key }));
  }

  async #send(
    mode: Directive["mode"],
    length: number,
    send: (
      command: Command & { readonly text: string },
    ) => Promise<Pick<Answer, "accepted"> | undefined>,
  ): Promise<void> {
    const { sessionId: session } = this.record;
    const key = `${session}-${this.#sent.length}`;
    const command = { call: "send", key, text: textOfDirective({ key, mode, length }) } as const;
    const answer = await send(command);
    if (answer?.accepted !== true) throw new Error(`${key} was not taken`);
    this.#sent.push({ ...command, session, outcome: "accepted" });
  }

  async facts(): Promise<readonly Fact[]> {
    return await this.#deployment.store.read(this.record.uid);
  }

  /** Resolves when the run of the last prompt has ended, and the viewer shows it. */
  async ended(limitMs = 60_000): Promise<void> {
    const key = this.#sent.at(-1)?.key;
    const isOver = async (): Promise<boolean> => {
      const facts = await this.facts();
      const isStarted = facts.some((fact) => "runId" in fact && fact.runId === `run_${key}`);
      return isStarted && isRunOver(facts) && this.viewer.state?.head === facts.length;
    };
    await until(isOver, `the run of ${key} ends and is shown`, { limitMs, everyMs: 50 });
  }

  /** How many characters of a reply in progress are shown. */
  get shownText(): number {
    const part = this.viewer.state?.lanes[0]?.draft.parts[0];
    return part?.state === "open" ? part.settled.length + part.tail.length : 0;
  }

  /** The model of the reply in progress, by which its node is known. */
  get shownModel(): string | undefined {
    return this.viewer.state?.lanes[0]?.model;
  }

  /** The worker that writes the reply in progress. */
  get writer(): DeployedNode | undefined {
    const model = this.shownModel;
    return this.#deployment.workers.find(({ name }) => modelOf(name) === model);
  }

  async judge(): Promise<readonly Violation[]> {
    const { uid, sessionId } = this.record;
    const { store } = this.#deployment;
    const { state, checks } = this.viewer;
    return judge({
      uid,
      sessionId,
      facts: await this.facts(),
      sent: this.#sent,
      effects: this.#deployment.effects().filter(({ effectKey }) => effectKey.startsWith(uid)),
      viewers: [{ state, faults: checks.faults }],
      verified: (await store.verify(sessionId)).ok,
    });
  }

  [Symbol.dispose](): void {
    this.viewer[Symbol.dispose]();
  }
}
