import type { Fact, SessionUid } from "@millrace/core";
import type { Batch, EventLog, SessionStore } from "@millrace/core/ports";
import type { Floor } from "@millrace/core/store-kit";

/** What a call that stores something answers, as far as a player needs it. */
export interface Answer {
  readonly outcome: string;
  readonly facts?: readonly Fact[];
}

/** One call that a session's processes made, in the order in which they took effect. */
export type Call =
  | {
      readonly kind: "store";
      readonly play: (store: SessionStore, uid: SessionUid) => Promise<Answer>;
      /** What the store of the recording answered. Every other one must answer the same. */
      readonly outcome: string;
      /** The lane that it opens, if it does. */
      readonly opens?: Floor | undefined;
    }
  | { readonly kind: "append"; readonly batch: Batch; readonly outcome: string }
  | { readonly kind: "announce"; readonly n: number };

/** Ports that note what goes through them. Calls that only read are not noted. */
export interface Recorder {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly calls: readonly Call[];
}

export function recordCalls(store: SessionStore, log: EventLog): Recorder {
  const calls: Call[] = [];
  // The place is taken before the answer is there: memory acts at once, so that is the true order.
  const noted = async <Given extends Answer>(
    uid: SessionUid,
    play: (store: SessionStore, uid: SessionUid) => Promise<Given>,
    opens?: Floor,
  ): Promise<Given> => {
    const at = calls.push({ kind: "store", play, outcome: "" }) - 1;
    const answer = await play(store, uid);
    calls[at] = { kind: "store", play, outcome: answer.outcome, opens };
    return answer;
  };
  return {
    calls,
    store: {
      ...store,
      claim: (uid, request) => noted(uid, (on, as) => on.claim(as, request)),
      accept: (uid, key, body) => noted(uid, (on, as) => on.accept(as, key, body)),
      open: (uid, request) => noted(uid, (on, as) => on.open(as, request), request),
      commit: (uid, request) => noted(uid, (on, as) => on.commit(as, request)),
      append: (uid, request) => noted(uid, (on, as) => on.append(as, request), request.opens),
    },
    log: {
      ...log,
      append: async (uid, batch) => {
        const at = calls.push({ kind: "append", batch, outcome: "" }) - 1;
        const answer = await log.append(uid, batch);
        calls[at] = { kind: "append", batch, outcome: answer.outcome };
        return answer;
      },
      announce: async (uid, fact) => {
        calls.push({ kind: "announce", n: fact.n });
        await log.announce(uid, fact);
      },
    },
  };
}
