import type { Fact, FactOf } from "../event/event.ts";
import type { SessionKey, SessionUid } from "../ids.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { AcceptOutcome, PeopleFact, SessionStore } from "../ports/session-store.ts";
import { refuse, refusedBy } from "./posted.ts";
import type { Refused } from "./posted.ts";

/** The calls of the ports by which an inbox writes. None of them claims, opens or appends. */
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

  /** Stores a fact under a key. A repeat is announced too: the first call's process may have ended before it did. */
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

  /** Makes the session's writers look for a stop at once, where they would find it at their next read. */
  nudgeToStop(): void {
    const { log, uid } = this.#ports;
    this.#attempt(() => log.nudge(uid, { kind: "abort" }));
  }

  /** Settles when all that was stored has been announced, or could not be. */
  async announced(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** What the log can't pass on is found by reading the head, so a failure of it is none of a post. */
  #attempt(send: () => Promise<unknown>): void {
    const { store, log, uid } = this.#ports;
    const sent = (async () => {
      try {
        // Before each: a log keeps the keys of so many sessions. The store is asked once.
        log.setKey?.(uid, await (this.#key ??= store.key(uid)));
        await send();
      } catch {
        this.#key = undefined; // it may be the store that failed
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
