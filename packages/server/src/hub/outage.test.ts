import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { manualClock } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { createClient } from "../testing/client.ts";
import { expectStoredState, openHubFixture } from "../testing/hub-fixture.ts";
import { laneText } from "../testing/lane-text.ts";
import { SessionFixture } from "../testing/session-fixture.ts";
import { createHub } from "./hub.ts";

test("a broken subscription is renewed once for all viewers, which stay and get what they missed", async () => {
  const { session, hub, settle } = await openHubFixture();
  const clients = Array.from({ length: 100 }, () => createClient(hub, session));
  const writer = await session.start();
  await writer.write("before, ");
  await settle();
  for (let round = 0; round < 3; round += 1) {
    session.losesMessages = true;
    await writer.write(`lost ${round}, `);
    await session.acceptInput();
    await settle();
    session.losesMessages = false;
    session.breakTails();
    await session.clock.advance(100);
    await writer.write(`after ${round}, `);
    await settle();
  }

  const text = "before, lost 0, after 0, lost 1, after 1, lost 2, after 2, ";
  expect(clients.map((client) => laneText(client.state()))).toEqual(clients.map(() => text));
  expect(clients.every((client) => client.ended() === undefined)).toBe(true);
  expect(clients.every((client) => client.snapshots() === 1)).toBe(true);
  expect(session.counts.tails).toBe(4);
  expect(session.counts.reads).toBe(4);
  await expectStoredState(session, clients);
});

test("a lane that the log has lost is requested once, for any number of viewers", async () => {
  const { session, hub, settle } = await openHubFixture();
  const writer = await session.start();
  await writer.write("before, ");
  session.memory.lose(session.uid);
  const clients = Array.from({ length: 200 }, () => createClient(hub, session));
  await settle();
  await writer.write("after");
  await session.clock.advance(1_100);

  expect(clients.map((client) => laneText(client.state()))).toEqual(
    clients.map(() => "before, after"),
  );
  expect(session.counts.nudges).toBe(1);
});

test("a lane that can't be read is requested once a second until its writer answers", async () => {
  const { session, hub, settle } = await openHubFixture();
  const writer = await session.start();
  await writer.write("a ");
  session.logEmpty = true;
  session.losesNudges = true;
  const client = createClient(hub, session);
  await settle();
  for (let batch = 0; batch < 5; batch += 1) await writer.write("b ");
  await settle();
  expect(session.counts.nudges).toBe(1);
  await session.clock.advance(1_000);
  await writer.write("c ");
  await settle();
  expect(session.counts.nudges).toBe(2);
  session.losesNudges = false;
  await session.clock.advance(1_000);
  await writer.write("d");
  await settle();

  expect(session.counts.nudges).toBe(3);
  expect(laneText(client.state())).toBe("a b b b b b c d");
  expect(client.ended()).toBeUndefined();
});

test("a superseded writer's batches in a log without its fence are not shown to a viewer that joins", async () => {
  const { session, hub, settle } = await openHubFixture();
  const zombie = await session.start();
  await zombie.write("undead");
  const holder = await session.start();
  await holder.write("");
  await settle();
  session.memory.lose(session.uid);
  await zombie.write(", still");
  expect(await session.memory.read(session.uid, 0)).toHaveLength(1);
  session.losesNudges = true;
  const client = createClient(hub, session);
  await settle();

  expect([client.messages(), client.state().lanes]).toEqual([1, []]);
  await holder.write("alive ");
  await settle();
  expect([client.messages(), client.state().lanes]).toEqual([1, []]);
  session.losesNudges = false;
  await session.clock.advance(1_000);
  await holder.write("again");
  await settle();
  expect(laneText(client.state())).toBe("alive again");
});

test("a slow read of the store does not undo what came after it", async () => {
  const { session, hub, settle } = await openHubFixture();
  const client = createClient(hub, session);
  await settle();
  session.losesMessages = true;
  await session.acceptInput();
  await session.claim(1);
  const answer = Promise.withResolvers<void>();
  session.heldRead = answer.promise;
  await session.clock.advance(5_000);
  expect(session.heldRead).toBeUndefined();
  session.losesMessages = false;
  await session.acceptInput();
  await settle();
  answer.resolve();
  await settle();

  await expectStoredState(session, [client]);
});

test("a store that does not answer for a while ends no viewer", async () => {
  const { session, hub, settle } = await openHubFixture();
  const client = createClient(hub, session);
  const writer = await session.start();
  await settle();
  session.storeAway = true;
  await session.clock.advance(5_000);
  await writer.write("goes on");
  await settle();
  session.storeAway = false;

  await expectStoredState(session, [client]);
  expect(client.ended()).toBeUndefined();
});

test("a log that is lost with its subscription is filled by its writers, and no text leaves a screen", async () => {
  const { session, hub, settle } = await openHubFixture();
  const client = createClient(hub, session);
  const writer = await session.start();
  await writer.write("before, ");
  await settle();
  session.losesMessages = true;
  await writer.write("lost, the last that is said for long");
  session.losesMessages = false;
  session.memory.lose(session.uid);
  session.losesNudges = true; // the first request is lost
  session.breakTails();
  await session.clock.advance(100);
  expect(laneText(client.state())).toBe("before, ");
  expect(session.counts.nudges).toBe(1);
  session.losesNudges = false;
  await session.clock.advance(5_000);

  expect(laneText(client.state())).toBe("before, lost, the last that is said for long");
  expect([client.ended(), client.snapshots(), session.counts.nudges]).toEqual([undefined, 1, 2]);
});

test("a lost request is repeated, though the store could not name the open lanes at the poll in between", async () => {
  const session = await SessionFixture.open();
  let failing = false;
  const floors: SessionStore["floors"] = (uid) =>
    failing ? Promise.reject(new Error("away")) : session.store.floors(uid);
  const { log, clock } = session;
  const hub = createHub({ store: { ...session.store, floors }, log, clock });
  const client = createClient(hub, session);
  const writer = await session.start();
  await writer.write("before, ");
  await clock.advance(1);
  session.losesMessages = true;
  await writer.write("lost");
  session.losesMessages = false;
  session.memory.lose(session.uid);
  session.losesNudges = true; // the request is lost
  session.breakTails();
  await clock.advance(100);
  session.losesNudges = false;
  failing = true;
  await clock.advance(5_000);
  expect([laneText(client.state()), session.counts.nudges]).toEqual(["before, ", 1]);
  failing = false;
  await clock.advance(5_000);

  expect(laneText(client.state())).toBe("before, lost");
  expect([client.ended(), client.snapshots(), session.counts.nudges]).toEqual([undefined, 1, 2]);
});

test("a renewed subscription requests no lane that the log has whole", async () => {
  const { session, hub } = await openHubFixture();
  const client = createClient(hub, session);
  const writer = await session.start();
  await writer.write("all of it");
  await session.clock.advance(1_000);
  expect(laneText(client.state())).toBe("all of it");
  const messages = client.messages();
  session.breakTails();
  await session.clock.advance(10_000);

  expect([client.messages(), session.counts.nudges, session.counts.tails]).toEqual([
    messages,
    0,
    2,
  ]);
});

test("while the log is away it is retried ever less often, and facts come by polls", async () => {
  const { session, hub, settle } = await openHubFixture();
  const client = createClient(hub, session);
  const writer = await session.start();
  await settle();
  session.logAway = true;
  session.breakTails();
  await session.acceptInput();
  await session.clock.advance(1_000);
  await expectStoredState(session, [client]);
  await session.clock.advance(59_000);
  // After 0.1, 0.2, 0.4, 0.8, 1.6, 3.2 s, and then every 5 s; or after half of that, as chance has it.
  expect(session.counts.tails).toBeGreaterThanOrEqual(1 + 6 + 10);
  expect(session.counts.tails).toBeLessThanOrEqual(1 + 7 + 22);
  await writer.write("said meanwhile, ");
  session.logAway = false;
  await session.clock.advance(5_000);
  await writer.write("and after");
  await settle();

  expect(laneText(client.state())).toBe("said meanwhile, and after");
  expect([client.ended(), client.snapshots()]).toEqual([undefined, 1]);
});

test("a store that is away while the log breaks, or while a viewer with a later cursor joins, ends no viewer", async () => {
  const { session, hub, settle } = await openHubFixture();
  const other = createHub({ store: session.truth, log: session.memory, clock: session.clock });
  const [client, ahead] = [createClient(hub, session), createClient(other, session)];
  await settle();
  session.losesMessages = true;
  const writer = await session.start();
  await writer.write("heard elsewhere, ");
  await settle();
  session.storeAway = true;
  const back = createClient(hub, session, { state: ahead.state(), cursor: ahead.cursor() });
  session.losesMessages = false;
  session.breakTails();
  await session.clock.advance(3_000);
  expect([laneText(client.state()), laneText(back.state())]).toEqual([
    undefined,
    "heard elsewhere, ",
  ]);
  session.storeAway = false;
  await session.clock.advance(5_000);
  await writer.write("and here");
  await settle();

  const clients = [client, back];
  expect(clients.map((one) => laneText(one.state()))).toEqual(
    clients.map(() => "heard elsewhere, and here"),
  );
  await expectStoredState(session, clients);
});

test("a session that is removed while the log is away ends its viewers", async () => {
  const { session, hub, settle } = await openHubFixture();
  const client = createClient(hub, session);
  await settle();
  session.breakTails();
  await session.truth.remove(session.uid);
  await session.clock.advance(1_000);

  expect([client.ended(), hub.sessions()]).toEqual(["ended", 0]);
});

test("a viewer that comes while the log is away is served from the store at once, and then every second", async () => {
  const { session, hub } = await openHubFixture();
  const writer = await session.start();
  await writer.write("before, ");
  session.leaveLog();
  const client = createClient(hub, session);
  await session.clock.advance(0);
  await expectStoredState(session, [client]);
  await session.acceptInput();
  await session.clock.advance(1_000);
  await expectStoredState(session, [client]);
  expect(client.state().lanes).toEqual([]);
  session.logAway = false;
  await session.clock.advance(5_000);
  await writer.write("after");
  await session.clock.advance(1);

  expect(laneText(client.state())).toBe("before, after");
  expect([client.snapshots(), client.repeated()]).toEqual([1, 0]);
});

test("a viewer that is sent facts while the lanes were read in part is sent every lane later", async () => {
  const session = await SessionFixture.open();
  const writers = [await session.start(1), await session.start(2)];
  for (const { lane, write } of writers) await write(`lane ${lane}, `);
  let failing = true;
  const read: EventLog["read"] = (uid, lane, after) =>
    failing && lane === 2 ? Promise.reject(new Error("away")) : session.log.read(uid, lane, after);
  const { store, clock } = session;
  const hub = createHub({ store, log: { ...session.log, read }, clock });
  const client = createClient(hub, session);
  await clock.advance(0); // lane 1 was read, and the join failed
  await session.acceptInput();
  await clock.advance(1_000);
  await expectStoredState(session, [client]);
  expect(client.state().lanes).toEqual([]);
  failing = false;
  await clock.advance(5_000);
  for (const { write } of writers) await write("and more");
  await clock.advance(1);

  const texts = writers.map(({ lane }) => laneText(client.state(), lane));
  expect(texts).toEqual(["lane 1, and more", "lane 2, and more"]);
  expect([client.snapshots(), client.repeated()]).toEqual([1, 0]);
});

test("a viewer whose cursor names a lane is served facts while the log is away, and then no text twice", async () => {
  const { session, hub, settle } = await openHubFixture();
  const first = createClient(hub, session);
  const writer = await session.start();
  await writer.write("before, ");
  await settle();
  await first.leave();
  session.leaveLog();
  const { store, log, clock } = session;
  const other = createHub({ store, log, clock });
  const [state, cursor] = [first.state(), first.cursor()];
  const client = createClient(other, session, { state, cursor });
  await session.acceptInput();
  await clock.advance(1_000);
  await expectStoredState(session, [client]);
  expect(laneText(client.state())).toBe("before, ");
  session.logAway = false;
  await clock.advance(5_000);
  await writer.write("after");
  await settle();

  expect(laneText(client.state())).toBe("before, after");
  expect([client.snapshots(), client.repeated()]).toEqual([0, 0]);
});

test("viewers wait for a store that is away when they come, and a session that is not there then ends them", async () => {
  const { session, hub } = await openHubFixture();
  session.storeAway = true;
  const client = createClient(hub, session);
  await session.clock.advance(60_000);
  expect([client.ended(), client.messages()]).toEqual([undefined, 0]);
  session.storeAway = false;
  await session.clock.advance(5_000);
  await expectStoredState(session, [client]);

  session.storeAway = true;
  const { store, log, clock } = session;
  const later = createClient(createHub({ store, log, clock }), session);
  await session.clock.advance(10_000);
  await session.truth.remove(session.uid);
  session.storeAway = false;
  await session.clock.advance(5_000);
  expect([client.ended(), later.ended()]).toMatchObject(["ended", { code: "unknown_session" }]);
});

test("a silent session that is watched costs its share of one read of heads every 5 s, and nothing else", async () => {
  const clock = manualClock(1_700_000_000_000);
  const calls: string[] = [];
  const memory = memorySessionStore({ clock });
  const held = memoryEventLog();
  const recorded = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name, receiver) => {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== "function") return value;
        return (...given: unknown[]): unknown => {
          calls.push(String(name));
          return Reflect.apply(value, target, given);
        };
      },
    });
  using hub = createHub({ store: recorded(memory), log: recorded(held), clock });
  for (let session = 0; session < 400; session += 1) {
    const { uid, sessionId } = await memory.create({ sessionId: `session ${session}` });
    void hub.watch({ uid, sessionId }).next();
  }
  await clock.advance(999);
  calls.length = 0;
  await clock.advance(60_000);

  expect(calls).toEqual(Array(12).fill("heads"));
});
