import { inputId, itemId } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import type { CommitRequest } from "@millrace/core/ports";
import { assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import {
  bodyOf,
  committed,
  epochOf,
  prompt,
  run,
  settlementOf,
  textItem,
  turn,
} from "./session-store-bodies.ts";
import {
  accept,
  append,
  assertDense,
  assertUnchanged,
  claimedCase,
  open,
} from "./session-store-fixture.ts";
import type { StoreSession, SessionStoreFixture } from "./session-store-fixture.ts";

const epoch = epochOf(1);

function replaced(item: Item): CommitRequest {
  return { fact: { type: "item_replaced", item, lane: 0, epoch, runId: run, turnId: turn } };
}

/** Facts that are stored with an item, or in its place. */
export const settlementCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("an item and its settlement are neighbours", async (session) => {
    await open(session, 1, epoch);
    const usage = { inputTokens: 5, outputTokens: 7, cachedTokens: 0 };
    const settlement = [
      ...settlementOf(1),
      { type: "usage_reported", runId: run, epoch, usage } as const,
    ];

    const answer = await session.store.commit(session.uid, { ...committed(1, epoch), settlement });

    const { facts } = assertOutcome(answer, "committed", "the commit");
    assertEqual(facts.map(bodyOf), [committed(1, epoch).fact, ...settlement], "the facts");
    assertEqual(await session.store.read(session.uid, { after: 1 }), facts, "what is read");
  }),
  claimedCase("nothing gets between an item and its settlement", async (session) => {
    const lanes = Array.from({ length: 10 }, (_, lane) => lane + 1);
    for (const lane of lanes) await open(session, lane, epochOf(lane));

    await Promise.all(
      lanes.flatMap((lane): readonly Promise<unknown>[] => [
        session.store.commit(session.uid, {
          ...committed(lane, epochOf(lane)),
          settlement: settlementOf(lane),
        }),
        accept(session, `key_${lane}`, prompt(`input_${lane}`)),
      ]),
    );

    const facts = await assertDense(session);
    for (const [at, fact] of facts.entries()) {
      if (fact.type !== "item_committed") continue;
      const next = facts[at + 1];
      assertEqual(
        next?.type === "tool_execution_finished" ? next.callId : next?.type,
        `call_${fact.lane}`,
        `what follows the item of lane ${fact.lane}`,
      );
    }
    assertEqual(facts.length, 31, "how many facts there are");
  }),
  claimedCase("a fenced commit stores no settlement either", async (session) => {
    await open(session, 1, epochOf(2));
    const before = await session.store.read(session.uid);

    await session.store.commit(session.uid, {
      ...committed(1, epoch),
      settlement: settlementOf(1),
    });

    await assertUnchanged(session, before, "the fenced commit");
  }),
  claimedCase("a stop raises nothing: the holder commits what came as aborted", async (session) => {
    await append(session, [{ type: "run_started", runId: run }]);
    await open(session, 0, epoch);

    await stop(session);

    assertEqual(await session.store.floors(session.uid), [{ lane: 0, epoch }], "the floors");
    const answer = await session.store.commit(session.uid, committed(0, epoch, aborted));
    const { facts } = assertOutcome(answer, "committed", "the aborted item");
    assertEqual(facts.map(bodyOf), [committed(0, epoch, aborted).fact], "the fact");
  }),
  claimedCase("after a stop the next attempt may end the item too", async (session) => {
    await open(session, 0, epochOf(1, 1));
    await stop(session);
    await open(session, 0, epochOf(1, 2));

    const answer = await session.store.commit(session.uid, committed(0, epochOf(1, 2), aborted));

    assertOutcome(answer, "committed", "the aborted item");
  }),
  claimedCase("an item may end with other content than was streamed", async (session) => {
    await open(session, 0, epoch);

    const answer = await session.store.commit(session.uid, replaced(textItem("item_0", "instead")));

    const { facts } = assertOutcome(answer, "committed", "the replacement");
    assertEqual(facts.map(bodyOf), [replaced(textItem("item_0", "instead")).fact], "the fact");
    assertEqual(await session.store.floors(session.uid), [], "the floors");
    const again = await session.store.open(session.uid, {
      lane: 0,
      epoch: epochOf(2),
      itemId: itemId("item_0"),
    });
    assertEqual(again, { outcome: "exists", item: textItem("item_0", "instead") }, "the item");
  }),
  claimedCase("a replacement needs the lane as a commit does", async (session) => {
    await open(session, 0, epochOf(2));

    const answer = await session.store.commit(session.uid, replaced(textItem("item_0")));

    assertOutcome(answer, "fenced", "the replacement by an older attempt");
  }),
  claimedCase("the driver may exchange an item that was committed", async (session) => {
    await open(session, 0, epoch);
    await session.store.commit(session.uid, committed(0, epoch));

    await append(session, [{ type: "item_replaced", item: textItem("item_0", "instead") }]);

    const answer = await session.store.commit(session.uid, committed(0, epoch));
    assertEqual(answer, { outcome: "exists", item: textItem("item_0", "instead") }, "the item");
  }),
];

const aborted: Item = {
  id: itemId("item_0"),
  author: "model",
  parts: textItem("item_0", "as far as it c").parts,
  stop: "aborted",
  cause: { code: "stopped", message: "a person stopped the run" },
};

async function stop(session: StoreSession): Promise<void> {
  const input = { kind: "abort", reason: "enough" } as const;
  await accept(session, "stop", { type: "input_accepted", inputId: inputId("stop"), input });
}
