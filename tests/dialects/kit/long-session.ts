import { callsToRemember } from "@millrace/agent/loop";
import type { Part, SessionUid } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import { inputId, noUsage, partId, sessionId } from "@millrace/core/writing";
import type { FactBody } from "@millrace/core/writing";
import { defaultLimits } from "../../../packages/agent/src/definition/limits.ts";
import { SessionJournal } from "../../../packages/agent/src/session/journal.ts";
import { begin, end, placeOf, reply } from "../../../packages/core/src/testing/inbox-fixture.ts";

/** Facts of a turn besides its messages: a session of ten turns has more than any one read. */
const others = 30;

export interface LongSessionOptions {
  /** The turns after the checkpoint: as many in a short session as in a long one. */
  readonly afterCheckpoint: number;
  readonly answerLength?: number;
}

/** A session of so many turns, in a store that counts the facts which are read of it. */
export class LongSession {
  readonly #store = memorySessionStore();
  readonly #options: LongSessionOptions;
  #factsRead = 0;
  /** How often its checkpoint was read. */
  checkpointsRead = 0;
  /** As an application passes it in. */
  readonly store: SessionStore;

  private constructor(options: LongSessionOptions) {
    this.#options = options;
    const read: SessionStore["read"] = async (...asked) => {
      const facts = await this.#store.read(...asked);
      this.#factsRead += facts.length;
      return facts;
    };
    const checkpoint: SessionStore["checkpoint"] = async (uid) => {
      this.checkpointsRead += 1;
      return await this.#store.checkpoint?.(uid);
    };
    this.store = { ...this.#store, read, checkpoint };
  }

  /** Stored by turns, since an agent would send each of them to its model with all before it. */
  static async of(turns: number, options: LongSessionOptions): Promise<LongSession> {
    const session = new LongSession(options);
    const store = session.#store;
    const { uid } = await store.create({ sessionId: sessionId("s"), owner: "ann" });
    await store.claim(uid, { from: 0 });
    for (let turn = 1; turn <= turns; turn += 1) {
      await session.#turn(uid, turn);
      if (turns - turn === options.afterCheckpoint) await session.keepCheckpoint();
    }
    return session;
  }

  /** As the driver of an agent without tools keeps one after a run. */
  async keepCheckpoint(): Promise<void> {
    const store = this.#store;
    const { uid, sessionId: id } = (await store.find(sessionId("s"))) ?? {};
    if (uid === undefined || id === undefined) throw new Error("there is no session");
    const remember = callsToRemember({ limits: defaultLimits, tools: {} });
    const journal = await SessionJournal.open({
      store,
      log: memoryEventLog(),
      uid,
      sessionId: id,
      onFact: () => undefined,
      remember,
    });
    await store.keepCheckpoint?.(uid, journal.checkpoint());
  }

  /** How many facts this reads. */
  async factsReadBy(work: () => Promise<unknown>): Promise<number> {
    const before = this.#factsRead;
    await work();
    return this.#factsRead - before;
  }

  async #turn(uid: SessionUid, turn: number): Promise<void> {
    const store = this.#store;
    const input = inputId(`input_key${turn}`);
    const { runId, turnId } = placeOf(input, 1);
    const textParts = (text: string): readonly Part[] => [
      { kind: "text", id: partId("part_1"), text },
    ];
    const asked = textParts(`question ${turn}`);
    const prompt = { kind: "prompt", parts: asked } as const;
    await store.accept(uid, input, { type: "input_accepted", inputId: input, input: prompt });
    const { answerLength = 10 } = this.#options;
    const said = textParts("a".repeat(answerLength));
    const withParts = (body: FactBody): FactBody => {
      if (body.type !== "item_committed") return body;
      const { id, author } = body.item;
      return {
        ...body,
        item: { id, author, stop: "end", parts: author === "user" ? asked : said },
      };
    };
    const used: FactBody = { type: "usage_reported", runId, turnId, epoch: 1, usage: noUsage };
    const bodies = [
      ...begin(input),
      ...Array.from({ length: others }, () => used),
      reply(input, []),
      { type: "turn_finished", runId, turnId, stop: "end", closes: 1 } as const,
      end(input),
    ].map(withParts);
    const head = await store.head(uid);
    const { outcome } = await store.append(uid, { incarnation: 1, head, bodies });
    if (outcome !== "appended") throw new Error(`the turn was ${outcome}`);
  }
}
