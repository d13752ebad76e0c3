import { apply, emptyState, replay } from "@millrace/core";
import type {
  EventLog,
  Fact,
  SessionId,
  SessionState,
  SessionStore,
  SessionUid,
} from "@millrace/core";
import { advance, standingOf } from "../loop/advance.ts";
import type { Standing } from "../loop/state.ts";

export interface JournalOptions {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** Told of each fact once, in order, after it is in the state. */
  readonly onFact: (fact: Fact) => void;
}

/**
 * What one process knows of a session's facts, in order and without holes, whoever stored them. All
 * answers of the store go through here, so that there is one place where facts arrive.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #early = new Map<number, Fact>();
  #facts: Fact[] = [];
  #state: SessionState;
  #standing: Standing;
  #catching: Promise<void> | undefined;
  readonly #announcing = new Set<Promise<void>>();

  private constructor(options: JournalOptions, facts: readonly Fact[]) {
    const { uid, sessionId } = options;
    this.#options = options;
    this.#facts = [...facts];
    this.#state = replay(emptyState(uid, sessionId), facts);
    this.#standing = standingOf(facts);
  }

  static async open(options: JournalOptions): Promise<Journal> {
    return new Journal(options, await options.store.read(options.uid));
  }

  get state(): SessionState {
    return this.#state;
  }

  get standing(): Standing {
    return this.#standing;
  }

  get facts(): readonly Fact[] {
    return this.#facts;
  }

  /** Takes in facts that this process has stored, and announces them: durable first, then announced. */
  stored(facts: readonly Fact[]): void {
    this.heard(facts);
    const { log, uid } = this.#options;
    for (const fact of facts) {
      // An announcement may be lost: readers find the head by themselves.
      const announcing = log.announce(uid, fact).catch(() => undefined);
      this.#announcing.add(announcing);
      void announcing.then(() => this.#announcing.delete(announcing));
    }
  }

  /** Settles when what was stored has been announced: whoever closes the log then takes nothing from its readers. */
  async announced(): Promise<void> {
    await Promise.all(this.#announcing);
  }

  /** Takes in facts that anyone has stored. What came too early waits for what is missing. */
  heard(facts: readonly Fact[]): void {
    for (const fact of facts) if (fact.n > this.#state.head) this.#early.set(fact.n, fact);
    this.#drain();
    if (this.#early.size > 0) this.catchUp().catch(() => undefined); // asked for again by whoever needs it
  }

  /** Reads what the store has and this process has not. */
  catchUp(): Promise<void> {
    this.#catching ??= this.#read().finally(() => {
      this.#catching = undefined;
    });
    return this.#catching;
  }

  async #read(): Promise<void> {
    const { store, uid } = this.#options;
    const facts = await store.read(uid, { after: this.#state.head });
    for (const fact of facts) this.#early.set(fact.n, fact);
    this.#drain();
  }

  #drain(): void {
    for (;;) {
      const fact = this.#early.get(this.#state.head + 1);
      if (fact === undefined) break;
      this.#early.delete(fact.n);
      this.#take(fact);
    }
    for (const n of this.#early.keys()) if (n <= this.#state.head) this.#early.delete(n);
  }

  #take(fact: Fact): void {
    const { uid, sessionId, onFact } = this.#options;
    this.#facts.push(fact);
    const applied = apply(this.#state, fact);
    if (applied.verdict === "gap") {
      // Only a reset does not apply: it undoes what is in the state, so that is made anew.
      this.#state = replay(emptyState(uid, sessionId), this.#facts);
      this.#standing = standingOf(this.#facts);
    } else {
      this.#state = applied.state;
      this.#standing = advance(this.#standing, fact);
    }
    onFact(fact);
  }
}
