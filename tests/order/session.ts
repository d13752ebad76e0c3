import type { Fact, Item, SessionId, SessionUid } from "@millrace/core";
import type { Batch, Epoch, SessionStore } from "@millrace/core/ports";
import type { AppendOutcome, Nudge } from "@millrace/core/store-kit";
import { CheckedTail, markFact, markOf } from "./checked-tail.ts";
import type { Engines, Node } from "./engines.ts";
import type { Rule, Setting } from "./setting.ts";
import { Truths } from "./truth.ts";
import { promise } from "./violation.ts";

/** What an attempt has written, for checks of what readers show of it. */
export interface Author {
  readonly epoch: Epoch;
  readonly itemId: string;
  /** The last fact that it knew. */
  readonly head: number;
  /** The text as of each of its numbers. */
  readonly texts: readonly string[];
}

/**
 * One session in real stores and logs. Stored facts are read back after every step that may have
 * stored something, and checked against the promises, whichever actor wrote them.
 */
export class Session {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly setting: Setting;
  readonly truths = new Truths();
  readonly authors = new Map<Epoch, Author>();
  /** The highest epoch that the store let open, by lane. */
  readonly opened = new Map<number, Epoch>();
  readonly #engines: Engines;
  readonly #nodes: readonly Node[];
  readonly #nudged: AsyncIterator<Nudge, unknown>;
  readonly #tails = new Set<CheckedTail>();
  /** The last batch of each lane that any writer sent. */
  readonly #lastSent = new Map<number, { readonly epoch: Epoch; readonly last: number }>();
  /** The nodes through which something was sent that has perhaps not arrived. */
  readonly #sentThrough = new Set<Node>();
  #nudges = 0;
  #marks = 0;
  #written = false;

  private constructor(
    setting: Setting,
    engines: Engines,
    at: {
      readonly uid: SessionUid;
      readonly sessionId: SessionId;
      readonly nudges: AsyncIterable<Nudge>;
    },
  ) {
    const written = (): void => {
      this.#written = true;
    };
    this.setting = setting;
    this.uid = at.uid;
    this.sessionId = at.sessionId;
    this.#engines = engines;
    this.#nodes = engines.nodes.map(({ store, log }) => ({ store: noticing(store, written), log }));
    this.#nudged = at.nudges[Symbol.asyncIterator]();
  }

  static async open(setting: Setting, engines: Engines): Promise<Session> {
    const { store, log } = firstOf(engines.nodes);
    const { uid, sessionId } = await store.create({ sessionId: engines.nameSession() });
    return new Session(setting, engines, { uid, sessionId, nudges: await log.nudges(uid) });
  }

  async close(): Promise<void> {
    for (const tail of this.#tails) await tail.close();
    await this.#nudged.return?.();
  }

  get head(): number {
    return this.truths.facts.length;
  }

  /** The process of an actor: those with consecutive numbers are in different processes. */
  node(at: number): Node {
    return this.#nodes[at % this.#nodes.length] ?? firstOf(this.#nodes);
  }

  keeps(rule: Rule): boolean {
    return this.setting.without !== rule;
  }

  /** Receives what is announced from now on. */
  async subscribe({ log }: Node): Promise<CheckedTail> {
    const tail = new CheckedTail(await log.tail(this.uid));
    this.#tails.add(tail);
    return tail;
  }

  async unsubscribe(tail: CheckedTail): Promise<void> {
    this.#tails.delete(tail);
    await tail.close();
  }

  /** Announces facts that have been stored. */
  async announce(facts: readonly Fact[], node: Node): Promise<void> {
    if (facts.length === 0) return;
    this.#sentThrough.add(node);
    const announced = facts.map((fact) => {
      for (const tail of this.#tails) tail.expect({ message: fact, sure: true });
      return node.log.announce(this.uid, fact);
    });
    await Promise.all(announced);
  }

  async send(batch: Batch, node: Node): Promise<AppendOutcome> {
    const { remote } = this.#engines;
    const news = this.#isNews(batch);
    const answer = await node.log.append(this.uid, batch);
    this.#sentThrough.add(node);
    const stored = answer.outcome === "stored";
    const sent = { message: batch, sure: stored && (news || !remote) };
    if (stored || remote) for (const tail of this.#tails) tail.expect(sent);
    return answer;
  }

  /** Waits until all that was sent has reached the subscriptions. */
  async settle(): Promise<void> {
    if (this.#sentThrough.size === 0) return;
    const marks = new Set<string>();
    const marked: Promise<void>[] = [];
    for (const { log } of this.#engines.remote ? this.#sentThrough : []) {
      this.#marks += 1;
      const fact = markFact(this.#marks, this.sessionId);
      marks.add(markOf(fact) ?? "");
      marked.push(log.announce(this.uid, fact));
    }
    this.#sentThrough.clear();
    for (const tail of this.#tails) await tail.gather(marks);
    if (marked.length > 0) await Promise.all(marked);
  }

  /** The log forgets a lane, or all. */
  async lose(lane?: number): Promise<void> {
    await this.#engines.lose(this.uid, lane === undefined ? [...this.opened.keys()] : [lane]);
  }

  /** A reader requests a lane from its writer. */
  async ask(lane: number, { log }: Node): Promise<void> {
    if (!this.keeps("a gap that the log can't fill is put to the writer")) return;
    await log.nudge(this.uid, { kind: "reseed", lane });
    this.#nudges += 1;
  }

  get isAsked(): boolean {
    return this.#nudges > 0;
  }

  /** The lanes that were asked for since. */
  async asked(): Promise<readonly number[]> {
    const lanes: number[] = [];
    for (; this.#nudges > 0; this.#nudges -= 1) {
      const next = await this.#nudged.next();
      if (next.done !== true && next.value.kind === "reseed") lanes.push(next.value.lane);
    }
    return lanes;
  }

  /** Reads what is stored since the last look, and checks each fact against the promises. */
  async look(): Promise<void> {
    if (!this.#written) return;
    this.#written = false;
    for (const fact of await this.node(0).store.read(this.uid, { after: this.head })) {
      const { n } = fact;
      promise(n === this.head + 1, () => `fact ${n} comes after ${this.head}`);
      this.#check(fact);
      this.truths.add(fact);
    }
    const { executions, items } = this.truths.now;
    for (const call of executions) {
      promise(
        items.every(({ id }) => id !== call),
        () => `the result of ${call} is stored without its settlement`,
      );
    }
  }

  /** True if no newer batch of the lane was sent. */
  #isNews({ lane, epoch, last }: Batch): boolean {
    const sent = this.#lastSent.get(lane);
    const news =
      sent === undefined || epoch > sent.epoch || (epoch === sent.epoch && last > sent.last);
    if (news) this.#lastSent.set(lane, { epoch, last });
    return news;
  }

  #check(fact: Fact): void {
    const { now } = this.truths;
    if (fact.type === "session_claimed") {
      promise(
        fact.incarnation === now.incarnation + 1,
        () => `incarnation ${fact.incarnation} comes after ${now.incarnation}`,
      );
    }
    if (fact.type !== "item_committed" && fact.type !== "item_replaced") return;
    const { item, lane, epoch } = fact;
    const twice = fact.type === "item_committed" && now.items.some(({ id }) => id === item.id);
    promise(!twice, () => `item ${item.id} is stored a second time`);
    if (lane === undefined || epoch === undefined) return;
    const author = this.authors.get(epoch);
    promise(author?.itemId === item.id, () => `item ${item.id} is not by the epoch it names`);
    promise(
      incarnationOf(epoch) === now.incarnation,
      () => `item ${item.id} is by incarnation ${incarnationOf(epoch)} of ${now.incarnation}`,
    );
    promise(
      this.opened.get(lane) === epoch,
      () => `item ${item.id} is by an attempt that a newer one had superseded`,
    );
    promise(
      now.run === fact.runId && now.turn === fact.turnId,
      () => `item ${item.id} is stored after its turn was finished`,
    );
    promise(
      fact.type === "item_replaced" || textOf(item) === (author.texts.at(-1) ?? ""),
      () => `item ${item.id} has other text than its writer wrote`,
    );
  }
}

/** 2^30 epochs for each incarnation, as DESIGN has it. Not taken from core, which is under test. */
export function incarnationOf(epoch: Epoch): number {
  return Math.floor(epoch / 2 ** 30);
}

function textOf(item: Item): string {
  return item.parts
    .map((part) => (part.kind === "text" || part.kind === "tool_result" ? part.text : ""))
    .join("");
}

/** The same store, with a word about each call that may store something. */
function noticing(store: SessionStore, written: () => void): SessionStore {
  return {
    ...store,
    claim: (uid, request) => (written(), store.claim(uid, request)),
    accept: (uid, key, body) => (written(), store.accept(uid, key, body)),
    open: (uid, request) => (written(), store.open(uid, request)),
    commit: (uid, request) => (written(), store.commit(uid, request)),
    append: (uid, request) => (written(), store.append(uid, request)),
  };
}

function firstOf(nodes: readonly Node[]): Node {
  return nodes[0] as Node; // engines have at least one
}
