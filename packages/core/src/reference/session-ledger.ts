import type { Item } from "../content/item.ts";
import { apply } from "../event/apply.ts";
import { unpackEpoch } from "../event/epoch.ts";
import { schemaVersion } from "../event/event.ts";
import type { Fact, FactBody } from "../event/event.ts";
import { replay } from "../event/reduce.ts";
import { closedEpoch, emptyState } from "../event/state.ts";
import type { SessionState } from "../event/state.ts";
import type { InputId, ItemId, SessionId, SessionUid } from "../ids.ts";
import { equalJson } from "../json.ts";
import type { Json } from "../json.ts";
import type {
  AcceptOutcome,
  ClaimOutcome,
  ClaimRequest,
  CommitOutcome,
  CommitRequest,
  DriverOutcome,
  DriverRequest,
  Floor,
  OpenOutcome,
  OpenRequest,
  PeopleFact,
} from "../ports/session-store.ts";

export interface LedgerOptions {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly now: () => number;
}

/** What calls leave behind that no fact says. */
export interface Besides {
  /** The floors that `open` raised, in that order. */
  readonly floors?: Iterable<Floor> | undefined;
  /** What `accept` stored under which key. */
  readonly keys?: Iterable<readonly [key: string, fact: Fact]> | undefined;
}

/**
 * The rules of one session's facts for a store that holds them in memory: who may add what, and
 * when. Each method decides and adds without a pause, so it is atomic. What facts mean is not
 * decided here: that is read from their state, which is the readers' own fold.
 */
export class SessionLedger {
  readonly #options: LedgerOptions;
  readonly #facts: Fact[] = [];
  readonly #floors = new Map<number, number>();
  readonly #keys = new Map<string, Fact>();
  readonly #items = new Map<ItemId, Item>();
  readonly #inputs = new Set<InputId>();
  #state: SessionState;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#state = emptyState(options.uid, options.sessionId);
  }

  get facts(): readonly Fact[] {
    return this.#facts;
  }

  get state(): SessionState {
    return this.#state;
  }

  /**
   * Takes facts that stand elsewhere already, such as those of a session that this one forks, after
   * those it has; and, where they are this session's own, what calls raised and said besides them.
   * Linear in what is loaded, but for a reset in it, by which all is read anew.
   */
  load(facts: readonly Fact[], { floors = [], keys = [] }: Besides = {}): void {
    const reset = facts.some((fact) => fact.type === "session_claimed" && fact.to !== undefined);
    for (const fact of facts) {
      if (reset) this.#facts.push(fact);
      else this.#keep(fact);
    }
    if (reset) this.#renew();
    for (const { lane, epoch } of floors) this.#floors.set(lane, epoch);
    for (const [key, fact] of keys) this.#keys.set(key, fact);
  }

  floors(): readonly Floor[] {
    return [...this.#floors]
      .filter(([lane, epoch]) => epoch > closedEpoch(this.#state, lane))
      .map(([lane, epoch]) => ({ lane, epoch }))
      .toSorted((left, right) => left.lane - right.lane);
  }

  claim({ from, to }: ClaimRequest): ClaimOutcome {
    const { incarnation } = this.#state;
    if (incarnation !== from) return { outcome: "moved", incarnation };
    const reset = to === undefined ? {} : { to };
    const facts = this.#add([{ type: "session_claimed", incarnation: incarnation + 1, ...reset }]);
    return { outcome: "claimed", incarnation: incarnation + 1, facts };
  }

  accept(key: string, body: PeopleFact): AcceptOutcome {
    const before = this.#keys.get(key);
    if (before !== undefined) {
      return says(before, body)
        ? { outcome: "duplicate", fact: before }
        : { outcome: "refused", reason: "key_reused" };
    }
    const reason = this.#refusal(body);
    if (reason !== undefined) return { outcome: "refused", reason };
    const facts = this.#add([body]);
    this.#keys.set(key, facts[0] as Fact);
    return { outcome: "accepted", facts };
  }

  /** What people say in a session that is being made: there is no key to know it again by. */
  say(said: readonly PeopleFact[]): void {
    for (const body of said) if (this.#refusal(body) === undefined) this.#add([body]);
  }

  open({ lane, epoch, itemId, intent }: OpenRequest): OpenOutcome {
    const item = this.#items.get(itemId);
    if (item !== undefined) return { outcome: "exists", item };
    const raises = epoch > (this.#floors.get(lane) ?? 0);
    if (!raises || !this.#holds(lane, epoch)) return { outcome: "fenced" };
    this.#floors.set(lane, epoch);
    const facts = this.#add(intent === undefined ? [] : [intent]);
    return { outcome: "opened", head: this.#facts.length, facts };
  }

  commit({ fact, settlement = [] }: CommitRequest): CommitOutcome {
    const item = this.#items.get(fact.item.id);
    if (item !== undefined && fact.type === "item_committed") return { outcome: "exists", item };
    const holds = this.#floors.get(fact.lane) === fact.epoch && this.#holds(fact.lane, fact.epoch);
    if (!holds) return { outcome: "fenced" };
    return { outcome: "committed", facts: this.#add([fact, ...settlement]) };
  }

  append({ incarnation, head, bodies }: DriverRequest): DriverOutcome {
    if (this.#state.incarnation !== incarnation) return { outcome: "fenced" };
    if (this.#facts.length !== head) return { outcome: "moved", head: this.#facts.length };
    return { outcome: "appended", facts: this.#add(bodies) };
  }

  #add(bodies: readonly FactBody[]): readonly Fact[] {
    const { sessionId, now } = this.#options;
    return bodies.map((body) => {
      const n = this.#facts.length + 1;
      const fact: Fact = { ...body, v: schemaVersion, n, sessionId, time: now() };
      this.#keep(fact);
      return fact;
    });
  }

  #keep(fact: Fact): void {
    this.#facts.push(fact);
    const applied = apply(this.#state, fact);
    // Only a reset does not apply: it undoes what is in the state, so that is made anew.
    if (applied.verdict === "gap") this.#renew();
    else this.#state = applied.state;
    if (fact.type === "item_committed" || fact.type === "item_replaced") {
      this.#items.set(fact.item.id, fact.item);
    }
    if (fact.type === "input_accepted") this.#inputs.add(fact.inputId);
  }

  /** After a reset an undone item's id is free again: its step is taken anew under it. */
  #renew(): void {
    const { uid, sessionId } = this.#options;
    this.#state = replay(emptyState(uid, sessionId), this.#facts);
    this.#items.clear();
    for (const item of this.#state.items) this.#items.set(item.id, item);
    for (const fact of this.#facts)
      if (fact.type === "input_accepted") this.#inputs.add(fact.inputId);
  }

  /** True while the epoch is of the session's driver and nothing has closed it. */
  #holds(lane: number, epoch: number): boolean {
    const current = unpackEpoch(epoch).incarnation === this.#state.incarnation;
    return current && epoch > closedEpoch(this.#state, lane);
  }

  #refusal(body: PeopleFact): "key_reused" | "settled" | "unknown" | undefined {
    const { queue, approvals } = this.#state;
    if (body.type === "queue_updated") {
      if (queue.some((queued) => queued.inputId === body.inputId)) return undefined;
      return this.#inputs.has(body.inputId) ? "settled" : "unknown";
    }
    if (body.type === "input_accepted") {
      return this.#inputs.has(body.inputId) ? "key_reused" : undefined;
    }
    const approval = approvals.find(({ asked }) => asked.approvalId === body.approvalId);
    if (approval === undefined) return "unknown";
    return approval.answer === undefined ? undefined : "settled";
  }
}

function says(fact: Fact, body: PeopleFact): boolean {
  const { v: _, n: __, sessionId: ___, time: ____, ...said } = fact;
  // The actor is left out: a repeat from another account or device is still a repeat.
  return equalJson(
    { ...said, actor: null } as unknown as Json,
    { ...body, actor: null } as unknown as Json,
  );
}
