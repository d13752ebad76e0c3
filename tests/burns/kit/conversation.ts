import { isDeepStrictEqual } from "node:util";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Session } from "@millrace/agent";
import { project } from "@millrace/core";
import { emptyState, replay } from "@millrace/core/reading";
import { sessionId } from "@millrace/core/writing";
import type { Fact, RunEvent, View } from "@millrace/core";
import type { EventLog, SessionRecord, SessionStore } from "@millrace/core/ports";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Gate } from "./gate.ts";
import type { Random } from "../../kit/random.ts";

/** One prompt: the replies to it, and the text of the last. */
interface Exchange {
  readonly replies: readonly ScriptedReply[];
  readonly answer: string;
}

/** What a conversation needs. */
export interface ConversationOptions {
  readonly id: string;
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly gate: Gate;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/**
 * One session from its opening to its last answer, and the facts that its agent reported as stored.
 */
export class Conversation {
  readonly record: SessionRecord;
  readonly session: Session;
  /** By their numbers: each fact as its agent reported it, the moment it was stored. */
  readonly reported: ReadonlyMap<number, Fact>;
  /** True once it is over and its viewers have shown all of it. */
  over = false;
  readonly #exchanges: readonly Exchange[];

  private constructor(
    options: Pick<Conversation, "record" | "session" | "reported">,
    exchanges: readonly Exchange[],
  ) {
    this.record = options.record;
    this.session = options.session;
    this.reported = options.reported;
    this.#exchanges = exchanges;
  }

  /** Opens a session, as often as it takes: it needs the log to subscribe to. */
  static async open(options: ConversationOptions): Promise<Conversation | undefined> {
    const { id, store, log, gate, random, signal } = options;
    const exchanges = Array.from({ length: 1 + random.below(3) }, (_, at) => exchange(random, at));
    const replies = exchanges.flatMap((one) => one.replies);
    const reported = new Map<number, Fact>();
    const report = (event: RunEvent): void => {
      if (!("n" in event)) return;
      if (reported.has(event.n)) throw new Error(`fact ${event.n} of ${id} was reported twice`);
      reported.set(event.n, event);
    };
    const chunk = Array.from({ length: 7 }, () => 1 + random.below(12));
    const model = scriptedModel(replies, {
      delayMs: 2 + random.below(8),
      chunk,
      clock: gate.clock,
    });
    const agent = defineAgent({ model, tools: [countTool(gate)], observers: [report] });
    while (!signal.aborted) {
      const session = await agent.open({ id, store, log }).catch(() => undefined);
      if (session === undefined) {
        await sleep(50);
        continue;
      }
      const record = await store.find(sessionId(id));
      if (record === undefined) throw new Error(`${id} is open and not stored`);
      return new Conversation({ record, session, reported }, exchanges);
    }
    return undefined;
  }

  /** Sends all prompts. Throws if an answer is not the one that the model gave. */
  async speak(): Promise<void> {
    for (const [at, { answer }] of this.#exchanges.entries()) {
      const result = await this.session.send(`prompt ${at}`).result;
      if (result.outcome !== "completed" || result.text !== answer)
        throw new Error(`${this.record.sessionId}: ${JSON.stringify(result)} is not "${answer}"`);
    }
  }

  /** What a screen shows that has all facts and all that the lanes' writers have written. */
  view(): View {
    const { status, stopping, released, lastRun, items, earlier } = this.session;
    const { approvals, queue, error, compacting, usage } = this.session;
    const own = { status, stopping, released, lastRun, items, earlier };
    return { ...own, approvals, queue, error, compacting, usage };
  }

  /** Compares the store with what was reported. Returns what differs. */
  async compare(store: SessionStore): Promise<string | undefined> {
    const { uid, sessionId: id } = this.record;
    const before = this.reported.size;
    const facts = await store.read(uid);
    if (facts.some(({ n }, at) => n !== at + 1)) return `the facts of ${id} are not dense`;
    if (facts.length < before) return `${id} has ${facts.length} facts of ${before}`;
    for (const [n, fact] of this.reported) {
      const stored = facts[n - 1];
      if (stored !== undefined && !isDeepStrictEqual(stored, fact))
        return `${id}: fact ${n} changed`;
    }
    replay(emptyState(uid, id), facts);
    return undefined;
  }

  /** What a screen shows of the store alone. */
  async stored(store: SessionStore): Promise<View> {
    const { uid, sessionId: id } = this.record;
    return project(replay(emptyState(uid, id), await store.read(uid)));
  }
}

/** Sometimes a plain answer, sometimes one or two calls of a tool before it. */
function exchange(random: Random, at: number): Exchange {
  const answer = `Answer ${at}: ${prose(random, 20 + random.below(400))}`;
  const calls = Array.from({ length: random.below(3) }, () =>
    call("count", { to: 2 + random.below(8) }),
  );
  const asking = [say(prose(random, random.below(120))), ...calls];
  return { replies: calls.length === 0 ? [[say(answer)]] : [asking, [say(answer)]], answer };
}

const syllables = ["mill ", "race ", "wheel", " ", "über ", "水", "🌊 ", "stone\n", "and "];

function prose(random: Random, length: number): string {
  let text = "";
  while (text.length < length) text += random.pick(syllables);
  return text;
}

/** Streams its output in its own lane. */
function countTool(gate: Gate) {
  return defineTool({
    name: "count",
    input: z.object({ to: z.number() }),
    effect: "pure",
    run: async ({ to }, { append, progress }) => {
      for (let at = 1; at <= to; at += 1) {
        append(`${at} `);
        progress({ message: `at ${at}` });
        await gate.clock.sleep(8);
      }
      return { counted: to };
    },
  });
}
