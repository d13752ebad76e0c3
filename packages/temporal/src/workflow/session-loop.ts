import {
  advance,
  decide,
  doingNothing,
  emptyStanding,
  settingsOfBrief,
  standingOfBrief,
} from "@millrace/agent/loop";
import type {
  Action,
  BriefSettings,
  BriefTools,
  Doing,
  LoopState,
  Outline,
  ReplyOutline,
  Standing,
} from "@millrace/agent/loop";
import type { Stepped, StepMemory } from "@millrace/agent/engine";
import type { ItemId } from "@millrace/core";

/** The last reply of a session: how it ended, its size and its calls. Its content is in the store. */
export interface LastReply extends ReplyOutline {
  readonly itemId: ItemId;
}

/** Repeats are found where a step records, so one call is kept: too few to see any. */
const remembered = 1;

/** What a workflow knows of its session: outlines and numbers, and nothing of its content. */
export class SessionLoop {
  #standing: Standing = emptyStanding;
  #settings: BriefSettings | undefined;
  /** Of the calls that are open. */
  #tools: BriefTools = {};
  #memory: StepMemory = {};
  /** When the failed attempt is tried again, by the workflow's clock. */
  #retryAt: number | undefined;
  /** How far the store's clock is ahead of the workflow's. */
  #ahead = 0;
  #head = 0;
  #heard = 0;
  #generation = 0;
  #lastReply: LastReply | undefined;
  readonly #now: () => number;
  reply = false;
  compaction = false;
  readonly calls: Set<ItemId> = new Set();

  /** `now` is the workflow's clock: the same in every replay. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get head(): number {
    return this.#head;
  }

  get standing(): Standing {
    return this.#standing;
  }

  get lastReply(): LastReply | undefined {
    return this.#lastReply;
  }

  /** The task queue of the workers that have the tool. Undefined: every worker. */
  queueOf(tool: string): string | undefined {
    return Object.hasOwn(this.#tools, tool) ? this.#tools[tool]?.queue : undefined;
  }

  /**
   * Whether questions are known by their ids. False while one is open that was taken in by its hash, from a worker of
   * an older version: all about it has to come by its hash then.
   */
  get namesQuestions(): boolean {
    const calls = this.#standing.run?.turn?.reply?.calls ?? [];
    return calls.every(({ approval }) => !approval || approval.hash === approval.approvalId);
  }

  /** The highest generation that was given out. */
  get given(): number {
    return this.#generation;
  }

  /** A signal came: there are facts up to this number. It may be wrong, or lost. */
  noteHead(n: number): void {
    if (Number.isSafeInteger(n)) this.#heard = Math.max(this.#heard, n);
  }

  /** Whether facts were announced that this workflow has not read, and no step under way brings them. */
  get mustLook(): boolean {
    return this.#heard > this.#head && !this.reply && !this.compaction;
  }

  get isBusy(): boolean {
    return this.reply || this.compaction || this.calls.size > 0;
  }

  /** Whether the workflow may be continued as new: what it knows is in the store. */
  get isResting(): boolean {
    return !this.isBusy && this.#memory.failed === undefined;
  }

  /** Gives out generations, one for each item that a step will write. */
  giveOut(count: number): number {
    const first = this.#generation + 1;
    this.#generation += count;
    return first;
  }

  take(answer: Stepped): void {
    const { head, outlines, standing, tools = {}, memory, now } = answer;
    const { generation = 0, settings } = answer;
    this.#settings = settings ?? this.#settings;
    this.#ahead = now - this.#now();
    this.#generation = Math.max(this.#generation, generation);
    if (head < this.#head) return; // a step that began earlier ended later
    if (standing !== undefined) this.#standing = standingOfBrief(standing);
    for (const fact of outlines ?? []) {
      if (fact.n <= this.#head) continue;
      this.#standing = advance(this.#standing, fact, remembered);
      this.#lastReply = replyIn(fact) ?? this.#lastReply;
    }
    this.#head = head;
    this.#memory = memory;
    this.#tools = tools;
    const retryInMs = memory.failed?.retryInMs;
    this.#retryAt = retryInMs === undefined ? undefined : now + retryInMs;
  }

  /** A look has read all that the store had: a number above that was wrong. */
  looked(): void {
    this.#heard = Math.min(this.#heard, this.#head);
  }

  decide(): Action {
    if (this.#settings === undefined) return { do: "wait" };
    return decide(this.#state(settingsOfBrief(this.#settings, this.#tools, this.#standing)));
  }

  /** The milliseconds until a time by the store's clock. */
  msUntil(time: number): number {
    return Math.max(0, time - this.#ahead - this.#now());
  }

  #state(settings: LoopState["settings"]): LoopState {
    const now = this.#now() + this.#ahead;
    return { standing: this.#standing, settings, doing: this.#doing(), now };
  }

  #doing(): Doing {
    const { verdicts = [], answers = [], output = "valid", failed } = this.#memory;
    return {
      ...doingNothing,
      reply: this.reply,
      compaction: this.compaction,
      calls: this.calls,
      // The worker that does it hears of a stop by itself.
      interrupted: this.isBusy,
      verdicts: new Map(verdicts),
      answers: new Map(answers),
      output,
      failed: failed === undefined ? undefined : { ...failed, retryAt: this.#retryAt },
    };
  }
}

function replyIn(fact: Outline): LastReply | undefined {
  if (fact.type !== "item_committed" || fact.reply === undefined) return undefined;
  return { ...fact.reply, itemId: fact.itemId };
}
