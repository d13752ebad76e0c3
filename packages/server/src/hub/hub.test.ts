import { sessionUid } from "@millrace/core/writing";
import type { SessionState } from "@millrace/core";
import type { Cursor } from "@millrace/core/reading";
import { expect, test } from "vitest";
import { createClient, itemTexts } from "../testing/client.ts";
import { expectStoredState, openHubFixture } from "../testing/hub-fixture.ts";
import { laneText } from "../testing/lane-text.ts";
import { name } from "../testing/session-fixture.ts";
import { createHub } from "./hub.ts";

test("five hundred viewers of a session cost one subscription, the reads of one join and one head for the later ones", async () => {
  const { session, hub, settle } = await openHubFixture();
  await (await session.start()).write("before");
  const clients = Array.from({ length: 250 }, () => createClient(hub, session));
  await settle();
  clients.push(...Array.from({ length: 250 }, () => createClient(hub, session)));
  const writer = await session.start(1);
  for (let batch = 0; batch < 20; batch += 1) await writer.write(`${batch} `);
  await writer.commit();
  await settle();

  await expectStoredState(session, clients);
  expect(clients.every((client) => laneText(client.state()) === "before")).toBe(true);
  expect(session.counts).toEqual({
    tails: 1,
    reads: 1,
    heads: 1,
    floors: 1,
    laneReads: 1,
    nudges: 0,
  });
  expect(clients.every((client) => client.snapshots() === 1)).toBe(true);
  await Promise.all(clients.map((client) => client.leave()));
});

test("five hundred viewers that miss the same facts cost one read", async () => {
  const { session, hub, settle } = await openHubFixture();
  const clients = Array.from({ length: 500 }, () => createClient(hub, session));
  await settle();
  const { reads, laneReads } = session.counts;
  session.losesMessages = true;
  const writer = await session.start();
  await writer.write("unheard, ");
  await session.acceptInput();
  await writer.write("also, ");
  await settle();
  session.losesMessages = false;
  await writer.write("heard");
  await settle();

  expect(clients.every((client) => laneText(client.state()) === "unheard, also, heard")).toBe(true);
  await session.clock.advance(6_000);
  await expectStoredState(session, clients);
  expect(session.counts.laneReads - laneReads).toBe(1);
  expect(session.counts.reads - reads).toBeLessThanOrEqual(2);
  expect(session.counts.heads).toBe(1);
  expect(session.counts.tails).toBe(1);
});

test("a viewer that never reads delays no other, and gets the rest in few messages", async () => {
  const { session, hub, settle } = await openHubFixture({ keptMessages: 64 });
  const goesOn = Promise.withResolvers<void>();
  const slow = createClient(hub, session, { pace: () => goesOn.promise });
  const others = Array.from({ length: 499 }, () => createClient(hub, session));
  await settle();
  const writer = await session.start();
  let text = "";
  for (let batch = 0; batch < 300; batch += 1) {
    await writer.write(`${batch} `);
    text += `${batch} `;
    if (batch % 50 === 0) await settle();
  }
  await settle();

  expect(slow.messages()).toBe(1);
  expect(others.every((client) => laneText(client.state()) === text)).toBe(true);
  expect(others.every((client) => client.snapshots() === 1)).toBe(true);
  goesOn.resolve();
  await settle();
  expect(laneText(slow.state())).toBe(text);
  expect(slow.messages()).toBeLessThan(10);
  await writer.commit();
  await settle();
  await expectStoredState(session, [slow, ...others]);
});

test("a viewer that stops in the middle of a reply misses nothing of it", async () => {
  for (const stops of [2, 3, 7, 12]) {
    const { session, hub, settle } = await openHubFixture({ keptMessages: 4 });
    const goesOn = Promise.withResolvers<void>();
    let seen = 0;
    const pace = async (): Promise<void> => {
      seen += 1;
      if (seen === stops) await goesOn.promise;
    };
    const client = createClient(hub, session, { pace });
    await settle();
    const writer = await session.start();
    for (let batch = 0; batch < 30; batch += 1) {
      await writer.write(`${batch} `);
      await settle();
    }
    await writer.commit();
    await session.acceptInput();
    expect(client.messages()).toBe(stops);
    goesOn.resolve();
    await settle();

    await expectStoredState(session, [client]);
    expect(client.snapshots()).toBe(1);
  }
});

test("facts that wait are sent one by one, and too many of them as a snapshot", async () => {
  for (const [facts, snapshots] of [
    [600, 1],
    [2_100, 2],
  ] as const) {
    const { session, hub, settle } = await openHubFixture();
    const goesOn = Promise.withResolvers<void>();
    const client = createClient(hub, session, { pace: () => goesOn.promise });
    await settle();
    for (let input = 0; input < facts; input += 1) {
      await session.acceptInput();
      if (input % 100 === 0) await settle();
    }
    await settle();
    goesOn.resolve();
    for (let round = 0; round < 100; round += 1) await settle();

    await expectStoredState(session, [client]);
    expect(client.snapshots()).toBe(snapshots);
    expect(client.messages()).toBe(snapshots === 1 ? 1 + facts : 2);
  }
});

test("a viewer that reconnects at any position ends where the others are, without a read", async () => {
  let positions = 0;
  for (const keptMessages of [3, 512]) {
    const { session, hub, settle } = await openHubFixture({ keptMessages });
    const seen: { readonly state: SessionState; readonly cursor: Cursor }[] = [];
    const witness = createClient(hub, session, {
      pace: async () => {
        const cursor = witness.cursor();
        if (cursor !== undefined) seen.push({ state: witness.state(), cursor });
      },
    });
    await settle();
    for (let reply = 0; reply < 3; reply += 1) {
      const writers = [await session.start(), await session.start(1)];
      for (let word = 0; word < 5; word += 1)
        for (const writer of writers) {
          await writer.write(`${writer.lane}.${word} `);
          await settle();
        }
      await session.acceptInput();
      for (const writer of writers) await writer.commit();
      await settle();
    }
    const last = await session.start();
    for (const word of ["still ", "open, ", "and ", "longer ", "than ", "what ", "is ", "kept"]) {
      await last.write(word);
      await settle();
    }
    const counts = { ...session.counts };
    const returned = seen.map((at) => createClient(hub, session, at));
    await settle();

    await expectStoredState(session, [witness, ...returned]);
    expect(returned.map((client) => laneText(client.state()))).toEqual(
      returned.map(() => "still open, and longer than what is kept"),
    );
    expect(returned.every((client) => client.snapshots() === 0)).toBe(true);
    expect(session.counts).toEqual(counts);
    positions += returned.length;
  }
  expect(positions).toBeGreaterThan(50);
  console.log(`count: hub, ${positions} positions resumed, 0 failures`);
});

test("a viewer a little behind in a lane gets its last batches and not all of it", async () => {
  const { session, hub, settle } = await openHubFixture();
  const client = createClient(hub, session);
  const writer = await session.start();
  await writer.write("x".repeat(5_000));
  await settle();
  await client.leave();
  await writer.write("a");
  await writer.write("b");
  await settle();
  const { uid } = session;
  const watching = hub.watch({ uid, sessionId: name, cursor: client.cursor() });
  const messages = [await watching.next(), await watching.next()];

  const text = JSON.stringify(messages);
  expect(text).toContain('"a"');
  expect(text).toContain('"b"');
  expect(text.length).toBeLessThan(2_000);
});

test("a reset is one snapshot to every viewer, slow or not", async () => {
  const { session, hub, settle } = await openHubFixture();
  const goesOn = Promise.withResolvers<void>();
  const clients = [
    createClient(hub, session),
    createClient(hub, session, { pace: () => goesOn.promise }),
  ];
  await settle();
  const to = await session.truth.head(session.uid);
  const writer = await session.start();
  await writer.write("undone");
  await writer.commit();
  await settle();
  expect(clients.map((client) => itemTexts(client.state()))).toEqual([["undone"], []]);
  await session.claim(to);
  await settle();
  goesOn.resolve();
  await settle();

  await expectStoredState(session, clients);
  expect(clients.map((client) => client.snapshots())).toEqual([2, 2]);
  expect(clients.map((client) => itemTexts(client.state()))).toEqual([[], []]);
});

test("a session stays for a while after its last viewer left, then goes", async () => {
  const { session, hub, settle } = await openHubFixture({ lingerMs: 5_000 });
  const first = createClient(hub, session);
  await settle();
  await first.leave();
  await session.clock.advance(3_000);
  const second = createClient(hub, session);
  await session.clock.advance(3_000);
  expect(hub.sessions()).toBe(1);
  await second.leave();
  await session.clock.advance(4_900);
  expect(hub.sessions()).toBe(1);
  expect(session.counts.tails).toBe(1);
  await session.clock.advance(200);

  expect(hub.sessions()).toBe(0);
  expect(session.clock.sleepers()).toBe(0);
  const third = createClient(hub, session);
  await settle();
  expect(session.counts.tails).toBe(2);
  await expectStoredState(session, [third]);
});

test("cursors of a hub that has read more are served after one read for all", async () => {
  const { session, hub, settle } = await openHubFixture();
  const other = createHub({ store: session.truth, log: session.memory, clock: session.clock });
  const behind = createClient(hub, session);
  await settle();
  session.losesMessages = true;
  const ahead = createClient(other, session);
  const writer = await session.start();
  await session.acceptInput();
  await writer.write("unheard");
  await settle();
  await ahead.leave();
  const { reads } = session.counts;
  const state = ahead.state();
  const moved = Array.from({ length: 50 }, () =>
    createClient(hub, session, { state, cursor: ahead.cursor() }),
  );
  await settle();

  await expectStoredState(session, [behind, ...moved]);
  expect(moved.every((client) => client.snapshots() === 0)).toBe(true);
  expect(laneText(behind.state())).toBe("unheard");
  expect(session.counts.reads - reads).toBe(1);
});

test("viewers that join at one moment share one snapshot object", async () => {
  const { session, hub } = await openHubFixture();
  const watching = [1, 2, 3].map(() => hub.watch({ uid: session.uid, sessionId: name }));
  const first = await Promise.all(watching.map((viewer) => viewer.next()));

  expect(new Set(first.map(({ value }) => value?.message)).size).toBe(1);
});

test("a session that does not exist is an error, and is not held", async () => {
  const { hub } = await openHubFixture();
  const watching = [1, 2].map(() =>
    hub.watch({ uid: sessionUid("nobody"), sessionId: name }).next(),
  );

  const outcomes = await Promise.allSettled(watching);

  expect(outcomes).toMatchObject([
    { status: "rejected", reason: { code: "unknown_session" } },
    { status: "rejected", reason: { code: "unknown_session" } },
  ]);
  expect(hub.sessions()).toBe(0);
});

test("a hub that is disposed of ends its viewers, and later ones at once", async () => {
  const { session, hub, settle } = await openHubFixture();
  const client = createClient(hub, session);
  await settle();
  hub[Symbol.dispose]();
  const late = createClient(hub, session);
  await settle();

  expect([client.ended(), late.ended()]).toEqual(["ended", "ended"]);
  expect(hub.sessions()).toBe(0);
  expect(session.clock.sleepers()).toBe(0);
});

test("a page that is loaded again by a hub that lost an announcement does not go back", async () => {
  const { session, hub: behind, settle } = await openHubFixture();
  const ahead = createHub({ store: session.truth, log: session.memory, clock: session.clock });
  const witness = createClient(behind, session); // keeps the session open
  const page = createClient(ahead, session);
  await settle();
  session.losesMessages = true;
  await session.acceptInput();
  await settle();
  const { head } = page.state();
  expect(witness.state().head).toBeLessThan(head);
  await page.leave();
  const reloaded = behind.watch({ uid: session.uid, sessionId: name });
  const first = reloaded.next();
  await settle();

  expect((await first).value?.cursor.head).toBe(head);
});

test("viewers that come without a cursor share one read of the head in 100 ms", async () => {
  const { session, hub } = await openHubFixture();
  const clients = [createClient(hub, session)];
  await session.clock.advance(1_000);
  session.counts.heads = 0;
  for (let ms = 0; ms < 1_000; ms += 1) {
    clients.push(createClient(hub, session), createClient(hub, session));
    await session.clock.advance(1);
  }
  await session.clock.advance(100);

  await expectStoredState(session, clients);
  expect(session.counts.heads).toBeLessThanOrEqual(12);
  expect(session.counts).toMatchObject({ tails: 1, reads: 1 });
});

test("a viewer without a cursor waits for a store that is away, and others go on", async () => {
  const { session, hub, settle } = await openHubFixture();
  const client = createClient(hub, session);
  await settle();
  session.storeAway = true;
  const reloaded = createClient(hub, session);
  const writer = await session.start();
  await writer.write("goes on");
  await session.clock.advance(30_000);
  expect([laneText(client.state()), reloaded.messages()]).toEqual(["goes on", 0]);
  session.storeAway = false;
  await session.clock.advance(5_000);

  expect(laneText(reloaded.state())).toBe("goes on");
});
