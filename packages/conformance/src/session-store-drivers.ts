import { inputId } from "@millrace/core/writing";
import type { FactBody } from "@millrace/core/writing";
import type { DriverIndex, DueOptions, DueSession, LivingSign } from "@millrace/core/ports";
import { assert, assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import { inputItem, prompt, run, runFinished, takenBack } from "./session-store-bodies.ts";
import { accept, append, claim, claimedCase, newName, storeCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture, StoreSession } from "./session-store-fixture.ts";

const started: FactBody = { type: "run_started", runId: run };
const stopped: FactBody = { type: "run_finished", runId: run, outcome: "aborted", closes: 0 };

const workCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("a session has work from its input until its run has ended", async (session) => {
    const due = [await isDue(session)];
    await accept(session, "key", prompt("input"));
    due.push(await isDue(session));
    await append(session, [started, inputItem("input")]);
    due.push(await isDue(session));
    await append(session, [runFinished(0)]);
    due.push(await isDue(session));

    assertEqual(due, [false, true, true, false], "whether it is listed");
  }),
  storeCase("an input that is taken back is no work", async (session) => {
    await accept(session, "key_1", prompt("input"));
    await accept(session, "key_2", takenBack("input"));

    assertEqual(await isDue(session), false, "whether it is listed");
  }),
  storeCase("an abort alone is no work", async (session) => {
    const input = { kind: "abort" } as const;
    await accept(session, "key", { type: "input_accepted", inputId: inputId("stop"), input });

    assertEqual(await isDue(session), false, "whether it is listed");
  }),
  claimedCase("an input that comes during a run is work after it", async (session) => {
    await append(session, [started]);
    await accept(session, "key", prompt("input"));
    await append(session, [runFinished(0)]);

    assertEqual(await isDue(session), true, "whether it is listed");
  }),
  claimedCase("after a run that was stopped only prompts are work", async (session) => {
    const input = { kind: "steer", parts: [] } as const;
    await append(session, [started]);
    await accept(session, "key_1", { type: "input_accepted", inputId: inputId("steer"), input });
    await append(session, [stopped]);
    assertEqual(await isDue(session), false, "with a steer");

    await append(session, [started]);
    await accept(session, "key_2", prompt("input"));
    await append(session, [stopped]);
    assertEqual(await isDue(session), true, "with a prompt");
  }),
  claimedCase("a reset gives back the work of the facts that stand", async (session) => {
    await accept(session, "key", prompt("input"));
    await append(session, [started, inputItem("input"), runFinished(0)]);
    assertEqual(await isDue(session), false, "before the reset");

    await claim(session, 1, 2);

    assertEqual(await isDue(session), true, "after the reset");
  }),
  claimedCase("a fork has the work of its facts and no driver", async (session) => {
    const { store, uid } = session;
    await claimAs(session, 1, newDriver());
    await accept(session, "key", prompt("input"));
    await append(session, [started, inputItem("input"), runFinished(0)], 2);
    const [none, work] = [
      await store.fork(uid, { sessionId: newName(), n: 6 }),
      await store.fork(uid, { sessionId: newName(), n: 4 }),
    ];

    assertEqual(await isDue({ store, ...none }), false, "a fork behind the run's end");
    const { sign } = await dueOf({ store, ...work });
    assertEqual(sign, undefined, "the driver of a fork in the run");
    const added = [prompt("input_2")];
    const given = await store.fork(uid, { sessionId: newName(), n: 6, added });
    assertEqual(await isDue({ store, ...given }), true, "a fork with an input");
  }),
  claimedCase("a session that is removed has no work and no driver", async (session) => {
    await claimAs(session, 1, newDriver());
    await accept(session, "key", prompt("input"));
    await session.store.remove(session.uid);

    assertEqual(await isDue(session), false, "whether it is listed");
    assertEqual(await signOf(session), undefined, "its driver");
  }),
];

const signCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("a session with work is listed with head, incarnation and run", async (session) => {
    const { uid, sessionId } = session;
    await accept(session, "key", prompt("input"));
    const { tenant: _, ...first } = await dueOf(session);
    assertEqual(first, { uid, sessionId, head: 1, incarnation: 0 }, "without a claim");

    const driver = newDriver();
    await claimAs(session, 0, driver);
    const { tenant: __, ...second } = await dueOf(session);
    const sign = { driver };
    assertEqual(second, { uid, sessionId, head: 2, incarnation: 1, sign }, "with a claim");

    await append(session, [started]);
    assertEqual((await dueOf(session)).run, run, "the run that is on");
  }),
  storeCase("the driver is that of the last claim", async (session) => {
    const [one, two] = [newDriver(), newDriver()];
    assertEqual(await signOf(session), undefined, "before any claim");
    await claimAs(session, 0, one);
    assertEqual(await signOf(session), { driver: one }, "after the first claim");
    await claimAs(session, 1, two);
    assertEqual(await signOf(session), { driver: two }, "after the second claim");

    const late = await session.store.claim(session.uid, { from: 1, head: 2, driver: one });
    assertOutcome(late, "moved", "a claim that comes too late");
    assertEqual(await signOf(session), { driver: two }, "after a refused claim");

    await claim(session, 2);
    assertEqual(await signOf(session), undefined, "after a claim without a name");
  }),
  storeCase("the sign of an engine's claim names its run", async (session) => {
    const { store, uid } = session;
    const [driver, by] = [newDriver(), `run_${crypto.randomUUID()}`];
    await accept(session, "key", prompt("input"));
    assertOutcome(await store.claim(uid, { from: 0, driver, by }), "claimed", "the claim");
    await indexOf(session).beat(driver);
    assertEqual(await signOf(session), { driver, beat: 1, by }, "the sign");
    assertEqual((await dueOf(session)).sign, { driver, beat: 1, by }, "the sign in the list");

    await claimAs(session, 1, driver);
    assertEqual(await signOf(session), { driver, beat: 1 }, "after another claim");
    assertEqual((await dueOf(session)).sign, { driver, beat: 1 }, "the same in the list");
    const late = await store.claim(uid, { from: 2, driver: newDriver(), by });
    assertOutcome(late, "moved", "a second claim of the run");
    assertEqual(await signOf(session), { driver, beat: 1 }, "after a refused claim");
  }),
  storeCase("an engine's claim without a driver is a sign by its run", async (session) => {
    const by = `run_${crypto.randomUUID()}`;
    const answer = await session.store.claim(session.uid, { from: 0, by });
    assertOutcome(answer, "claimed", "the claim");
    assertEqual(await signOf(session), { driver: by, by }, "the sign");

    await append(session, [started]);
    assertEqual((await dueOf(session)).sign, { driver: by, by }, "the sign in the list");
    await append(session, [
      { type: "session_released", incarnation: 1, runId: run, reason: "shutdown" },
    ]);
    assertEqual(await signOf(session), undefined, "the sign after a release");
    assertEqual((await dueOf(session)).sign, undefined, "the same in the list");
  }),
  storeCase("a release leaves the session without a driver", async (session) => {
    await claimAs(session, 0, newDriver());
    await append(session, [started]);
    await append(session, [
      { type: "session_released", incarnation: 1, runId: run, reason: "shutdown" },
    ]);

    assertEqual(await signOf(session), undefined, "its driver");
    assertEqual((await dueOf(session)).sign, undefined, "the sign in the list");
  }),
  storeCase("a beat counts from 1, for all sessions of its driver", async (session) => {
    const other = { ...session, ...(await session.store.create({ sessionId: newName() })) };
    const [driver, stranger] = [newDriver(), newDriver()];
    const { beat } = indexOf(session);
    await claimAs(session, 0, driver);
    await claimAs(other, 0, driver);
    await accept(other, "key", prompt("input"));
    for (const count of [1, 2, 3]) {
      await beat(driver);
      await beat(stranger);
      assertEqual(await signOf(session), { driver, beat: count }, "the sign of the one");
      assertEqual((await dueOf(other)).sign, { driver, beat: count }, "the sign of the other");
    }
    await Promise.all(Array.from({ length: 10 }, () => beat(driver)));
    assertEqual(await signOf(session), { driver, beat: 13 }, "after many at once");
  }),
  storeCase("a driver that leaves has no beat, and keeps its claims", async (session) => {
    const driver = newDriver();
    const { beat, leave } = indexOf(session);
    await claimAs(session, 0, driver);
    await beat(driver);
    await beat(driver);

    await leave(driver);
    await leave(driver);

    assertEqual(await signOf(session), { driver }, "after it has left");
    await beat(driver);
    assertEqual(await signOf(session), { driver, beat: 1 }, "after it has come back");
  }),
];

const listCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("a driver can leave its own sessions out of the list", async (session) => {
    const [driver, other] = [newDriver(), newDriver()];
    await accept(session, "key", prompt("input"));
    assertEqual(await isDue(session, { except: driver }), true, "without a claim");
    await claimAs(session, 0, driver);
    assertEqual(await isDue(session, { except: driver }), false, "after its own claim");
    assertEqual(await isDue(session, { except: other }), true, "for another driver");
    assertEqual(await isDue(session), true, "for one that leaves out nothing");
  }),
  storeCase("sessions are listed in the order in which their work began", async (session) => {
    const sessions = [session];
    for (let more = 0; more < 3; more += 1) {
      sessions.push({ ...session, ...(await session.store.create({ sessionId: newName() })) });
    }
    const order = async (): Promise<readonly number[]> =>
      (await everyDue(session)).flatMap(({ uid }) => {
        const at = sessions.findIndex((one) => one.uid === uid);
        return at < 0 ? [] : [at];
      });
    for (const at of [2, 0, 3, 1]) {
      await accept(sessions[at] as StoreSession, "key", prompt("input"));
    }
    assertEqual(await order(), [2, 0, 3, 1], "after an input each");

    const third = sessions[2] as StoreSession;
    await accept(third, "key_2", prompt("input_2"));
    await claimAs(third, 0, newDriver());
    await append(third, [started, inputItem("input")]);
    assertEqual(await order(), [2, 0, 3, 1], "while the work of one goes on");

    await append(third, [inputItem("input_2"), runFinished(0)]);
    await accept(third, "key_3", prompt("input_3"));
    assertEqual(await order(), [0, 3, 1, 2], "after one began anew");
  }),
  storeCase("a limit cuts the list at its end", async (session) => {
    for (let more = 0; more < 3; more += 1) {
      const made = await session.store.create({ sessionId: newName() });
      await accept({ ...session, ...made }, "key", prompt("input"));
    }
    const all = (await everyDue(session)).map(({ uid }) => uid);

    for (const limit of [1, 2, 3]) {
      const some = await indexOf(session).due({ limit });
      assertEqual(
        some.map(({ uid }) => uid),
        all.slice(0, limit),
        `the first ${limit}`,
      );
    }
  }),
];

/** The index knows which sessions have work, which driver has claimed each, and how often it has beaten. */
export const driverCases: readonly Case<SessionStoreFixture>[] = [
  ...workCases,
  ...signCases,
  ...listCases,
];

function newDriver(): string {
  return `driver_${crypto.randomUUID()}`;
}

function indexOf({ store }: Pick<StoreSession, "store">): DriverIndex {
  assert(store.drivers !== undefined, "the store has no drivers");
  return store.drivers;
}

/** Claims the session at its head, under the name of a driver. Must succeed. */
async function claimAs(session: StoreSession, from: number, driver: string): Promise<void> {
  const { store, uid } = session;
  const head = await store.head(uid);
  const answer = await store.claim(uid, { from, head, driver });
  assertOutcome(answer, "claimed", `the claim of ${driver}`);
}

async function signOf(session: StoreSession): Promise<LivingSign | undefined> {
  return indexOf(session).find(session.uid);
}

/** All sessions with work, those of earlier cases too. */
async function everyDue(
  session: Pick<StoreSession, "store">,
  options: DueOptions = {},
): Promise<readonly DueSession[]> {
  return indexOf(session).due({ limit: 100_000, ...options });
}

async function isDue(session: StoreSession, options?: DueOptions): Promise<boolean> {
  return (await everyDue(session, options)).some(({ uid }) => uid === session.uid);
}

async function dueOf(session: StoreSession): Promise<DueSession> {
  const found = (await everyDue(session)).find(({ uid }) => uid === session.uid);
  assert(found !== undefined, "the session is not listed");
  return found;
}
