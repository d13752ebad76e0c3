import { makeRecord } from "./store-record.ts";
import { noWork } from "./store-work.ts";
import { describe, expect, it } from "vitest";
import { packEpoch } from "../event/epoch.ts";
import { callId, itemId, runId, sessionId, sessionUid, turnId } from "../ids.ts";
import type { SessionId, SessionUid } from "../ids.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import { memorySessionStore } from "../reference/memory-session-store.ts";
import type { Tombstone } from "../ports/session-store.ts";
import { childSessionId, parentOf } from "./child.ts";
import { removeFamily, removeSession } from "./tombstone.ts";
import type { FamilyStore } from "./tombstone.ts";

/** Sessions by uid, and a store of them that fails at one of its calls, before or after it. */
class BreakingFamily {
  readonly sessions = new Map<SessionUid, SessionId>();
  readonly tombstones = new Map<SessionUid, Tombstone>();
  calls = 0;
  breaksAt = Infinity;

  add(uid: string, parent?: SessionUid): SessionUid {
    const own = sessionUid(uid);
    this.sessions.set(own, parent ? childSessionId(`${parent}_item_${uid}`) : sessionId(uid));
    return own;
  }

  readonly store: FamilyStore = {
    list: ({ after = "" } = {}) =>
      this.#step(() =>
        [...this.sessions]
          .filter(([, id]) => id > after)
          .toSorted(([, left], [, right]) => (left < right ? -1 : 1))
          .slice(0, 2)
          .map(([uid, id]) =>
            makeRecord(
              { uid, sessionId: id, metadata: {}, revision: 1, createdAt: 1 },
              { ...noWork, incarnation: 0, head: 0 },
            ),
          ),
      ),
    removeOne: (uid, left) =>
      this.#step(() => {
        if (!this.sessions.delete(uid) || this.tombstones.has(uid)) return;
        this.tombstones.set(uid, { uid, at: 1, ...left });
      }),
    tombstonesOf: (root) =>
      this.#step(() => [...this.tombstones.values()].filter((one) => one.root === root)),
  };

  /** Twice: so that a call fails without an effect, and with it but without its answer. */
  async #step<T>(call: () => T): Promise<T> {
    if ((this.calls += 1) === this.breaksAt) throw new Error("the process was killed");
    const answer = call();
    if ((this.calls += 1) === this.breaksAt) throw new Error("the process was killed");
    return answer;
  }
}

describe("a removal that is cut off", () => {
  it("at any call is completed by a repeat, with the same tombstones", async () => {
    let cuts = 0;
    for (let breaksAt = 1; ; breaksAt += 1) {
      const family = new BreakingFamily();
      const root = family.add("root");
      const one = family.add("one", root);
      for (const name of ["two", "three", "four"]) family.add(name, root);
      const nested = family.add("nested", one);
      family.add("deep", nested);
      const other = family.add("other");
      family.add("others", other);
      family.breaksAt = breaksAt;

      const cut = await removeFamily(family.store, root, { actor: { user: "Ann" } }).then(
        () => false,
        () => true,
      );
      if (!cut) break;
      cuts += 1;
      family.breaksAt = Infinity;
      const left = await removeFamily(family.store, root, { actor: { user: "Bob" } });

      expect([...family.sessions.keys()]).toEqual(["other", "others"]);
      expect(left.map(({ uid }) => uid).toSorted()).toEqual(
        ["root", "one", "two", "three", "four", "nested", "deep"].toSorted(),
      );
      expect(left.every((tombstone) => tombstone.root === root)).toBe(true);
    }
    console.log(`count: a removal cut at ${cuts} places and repeated, 0 failures`);
    expect(cuts).toBeGreaterThan(30);
  });

  it("between the store and the log is completed by a repeat, by the name alone", async () => {
    const [store, log] = [memorySessionStore(), memoryEventLog()];
    const { uid } = await store.create({ sessionId: "talk" });
    await store.claim(uid, { from: 0 });
    const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });
    const place = { lane: 1, epoch, itemId: itemId("item_1") };
    const ids = { runId: runId("r"), turnId: turnId("t"), callId: callId("c") };
    const childId = childSessionId(`${uid}_item_1`);
    const intent = { type: "tool_execution_started", ...place, ...ids } as const;
    await store.open(uid, {
      ...place,
      intent: { ...intent, tool: "helper", input: {}, childSessionId: childId },
    });
    const child = await store.find(childId);
    const removed: SessionUid[] = [];
    let away = true;
    const flaky = {
      ...log,
      remove: async (one: SessionUid) => {
        if (away) throw new Error("the log is away");
        removed.push(one);
      },
    };
    const removal = { store, log: flaky, sessionId: "talk", actor: { user: "Ann" } };

    await expect(removeSession(removal)).rejects.toThrow("the log is away");
    away = false;
    const left = await removeSession({ ...removal, actor: { user: "Bob" } });

    expect(left).toMatchObject({ uid, actor: { user: "Ann" } });
    expect(removed).toEqual([uid, child?.uid]);
    expect(await removeSession({ ...removal, sessionId: "never" })).toBe(undefined);
  });
});

describe("the name of a sub-agent's session", () => {
  it("has its parent's uid, and no other name has one", () => {
    const uid = sessionUid("session_0a");

    expect(parentOf(childSessionId(`${uid}_item_x_1`))).toBe(uid);
    for (const name of ["talk", "sub_", "sub_session_0a", "a sub_x_item_1", "sub_x y_item_1"]) {
      expect(parentOf(name)).toBe(undefined);
    }
  });
});
