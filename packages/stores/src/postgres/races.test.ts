import { randomUUID } from "node:crypto";
import { packEpoch } from "@millrace/core/ports";
import type { SessionStore } from "@millrace/core/ports";
import { itemId, sessionId } from "@millrace/core/writing";
import type { Fact, SessionUid } from "@millrace/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { item, prompt } from "../testing/fixtures.ts";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";
import type { PostgresStore } from "./postgres-store.ts";

let database: Database;
/** As many processes would be: each with connections of its own, and a memory of its own. */
let stores: readonly PostgresStore[];

beforeAll(async () => {
  database = await openDatabase();
  stores = [0, 1, 2, 3].map((at) =>
    postgresStore({ pool: database.pool({ pipeline: at % 2 === 0, max: 8 }) }),
  );
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

async function newSession(): Promise<SessionUid> {
  return (await stores[0]!.create({ sessionId: sessionId(randomUUID()) })).uid;
}

/** Facts are numbered without holes, and the chain of their hashes is whole. */
async function dense(uid: SessionUid): Promise<readonly Fact[]> {
  const facts = await stores[0]!.read(uid);
  expect(facts.map(({ n }) => n)).toEqual(facts.map((_, at) => at + 1));
  expect(await stores[0]!.verify(facts[0]!.sessionId)).toMatchObject({ ok: true });
  return facts;
}

describe("processes at once", () => {
  it("of which each claims in turn leave exactly one driver each time", async () => {
    const uid = await newSession();

    for (let from = 0; from < 20; from += 1) {
      const answers = await Promise.all(stores.map((store) => store.claim(uid, { from })));
      expect(answers.filter(({ outcome }) => outcome === "claimed")).toHaveLength(1);
    }

    expect(await dense(uid)).toHaveLength(20);
  });

  it("that accept the same body under one key get the same fact", async () => {
    const uid = await newSession();

    for (let at = 0; at < 20; at += 1) {
      const body = prompt(`input_${at}`);
      const answers = await Promise.all(
        stores.map((store) => store.accept(uid, `key_${at}`, body)),
      );
      const facts = answers.map((answer) =>
        answer.outcome === "accepted"
          ? answer.facts[0]
          : "fact" in answer
            ? answer.fact
            : undefined,
      );
      expect(new Set(facts.map((fact) => fact?.n))).toEqual(new Set([at + 1]));
      expect(answers.filter(({ outcome }) => outcome === "accepted")).toHaveLength(1);
    }

    expect(await dense(uid)).toHaveLength(20);
  });

  it("that commit the same item store it once, and all get that one", async () => {
    const uid = await newSession();
    await stores[0]!.claim(uid, { from: 0 });

    for (let generation = 1; generation <= 15; generation += 1) {
      const epoch = packEpoch({ incarnation: 1, generation, attempt: 1 });
      const id = `item_${generation}`;
      await stores[0]!.open(uid, { lane: 0, epoch, itemId: itemId(id) });
      const answers = await Promise.all(
        stores.map((store, at) =>
          store.commit(uid, {
            fact: { type: "item_committed", item: item(id, `of ${at}`), lane: 0, epoch },
          }),
        ),
      );
      const items = answers.map((answer) => {
        if (answer.outcome === "exists") return answer.item;
        const fact = answer.outcome === "committed" ? answer.facts[0] : undefined;
        return fact?.type === "item_committed" ? fact.item : undefined;
      });
      expect(answers.filter(({ outcome }) => outcome === "committed")).toHaveLength(1);
      expect(items).toEqual([items[0], items[0], items[0], items[0]]);
      expect(items[0]).toBeDefined();
    }

    expect(await dense(uid)).toHaveLength(16);
  });

  it("that open one lane leave the highest attempt as its holder", async () => {
    const uid = await newSession();
    await stores[0]!.claim(uid, { from: 0 });

    for (let generation = 1; generation <= 10; generation += 1) {
      const epochs = [3, 1, 4, 2].map((attempt) =>
        packEpoch({ incarnation: 1, generation, attempt }),
      );
      await Promise.all(
        epochs.map((epoch, at) =>
          stores[at]!.open(uid, { lane: 0, epoch, itemId: itemId("item") }),
        ),
      );
      expect(await stores[3]!.floors(uid)).toEqual([{ lane: 0, epoch: epochs[2] }]);
    }
  });

  it("that decide at one head store one decision, and writers beside them lose nothing", async () => {
    const uid = await newSession();
    await stores[0]!.claim(uid, { from: 0 });
    const decide = async (store: SessionStore, by: number): Promise<void> => {
      for (let done = 0; done < 15;) {
        const original = { by, done };
        const answer = await store.append(uid, {
          incarnation: 1,
          head: await store.head(uid),
          bodies: [{ type: "opaque", original }],
        });
        if (answer.outcome === "appended") done += 1;
      }
    };
    const speak = async (store: SessionStore, by: number): Promise<void> => {
      for (let at = 0; at < 15; at += 1) {
        await store.accept(uid, `${by}_${at}`, prompt(`${by}_${at}`));
      }
    };

    await Promise.all(stores.flatMap((store, by) => [decide(store, by), speak(store, by)]));

    expect(await dense(uid)).toHaveLength(1 + 4 * 30);
  });

  it("of which one removes the session leave nothing of it behind", async () => {
    for (let round = 0; round < 10; round += 1) {
      const uid = await newSession();
      await stores[0]!.claim(uid, { from: 0 });
      const writing = stores.map(async (store, by) => {
        for (let at = 0; at < 10; at += 1) {
          await store.accept(uid, `${by}_${at}`, prompt(`${by}_${at}`));
        }
      });

      const settled = Promise.allSettled(writing);
      await new Promise((resolve) => setTimeout(resolve, round * 3));
      await stores[round % 4]!.remove(uid);

      for (const result of await settled) {
        if (result.status === "rejected") {
          expect(result.reason).toMatchObject({ code: "unknown_session" });
        }
      }
      const left = await database.admin(
        `select count(*)::int as facts from millrace.fact where uid = $1`,
        [uid],
      );
      expect(left).toEqual([{ facts: 0 }]);
    }
  });

  it("that create one name make one session", async () => {
    for (let round = 0; round < 10; round += 1) {
      const name = sessionId(randomUUID());
      const made = await Promise.allSettled(
        stores.map((store) => store.create({ sessionId: name })),
      );
      expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    }
  });
});
