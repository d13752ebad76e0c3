import type { Item } from "../content/item.ts";
import type { Fact, FactOf } from "../event/event.ts";
import { emptyState } from "../event/state.ts";
import type { SessionState } from "../event/state.ts";
import { engineRun } from "../ids.ts";
import type { InputId, ItemId, SessionId, SessionUid } from "../ids.ts";
import type { PeopleFact } from "../ports/session-record.ts";
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
} from "../ports/session-store.ts";
import {
  holdsItem,
  isReset,
  itemsOf,
  numberFacts,
  raiseFloor,
  rowOf,
  stateAfter,
  workOf,
} from "../store-kit/store-row.ts";
import { noWork } from "../store-kit/store-work.ts";
import type { ItemFact, StoreRow } from "../store-kit/store-row.ts";
import {
  acceptCall,
  appendCall,
  claimCall,
  commitCall,
  nothingFound,
  openCall,
} from "../store-kit/store-rules.ts";
import type { Found, Lookup, StoreCall, Subject } from "../store-kit/store-rules.ts";

export interface LedgerOptions {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly now: () => number;
  /** When the session was created: its first activity. Left out: the time of its first fact is. */
  readonly createdAt?: number | undefined;
  /** Left out: the ledger begins with the first fact. */
  readonly earlier?: EarlierFacts | undefined;
}

/** Facts that a ledger does not hold, because they are read only where a call needs one of them. */
export interface EarlierFacts {
  /** The row at the last of them. */
  readonly row: StoreRow;
  /** The inputs that waited then, and the questions of the run that was on. */
  readonly open: Pick<SessionState, "queue" | "approvals">;
  readonly resets: readonly Reset[];
  readonly keyed: (key: string) => Fact | undefined;
  readonly item: (itemId: ItemId) => Item | undefined;
  readonly accepted: (inputId: InputId) => boolean;
  /** The incarnation that a run of an engine has claimed. */
  readonly claimedBy: (by: string) => number | undefined;
}

/** A reset: the number of its fact, and the number above which facts were undone. */
export interface Reset {
  readonly n: number;
  readonly to: number;
}

/** What calls look up: a key of `accept`, an item, an input or an engine's run, and the fact that has it. */
export interface LookupEntry {
  readonly kind: "key" | "item" | "input" | "by";
  readonly id: string;
  readonly n: number;
}

/** What calls store besides facts. */
export interface Besides {
  /** The floors that `open` raised, in that order. */
  readonly floors?: Iterable<Floor> | undefined;
  /** What `accept` stored under which key. */
  readonly keys?: Iterable<readonly [key: string, fact: Fact]> | undefined;
  /** By which run of an engine a claim was made. */
  readonly claims?: Iterable<readonly [by: string, fact: Fact]> | undefined;
}

type ClaimFact = FactOf<"session_claimed">;

/**
 * One session's facts for a store that holds them in memory, with what the store's rules look up.
 * Each call is decided and stored synchronously, so it is atomic. Its cost does not grow with the
 * session, except for a reset, after which all is rebuilt.
 */
export class SessionLedger {
  readonly #options: LedgerOptions;
  readonly #facts: Fact[] = [];
  readonly #keys = new Map<string, Fact>();
  #items = new Map<ItemId, ItemFact>();
  readonly #inputs = new Map<InputId, number>();
  /** The claims of engines by their runs. None is forgotten by a reset: each run claims once. */
  readonly #claims = new Map<string, ClaimFact>();
  /** The last of them. */
  #engine: { readonly by: string; readonly incarnation: number } | undefined;
  readonly #resets: Reset[] = [];
  #state: SessionState;
  #row: StoreRow;

  constructor(options: LedgerOptions) {
    const { uid, sessionId, earlier, createdAt = 0 } = options;
    this.#options = options;
    this.#state = emptyState(uid, sessionId);
    if (earlier === undefined) {
      this.#row = rowOf(this.#state, [], { ...noWork, updatedAt: createdAt });
    } else {
      const { head, incarnation, closed, closedLanes } = earlier.row;
      this.#state = { ...this.#state, head, incarnation, closed, closedLanes, ...earlier.open };
      this.#row = earlier.row;
      this.#resets.push(...earlier.resets);
    }
  }

  /** The number of the last fact. */
  get head(): number {
    return this.#row.head;
  }

  /** Whether it holds all facts. One that does not can't undo any. */
  get isWhole(): boolean {
    return this.#options.earlier === undefined;
  }

  /** The facts that it holds: all, or those after the earlier ones. */
  get facts(): readonly Fact[] {
    return this.#facts;
  }

  get state(): SessionState {
    return this.#state;
  }

  /**
   * Adds facts that are stored elsewhere already, such as those of a session that this one forks. If
   * they are this session's own, it also adds what calls stored besides them. Linear in what is
   * loaded, except for a reset in it, by which all is rebuilt.
   */
  load(facts: readonly Fact[], { floors = [], keys = [], claims = [] }: Besides = {}): void {
    this.#keep(facts);
    for (const floor of floors) this.#keep([], floor);
    for (const [key, fact] of keys) this.#keys.set(key, fact);
    for (const [by, fact] of claims) this.#noteClaim(by, fact);
  }

  /** What decides the next call. The index of drivers lists the session by it. */
  get row(): StoreRow {
    return this.#row;
  }

  get resets(): readonly Reset[] {
    return this.#resets;
  }

  /** Whether what was made of the facts up to this one is void, because a reset has undone some of them. */
  hasUndone(head: number): boolean {
    return this.#resets.some(({ n, to }) => n > head && to < head);
  }

  /** What can be looked up in the facts that it holds. */
  *lookups(): Generator<LookupEntry, void, undefined> {
    for (const [id, { n }] of this.#keys) yield { kind: "key", id, n };
    for (const [id, { n }] of this.#items) yield { kind: "item", id, n };
    for (const [id, n] of this.#inputs) yield { kind: "input", id, n };
    for (const [id, { n }] of this.#claims) yield { kind: "by", id, n };
  }

  floors(): readonly Floor[] {
    return this.#row.floors.toSorted((left, right) => left.lane - right.lane);
  }

  claim(request: ClaimRequest): ClaimOutcome {
    return this.#make(claimCall(request));
  }

  /** The incarnation that a run of an engine has claimed. Throws `invalid_id`. */
  claimedBy(by: string): number | undefined {
    return this.#claimed(engineRun(by));
  }

  hasInput(inputId: InputId): boolean {
    return this.#inputs.has(inputId) || this.#options.earlier?.accepted(inputId) === true;
  }

  /** The engine's run that made the last claim. Unset if no engine did. */
  get engine(): string | undefined {
    const { by, incarnation } = this.#engine ?? {};
    return incarnation === this.#row.incarnation ? by : undefined;
  }

  accept(key: string, body: PeopleFact): AcceptOutcome {
    return this.#make(acceptCall(key, body));
  }

  /** Accepts inputs in a session that is being created. Without a key a repeat is not recognised. */
  acceptAll(added: readonly PeopleFact[]): void {
    for (const body of added) this.#make(acceptCall(undefined, body));
  }

  /** Whether `open` would store the request now. */
  mayOpen(request: OpenRequest): boolean {
    const { lookup, refuse } = openCall(this.#options.uid, request);
    return refuse(this.#row, this.#find(lookup)) === undefined;
  }

  open(request: OpenRequest): OpenOutcome {
    return this.#make(openCall(this.#options.uid, request));
  }

  commit(request: CommitRequest): CommitOutcome {
    return this.#make(commitCall(request));
  }

  append(request: DriverRequest): DriverOutcome {
    return this.#make(appendCall(request));
  }

  #make<Answer>({ lookup, bodies, floor, driver, refuse, answer }: StoreCall<Answer>): Answer {
    const refusal = refuse(this.#row, this.#find(lookup));
    if (refusal !== undefined) return refusal;
    const facts = numberFacts(bodies, this.#row, this.#options.now());
    this.#keep(facts, floor, driver);
    const [first] = facts;
    if (lookup.key !== undefined && first !== undefined) this.#keys.set(lookup.key, first);
    if (lookup.by !== undefined && first !== undefined) this.#noteClaim(lookup.by, first);
    return answer(facts, this.#row.head);
  }

  #noteClaim(by: string, fact: Fact): void {
    if (fact.type !== "session_claimed") return;
    this.#claims.set(by, fact);
    this.#engine = { by, incarnation: fact.incarnation };
  }

  #claimed(by: string): number | undefined {
    return this.#claims.get(by)?.incarnation ?? this.#options.earlier?.claimedBy(by);
  }

  #find({ itemId, key, about, by }: Lookup): Found {
    const { earlier } = this.#options;
    return {
      item: itemId && (this.#items.get(itemId)?.item ?? earlier?.item(itemId)),
      keyed: key === undefined ? undefined : (this.#keys.get(key) ?? earlier?.keyed(key)),
      claimed: by === undefined ? undefined : this.#claimed(by),
      about: about === undefined ? nothingFound.about : this.#subjectOf(about),
      all: this.#facts,
    };
  }

  #subjectOf(body: PeopleFact): Subject {
    const { queue, approvals } = this.#state;
    if (body.type === "approval_resolved") return { accepted: false, queue, approvals };
    return { accepted: this.hasInput(body.inputId), queue, approvals };
  }

  #keep(facts: readonly Fact[], floor?: Floor, driver?: string): void {
    const undoes = facts.some(isReset);
    if (undoes && !this.isWhole)
      throw new TypeError("a ledger without its earlier facts can't undo");
    const all = this.#facts;
    this.#state = stateAfter(this.#state, facts, all);
    const work = workOf(this.#row, facts, { all, driver });
    this.#row = rowOf(this.#state, raiseFloor(this.#row.floors, floor), work);
    for (const fact of facts) {
      this.#facts.push(fact);
      if (holdsItem(fact)) this.#items.set(fact.item.id, fact);
      if (fact.type === "input_accepted") this.#inputs.set(fact.inputId, fact.n);
      if (fact.type === "session_claimed" && fact.to !== undefined) {
        this.#resets.push({ n: fact.n, to: fact.to });
      }
    }
    if (undoes) this.#items = new Map(itemsOf(this.#facts));
  }
}
