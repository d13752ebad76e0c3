import { randomUUID } from "node:crypto";
import { itemId, packEpoch, runId, sessionId } from "@millrace/core";
import type { SessionUid } from "@millrace/core";
import { describe, expect, it } from "vitest";
import { item, prompt } from "../testing/scene.ts";
import { openDatabase } from "../testing/postgres.ts";
import { patience } from "../testing/patience.ts";
import { postgresStore } from "./postgres-store.ts";

const sessions = 16;
const calls = 60;
const rounds = 4;

/** Calls each second, of as many sessions at once, each of which waits for its answers. */
async function rate(work: (session: number, at: number) => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await Promise.all(
    Array.from({ length: sessions }, async (_, session) => {
      for (let at = 0; at < calls; at += 1) await work(session, at);
    }),
  );
  return (sessions * calls * 1_000) / (performance.now() - start);
}

describe("the cost of a call", () => {
  it(
    "is a small multiple of a bare insert of one row",
    async () => {
      await using database = await openDatabase();
      const pool = database.pool({ max: sessions });
      await database.admin(
        "create table public.bare (uid text, n bigint, body text, primary key (uid, n))",
      );
      await database.admin(`grant insert on public.bare to ${database.role}`);
      const store = postgresStore({ pool });
      const body = JSON.stringify(prompt("x"));
      const text = "insert into public.bare (uid, n, body) values ($1, $2, $3)";
      const best = { insert: 0, append: 0, accept: 0, "open and commit": 0, "not remembered": 0 };
      for (let round = 0; round < rounds; round += 1) {
        const uids: SessionUid[] = [];
        for (let at = 0; at < sessions; at += 1) {
          const { uid } = await store.create({ sessionId: sessionId(randomUUID()) });
          await store.claim(uid, { from: 0 });
          uids.push(uid);
        }
        const uidOf = (session: number): SessionUid => uids[session] as SessionUid;
        const keep = (what: keyof typeof best, figure: number): void => {
          best[what] = Math.max(best[what], figure);
        };
        keep(
          "insert",
          await rate((session, at) =>
            pool.query({ name: "bare", text, values: [uidOf(session), at, body] }),
          ),
        );
        keep(
          "append",
          await rate((session, at) =>
            store.append(uidOf(session), {
              incarnation: 1,
              head: at + 1,
              bodies: [{ type: "run_started", runId: runId("run_1") }],
            }),
          ),
        );
        keep(
          "accept",
          await rate((session, at) => store.accept(uidOf(session), `${at}`, prompt(`${at}`))),
        );
        keep(
          "open and commit",
          2 *
            (await rate(async (session, at) => {
              const epoch = packEpoch({ incarnation: 1, generation: at + 1, attempt: 1 });
              const id = `item_${at}`;
              await store.open(uidOf(session), { lane: 0, epoch, itemId: itemId(id) });
              return store.commit(uidOf(session), {
                fact: { type: "item_committed", item: item(id), lane: 0, epoch },
              });
            })),
        );
        const fresh = Array.from({ length: sessions * calls }, () => postgresStore({ pool }));
        keep(
          "not remembered",
          await rate((session, at) =>
            fresh[session * calls + at]!.accept(uidOf(session), `b${at}`, prompt(`b${at}`)),
          ),
        );
      }
      const ratios = Object.entries(best).map(
        ([what, figure]) =>
          `${what} ${Math.round(figure)}/s (${(best.insert / figure).toFixed(2)})`,
      );
      console.log(`figure: calls each second, and how much dearer: ${ratios.join(", ")}`);
      // No promise, a guard: it is 3 to 6 here, more where PostgreSQL is quick and Node is not.
      expect(best.insert / best.append).toBeLessThan(9);
    },
    patience * 5,
  );
});
