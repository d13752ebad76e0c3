import { memorySessionStore } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import { encodeCheckpoint, readSession } from "@millrace/core/reading";
import { inputId, itemId, partId, runId, sessionId, turnId } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { newKey, Served } from "../testing/served.ts";

/** A session of so many turns, with a checkpoint after them. */
async function sessionOf(turns: number): Promise<SessionStore> {
  const store = memorySessionStore();
  const { uid } = await store.create({ sessionId: sessionId("s"), owner: "ann" });
  await store.claim(uid, { from: 0 });
  for (let turn = 1; turn <= turns; turn += 1) {
    const ids = { runId: runId(`run_${turn}`), turnId: turnId(`turn_${turn}`) };
    const id = inputId(`input_${turn}`);
    const parts = [{ kind: "text", id: partId("p1"), text: `question ${turn}` }] as const;
    await store.accept(uid, id, {
      type: "input_accepted",
      inputId: id,
      input: { kind: "prompt", parts },
    });
    const item = { id: itemId(`item_${turn}`), author: "user", parts, stop: "end" } as const;
    const head = await store.head(uid);
    const { outcome } = await store.append(uid, {
      incarnation: 1,
      head,
      bodies: [
        { type: "run_started", runId: ids.runId },
        { type: "item_committed", item, ...ids, inputId: id },
        { type: "turn_started", ...ids },
        { type: "turn_finished", ...ids, stop: "end", closes: turn },
        { type: "run_finished", runId: ids.runId, outcome: "completed", closes: turn },
      ],
    });
    expect(outcome).toBe("appended");
  }
  const { paged } = await readSession({ store, uid, sessionId: sessionId("s") });
  await store.keepCheckpoint?.(uid, encodeCheckpoint({ paged }));
  return store;
}

/** The facts that a refused prompt and a repeated one read in a session of so many turns. */
async function factsReadAfter(turns: number): Promise<readonly number[]> {
  const store = await sessionOf(turns);
  let facts = 0;
  const counting: SessionStore = {
    ...store,
    read: async (uid, options) => {
      const read = await store.read(uid, options);
      facts += read.length;
      return read;
    },
  };
  await using served = new Served(undefined, {
    driver: false,
    store: () => counting,
    limits: { inputsPerSession: 1 },
  });
  const post = async (key: string, status: number): Promise<number> => {
    facts = 0;
    const body = { kind: "prompt", text: "more" };
    const response = await served.request("/v1/sessions/s/inputs", { body, key });
    expect(response.status).toBe(status);
    return facts;
  };
  const first = newKey();
  await post(first, 202);
  return [await post(newKey(), 429), await post(first, 202)];
}

it("a refused prompt and a repeated one read no more of a long session than of a short one", async () => {
  const long = await factsReadAfter(4_000);
  expect(long).toEqual(await factsReadAfter(10));
  for (const facts of long) expect(facts).toBeLessThan(20);
});
