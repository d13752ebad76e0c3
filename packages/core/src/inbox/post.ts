import type { Fact, FactOf } from "../event/event.ts";
import type { SessionKey, SessionUid } from "../ids.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { PeopleFact } from "../ports/session-record.ts";
import type { AcceptOutcome, SessionStore } from "../ports/session-store.ts";
import { refuse, refusedBy } from "./posted.ts";
import type { Refused } from "./posted.ts";

/** The port calls that an inbox writes by. None of them claims, opens or appends. */
export interface PostPorts {
  readonly store: Pick<SessionStore, "accept" | "key">;
  readonly log: Pick<EventLog, "setKey" | "announce" | "nudge">;
  readonly uid: SessionUid;
}

/** A fact that is stored, by this call or by an earlier one. */
export interface Stored<Type extends PeopleFact["type"]> {
  readonly accepted: true;
  readonly fact: FactOf<Type>;
  readonly replayed: boolean;
}

type BodyOfType<Type extends PeopleFact["type"]> = Extract<PeopleFact, { readonly type: Type }>;

/** Stores what people send, then announces it. The answer waits for the store, never for the log. */
export class Poster {
  readonly #ports: PostPorts;
  readonly #underWay = new Set<Promise<unknown>>();
  #key: Promise<SessionKey> | undefined;

  constructor(ports: PostPorts) {
    this.#ports = ports;
  }

  /** Stores a fact under a key. A repeat is announced too: the first call's process may have ended before its announcement. */
  async post<Type extends PeopleFact["type"]>(
    key: string,
    body: BodyOfType<Type>,
  ): Promise<Stored<Type> | Refused> {
    const { store, log, uid } = this.#ports;
    let outcome: AcceptOutcome;
    try {
      outcome = await store.accept(uid, key, body);
    } catch (error) {
      return refusedBy(error);
    }
    if (outcome.outcome === "refused") return refuse(outcome.reason, sentences[outcome.reason]);
    const replayed = outcome.outcome === "duplicate";
    const facts = outcome.outcome === "duplicate" ? [outcome.fact] : outcome.facts;
    for (const fact of facts) this.#attempt(() => log.announce(uid, fact));
    // The store has just compared this fact with the body, or made it of it.
    return { accepted: true, fact: facts[0] as Fact as FactOf<Type>, replayed };
  }

  /** Makes the session's driver read a stop at once, instead of with its next poll. */
  nudgeToStop(): void {
    const { log, uid } = this.#ports;
    this.#attempt(() => log.nudge(uid, { kind: "abort" }));
  }

  /** Resolves when all that was stored has been announced, or could not be. */
  async announced(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Sends by the log, without a failure: what the log loses is found by reading the head. */
  #attempt(send: () => Promise<unknown>): void {
    const { store, log, uid } = this.#ports;
    const sent = (async () => {
      try {
        // Before each call: a log keeps a bounded number of keys. The store is read once.
        log.setKey?.(uid, await (this.#key ??= store.key(uid)));
        await send();
      } catch {
        this.#key = undefined; // the store's call may have failed
      }
    })();
    this.#underWay.add(sent);
    void sent.then(() => this.#underWay.delete(sent));
  }
}

const sentences = {
  key_reused: "not accepted: the key was used for something else; a new input needs a new key",
  settled: "not accepted: it came too late, what it is about is settled",
  unknown: "not accepted: what it is about is not there",
} as const;
