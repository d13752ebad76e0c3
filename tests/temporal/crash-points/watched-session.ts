import { createClient } from "@millrace/client";
import type { Client, ClientSession, SessionChange } from "@millrace/client";
import { executionPids } from "@millrace/agent/process";
import { snapshot } from "@millrace/core/reading";
import type { Fact, SessionState } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { judge } from "../../chaos/oracle.ts";
import type { SentCommand, Violation } from "../../chaos/oracle.ts";
import type { DeployedNode } from "../../kit/deployment/deployment.ts";
import { textOfDirective } from "../../kit/deployment/directive.ts";
import type { Directive } from "../../kit/deployment/directive.ts";
import type { Effect } from "../../kit/deployment/paced-agent.ts";
import { modelOf } from "../../kit/deployment/paced-agent.ts";
import { ViewerChecks } from "../../kit/deployment/viewer-checks.ts";
import { until } from "../../kit/until.ts";
import type { Lane } from "./lane.ts";

/** All that a run left. */
export interface Left {
  /** What was stored before the crash. */
  readonly before: readonly Fact[];
  readonly facts: readonly Fact[];
  readonly effects: readonly Effect[];
  /** Processes of its tools that live. */
  readonly children: readonly number[];
}

/** A session with one prompt, sent and watched by the real client. */
export class WatchedSession implements Disposable {
  readonly record: SessionRecord;
  readonly #lane: Lane;
  readonly #client: Client;
  readonly #session: ClientSession;
  readonly #checks = new ViewerChecks();
  readonly #sent: SentCommand[] = [];
  #state: SessionState | undefined;

  private constructor(lane: Lane, record: SessionRecord) {
    this.#lane = lane;
    this.record = record;
    this.#client = createClient({ url: lane.url, token: "ann" });
    this.#session = this.#client.session(record.sessionId);
    this.#session.observe((change) => this.#take(change));
    this.#session.subscribe(() => undefined);
  }

  static async open(lane: Lane, sessionId: string): Promise<WatchedSession> {
    const { store } = lane.deployment;
    return new WatchedSession(lane, await store.create({ sessionId, owner: "ann" }));
  }

  /** Posts the prompt, and allows what is asked. Resolves when the server has taken it. */
  async send(asked: Pick<Directive, "mode" | "length">): Promise<void> {
    const { sessionId: session } = this.record;
    const key = `${session}-prompt`.padEnd(16, "-");
    const text = textOfDirective({ key, ...asked });
    const run = this.#session.send(text, { key, ask: () => "allow" });
    const { accepted } = await run.accepted;
    this.#sent.push({
      call: "send",
      key,
      text,
      session,
      outcome: accepted ? "accepted" : "refused",
    });
  }

  /** Stops the run. */
  async stop(): Promise<void> {
    await this.#session.abort().accepted;
  }

  /** The worker whose reply the client shows while it is written. */
  get writer(): DeployedNode | undefined {
    const model = this.#state?.lanes[0]?.model;
    const isBegun = (this.#state?.lanes[0]?.draft.parts.length ?? 0) > 0;
    const { workers } = this.#lane.deployment;
    return isBegun ? workers.find(({ name }) => modelOf(name) === model) : undefined;
  }

  /** The epoch of the reply that is written. */
  get epoch(): number {
    return this.#state?.lanes[0]?.epoch ?? 0;
  }

  async facts(): Promise<readonly Fact[]> {
    return await this.#lane.deployment.store.read(this.record.uid);
  }

  async has(type: Fact["type"]): Promise<boolean> {
    return (await this.facts().catch(() => [])).some((fact) => fact.type === type);
  }

  /** Resolves when the run has ended and the client shows it. */
  async ended(limitMs: number): Promise<void> {
    const isOver = async (): Promise<boolean> => {
      const facts = await this.facts().catch(() => []);
      return facts.at(-1)?.type === "run_finished" && this.#state?.head === facts.length;
    };
    const { sessionId } = this.record;
    await until(isOver, `the run of ${sessionId} ends and is shown`, { limitMs, everyMs: 50 });
  }

  async left(before: readonly Fact[]): Promise<Left> {
    const { uid } = this.record;
    const facts = await this.facts();
    const effects = this.#lane.deployment
      .effects()
      .filter(({ effectKey }) => effectKey.startsWith(uid));
    const started = facts.filter((fact) => fact.type === "tool_execution_started");
    const children = await Promise.all(
      started.map(({ itemId }) => executionPids(`${uid}_${itemId}`)),
    );
    return { before, facts, effects, children: children.flat() };
  }

  /** What the oracle of chaos finds. */
  async judge({ facts, effects }: Left): Promise<readonly Violation[]> {
    const { uid, sessionId } = this.record;
    const { ok: verified } = await this.#lane.deployment.store.verify(sessionId);
    const { faults } = this.#checks;
    const viewers = [{ state: this.#state, faults }];
    return judge({ uid, sessionId, facts, sent: this.#sent, effects, viewers, verified });
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #take({ state, messages }: SessionChange): void {
    for (const message of messages.length === 0 ? [snapshot(state)] : messages)
      this.#checks.take(message);
    this.#state = state;
  }
}
