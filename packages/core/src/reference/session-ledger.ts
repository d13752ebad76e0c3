import type { Fact } from "../event/event.ts";
import { emptyState } from "../event/state.ts";
import type { SessionState } from "../event/state.ts";
import type { InputId, ItemId, SessionId, SessionUid } from "../ids.ts";
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
import {
  holdsItem,
  isReset,
  itemsOf,
  numberFacts,
  raiseFloor,
  rowOf,
  stateAfter,
  workOf,
} from "../ports/store-row.ts";
import { noWork } from "../ports/store-work.ts";
import type { StoreWork } from "../ports/store-work.ts";
import type { ItemFact, StoreRow } from "../ports/store-row.ts";
import {
  acceptCall,
  appendCall,
  claimCall,
  commitCall,
  nothingFound,
  openCall,
} from "../ports/store-rules.ts";
import type { Found, Lookup, StoreCall, Subject } from "../ports/store-rules.ts";

export interface LedgerOptions {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly now: () => number;
}

/** What calls store besides facts. */
export interface Besides {
  /** The floors that `open` raised, in that order. */
  readonly floors?: Iterable<Floor> | undefined;
  /** What `accept` stored under which key. */
  readonly keys?: Iterable<readonly [key: string, fact: Fact]> | undefined;
}

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
  readonly #inputs = new Set<InputId>();
  #state: SessionState;
  #row: StoreRow;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#state = emptyState(options.uid, options.sessionId);
    this.#row = rowOf(this.#state, [], noWork);
  }

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
  load(facts: readonly Fact[], { floors = [], keys = [] }: Besides = {}): void {
    this.#keep(facts);
    for (const floor of floors) this.#keep([], floor);
    for (const [key, fact] of keys) this.#keys.set(key, fact);
  }

  /** What the index of drivers lists the session by. */
  get work(): StoreWork {
    return this.#row;
  }

  floors(): readonly Floor[] {
    return this.#row.floors.toSorted((left, right) => left.lane - right.lane);
  }

  claim(request: ClaimRequest): ClaimOutcome {
    return this.#make(claimCall(request));
  }

  accept(key: string, body: PeopleFact): AcceptOutcome {
    return this.#make(acceptCall(key, body));
  }

  /** Accepts inputs in a session that is being created. Without a key a repeat is not recognised. */
  acceptAll(added: readonly PeopleFact[]): void {
    for (const body of added) this.#make(acceptCall(undefined, body));
  }

  open(request: OpenRequest): OpenOutcome {
    return this.#make(openCall(request));
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
    return answer(facts, this.#row.head);
  }

  #find({ itemId, key, about }: Lookup): Found {
    return {
      item: itemId === undefined ? undefined : this.#items.get(itemId)?.item,
      keyed: key === undefined ? undefined : this.#keys.get(key),
      about: about === undefined ? nothingFound.about : this.#subjectOf(about),
      all: this.#facts,
    };
  }

  #subjectOf(body: PeopleFact): Subject {
    const { queue, approvals } = this.#state;
    const accepted = body.type !== "approval_resolved" && this.#inputs.has(body.inputId);
    return { accepted, queue, approvals };
  }

  #keep(facts: readonly Fact[], floor?: Floor, driver?: string): void {
    const all = this.#facts;
    this.#state = stateAfter(this.#state, facts, all);
    const work = workOf(this.#row, facts, { all, driver });
    this.#row = rowOf(this.#state, raiseFloor(this.#row.floors, floor), work);
    for (const fact of facts) {
      this.#facts.push(fact);
      if (holdsItem(fact)) this.#items.set(fact.item.id, fact);
      if (fact.type === "input_accepted") this.#inputs.add(fact.inputId);
    }
    if (facts.some(isReset)) this.#items = new Map(itemsOf(this.#facts));
  }
}
