import type { SessionUid } from "@millrace/core";
import type { Batch, EventLog } from "@millrace/core/ports";
import type { AppendOutcome } from "@millrace/core/store-kit";
import { assert, assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import {
  assertHeld,
  assertRefused,
  batchAt,
  epochOf,
  laneOf,
  logCase,
  nameOf,
  newUid,
  store,
} from "./event-log-fixture.ts";
import { withKeys } from "./with-keys.ts";
import type { EventLogFixture, LosableEventLogFixture } from "./event-log-fixture.ts";
import { tailSession } from "./event-log-received.ts";

const one = epochOf(1);
const two = epochOf(2);

/** Concurrent writers produce one order, without a superseded writer in it. */
export const concurrencyCases: readonly Case<EventLogFixture>[] = [
  logCase(
    "of two writers at once the lower epoch is refused from some point on",
    async (log, uid) => {
      const first = writeAll(log, uid, laneOf(one, 60));
      await store(log, uid, []);
      const second = writeAll(log, uid, laneOf(two, 60));

      const [zombie, holder] = await Promise.all([first, second]);

      assert(
        holder.every((answer) => answer.outcome === "stored"),
        "the higher epoch is never refused",
      );
      const refused = zombie.findIndex((answer) => answer.outcome === "refused");
      assert(
        refused < 0 || zombie.slice(refused).every((answer) => answer.outcome === "refused"),
        "once refused, the zombie stays refused",
      );
      await assertHeld(log, uid, laneOf(two, 60), { after: { epoch: one, seq: 1_000 } });
      await assertRefused(log, uid, batchAt({ epoch: one, first: 61 }), { epoch: two, seq: 60 });
    },
  ),
  logCase("a tail receives nothing of a zombie after its successor's opening", async (log, uid) => {
    using received = await tailSession(log, uid);
    await store(log, uid, laneOf(one, 0));

    const zombie = writeAll(log, uid, laneOf(one, 60).slice(1));
    const holder = writeAll(log, uid, laneOf(two, 60));
    const answers = (await Promise.all([zombie, holder])).flat();

    const stored = answers.filter((answer) => answer.outcome === "stored").length;
    const epochs = ((await received.until(stored + 1)) as readonly Batch[]).map(
      ({ epoch }) => epoch,
    );
    const opening = epochs.indexOf(two);
    assert(!epochs.includes(one, opening), "nothing of the lower epoch after the higher one");
  }),
  logCase("appends sent all at once leave an order without doubles", async (log, uid) => {
    await store(log, uid, laneOf(one, 0));
    const batches = laneOf(one, 40).slice(1);

    const answers = await Promise.all(
      [...batches, ...batches].map((batch) => log.append(uid, batch)),
    );

    const held = await log.read(uid, 0, { epoch: one, seq: 0 });
    const seqs = held.map((batch) => batch.last);
    assert(
      seqs.every((seq, at) => at === 0 || seq > (seqs[at - 1] ?? 0)),
      `increasing: ${seqs.join(" ")}`,
    );
    const stored = answers.filter((answer) => answer.outcome === "stored").length;
    assertEqual(stored, held.length, "as many are held as were answered with stored");
  }),
  logCase("two openings of one epoch at once: exactly one is stored", async (log, uid) => {
    const answers = await Promise.all([
      log.append(uid, batchAt({ epoch: one, first: 0 })),
      log.append(uid, batchAt({ epoch: one, first: 0 })),
    ]);

    assertEqual(
      answers.map(({ outcome }) => outcome).toSorted(),
      ["refused", "stored"],
      "the answers",
    );
    await assertHeld(log, uid, laneOf(one, 0));
  }),
];

async function writeAll(
  log: EventLog,
  uid: SessionUid,
  batches: readonly Batch[],
): Promise<readonly AppendOutcome[]> {
  const answers: AppendOutcome[] = [];
  for (const batch of batches) answers.push(await log.append(uid, batch));
  return answers;
}

/** What a log may lose at any time, and what must still hold then. */
export const lossCases: readonly Case<LosableEventLogFixture>[] = [
  lossCase(
    "a lost lane answers absent until it is written again from 0",
    async (log, uid, lose) => {
      await store(log, uid, laneOf(one, 5));
      await lose(uid, 0);

      await assertHeld(log, uid, []);
      const answer = await log.append(uid, batchAt({ epoch: one, first: 6 }));
      assertOutcome(answer, "absent", "an append to a lost lane");
      const reseed = batchAt({ epoch: one, first: 0, last: 7 });
      await store(log, uid, [reseed, batchAt({ epoch: one, first: 8 })]);
      await assertHeld(log, uid, [reseed, batchAt({ epoch: one, first: 8 })]);
    },
  ),
  lossCase("losing one lane leaves the others", async (log, uid, lose) => {
    await store(log, uid, [...laneOf(one, 3, 0), ...laneOf(one, 3, 1)]);
    await lose(uid, 0);

    await assertHeld(log, uid, [], { lane: 0 });
    await assertHeld(log, uid, laneOf(one, 3, 1), { lane: 1 });
  }),
  lossCase(
    "losing a session loses all of its lanes and no other session's",
    async (log, uid, lose) => {
      const other = newUid();
      await store(log, uid, [...laneOf(one, 3, 0), ...laneOf(one, 3, 1)]);
      await store(log, other, laneOf(one, 2));
      await lose(uid);

      await assertHeld(log, uid, [], { lane: 0 });
      await assertHeld(log, uid, [], { lane: 1 });
      await assertHeld(log, other, laneOf(one, 2));
    },
  ),
  lossCase(
    "a tail that was open receives what is written after the loss",
    async (log, uid, lose) => {
      await store(log, uid, laneOf(one, 3));
      using received = await tailSession(log, uid);
      await lose(uid);

      const reseed = batchAt({ epoch: one, first: 0, last: 4 });
      await store(log, uid, [reseed]);

      const all = (await received.until(1)) as readonly Batch[];
      assertEqual(all.map(nameOf), [nameOf(reseed)], "what was received");
    },
  ),
];

function lossCase(
  name: string,
  run: (
    log: EventLog,
    uid: SessionUid,
    lose: (uid: SessionUid, lane?: number) => Promise<void>,
  ) => Promise<void>,
): Case<LosableEventLogFixture> {
  return {
    name,
    run: async (fixture) => {
      await using opened = await fixture.open();
      await run(withKeys(opened.log), newUid(), opened.lose);
    },
  };
}
