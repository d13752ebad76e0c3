import { callId, inputId, itemId, partId } from "@millrace/core/writing";
import type { FactBody } from "@millrace/core/writing";
import type { PeopleFact } from "@millrace/core/ports";
import { assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import {
  answered,
  asked,
  epochOf,
  inputItem,
  intentOf,
  prompt,
  run,
  runFinished,
  settlementOf,
  takenBack,
  textItem,
  turnFinished,
} from "./session-store-bodies.ts";
import { accept, append, claim, claimedCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture, StoreSession } from "./session-store-fixture.ts";

/** The epoch of a client's intent: the highest of its generation, which no writer has. */
const clients = epochOf(1, 4_095);
const runStarted: FactBody = { type: "run_started", runId: run };

/** What a session does is derived from its facts, by one rule. */
export const statusCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("a session runs from its input until its run has ended", async (session) => {
    const seen = [await statusOf(session)];
    await accept(session, "key_1", prompt("input_1"));
    seen.push(await statusOf(session));
    await append(session, [runStarted, inputItem("input_1")]);
    seen.push(await statusOf(session));
    await append(session, [runFinished(epochOf(1))]);

    assertEqual([...seen, await statusOf(session)], ["idle", "running", "running", "idle"], "it");
  }),
  claimedCase("an input that is taken back leaves the session idle", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    await accept(session, "key_2", takenBack("input_1"));

    assertEqual(await statusOf(session), "idle", "the status");
  }),
  claimedCase("a run that waits for decisions alone is paused", async (session) => {
    await append(session, [runStarted, asked("a"), asked("b")]);
    const seen = [await statusOf(session)];
    await accept(session, "key_1", answered("a"));
    seen.push(await statusOf(session)); // its driver carries out what was allowed
    await append(session, [resultOf("call_of_a")]);
    seen.push(await statusOf(session));
    await accept(session, "key_2", answered("b", "deny"));
    seen.push(await statusOf(session));

    assertEqual(seen, ["paused", "running", "paused", "running"], "the statuses");
  }),
  claimedCase("a run with a tool under way is not paused by a question", async (session) => {
    const { store, uid } = session;
    await append(session, [runStarted, asked("a")]);
    const opened = await store.open(uid, {
      lane: 1,
      epoch: epochOf(1),
      itemId: itemId("item_1"),
      intent: intentOf(1, epochOf(1)),
    });
    assertOutcome(opened, "opened", "the tool's lane");
    const during = await statusOf(session);
    const fact = { type: "item_committed", item: textItem("item_1"), lane: 1 } as const;
    const settlement = settlementOf(1);
    await store.commit(uid, { fact: { ...fact, epoch: epochOf(1) }, settlement });

    assertEqual([during, await statusOf(session)], ["running", "paused"], "during and after");
  }),
  claimedCase(
    "a run that waits for a client's answer is paused until it is there",
    async (session) => {
      await append(session, [runStarted, intentOf(1, clients)]);
      const before = await statusOf(session);
      await accept(session, "key_1", answerTo("call_1"));

      assertEqual([before, await statusOf(session)], ["paused", "running"], "before and after");
    },
  ),
  claimedCase("a paused run stays paused while prompts queue behind it", async (session) => {
    await append(session, [runStarted, asked("a")]);
    await accept(session, "key_1", prompt("input_1"));

    assertEqual(await statusOf(session), "paused", "the status");
  }),
  claimedCase("a stop ends the pause, one of another run does not", async (session) => {
    await append(session, [runStarted, asked("a")]);
    await accept(session, "key_1", stop("input_1", "run_0"));
    const other = await statusOf(session);
    await accept(session, "key_2", stop("input_2", run));

    assertEqual([other, await statusOf(session)], ["paused", "running"], "after each");
  }),
  claimedCase("a pause outlives its driver", async (session) => {
    await append(session, [runStarted, asked("a")]);
    await claim(session, 1);

    assertEqual(await statusOf(session), "paused", "the status");
  }),
  claimedCase("the end of a turn or of a run ends what its calls waited for", async (session) => {
    await append(session, [runStarted, asked("a"), turnFinished(epochOf(1))]);
    const turn = await statusOf(session);
    await append(session, [asked("b"), runFinished(epochOf(1))]);

    assertEqual([turn, await statusOf(session)], ["running", "idle"], "after each");
  }),
  claimedCase("a reset gives back the status of the facts that stand", async (session) => {
    await append(session, [runStarted, asked("a")]);
    await accept(session, "key_1", answered("a"));
    await append(session, [runFinished(epochOf(1))]);
    const before = await statusOf(session);
    await claim(session, 1, 3);

    assertEqual([before, await statusOf(session)], ["idle", "running"], "before and after");
    await claim(session, 2, 2);
    assertEqual(await statusOf(session), "running", "of the run alone");
  }),
  claimedCase("a fork has the status of its facts", async (session) => {
    await append(session, [runStarted, asked("a")]);
    const { store, uid } = session;
    const paused = await store.fork(uid, { sessionId: `${session.sessionId} a`, n: 3 });
    const running = await store.fork(uid, { sessionId: `${session.sessionId} b`, n: 2 });

    assertEqual([paused.status, running.status], ["paused", "running"], "the statuses");
    assertEqual(await store.find(paused.sessionId), paused, "what is found");
  }),
];

async function statusOf({ store, sessionId }: StoreSession): Promise<string | undefined> {
  return (await store.find(sessionId))?.status;
}

/** The item that settles a call which was never started. */
function resultOf(call: string): FactBody {
  const text = { text: "done", tool: "delete_file", status: "ok" } as const;
  const part = {
    kind: "tool_result",
    id: partId("part_1"),
    callId: callId(call),
    ...text,
  } as const;
  const item = {
    id: itemId(`item_of_${call}`),
    author: "tool",
    parts: [part],
    stop: "end",
  } as const;
  return { type: "item_committed", item, runId: run };
}

function answerTo(call: string): PeopleFact {
  const input = { kind: "answer", callId: callId(call), output: 1 } as const;
  return { type: "input_accepted", inputId: inputId(`answer_${call}`), input };
}

function stop(id: string, of: string): PeopleFact {
  const input = { kind: "abort", runId: of as typeof run } as const; // any text is an id of a run
  return { type: "input_accepted", inputId: inputId(id), input };
}
