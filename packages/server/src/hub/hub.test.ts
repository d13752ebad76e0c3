import { sessionUid } from "@millrace/core/writing";
import type { SessionState } from "@millrace/core";
import type { Cursor } from "@millrace/core/reading";
import { expect, test } from "vitest";
import { createClient, itemTexts } from "../testing/client.ts";
import { expectTrue, stage } from "../testing/hub-stage.ts";
import { laneText } from "../testing/lane-text.ts";
import { name } from "../testing/scene.ts";
import { createHub } from "./hub.ts";

test("five hundred viewers of a session cost one subscription and the reads of one join", async () => {
  const { scene, hub, settle } = await stage();
  await (await scene.start()).write("before");
  const clients = Array.from({ length: 250 }, () => createClient(hub, scene));
  await settle();
  clients.push(...Array.from({ length: 250 }, () => createClient(hub, scene)));
  const speaker = await scene.start(1);
  for (let batch = 0; batch < 20; batch += 1) await speaker.write(`${batch} `);
  await speaker.commit();
  await settle();

  await expectTrue(scene, clients);
  expect(clients.every((client) => laneText(client.state()) === "before")).toBe(true);
  expect(scene.counts).toEqual({
    tails: 1,
    reads: 1,
    heads: 0,
    floors: 1,
    laneReads: 1,
    nudges: 0,
  });
  expect(clients.every((client) => client.snapshots() === 1)).toBe(true);
  await Promise.all(clients.map((client) => client.leave()));
});

test("five hundred viewers who miss the same facts cost one read", async () => {
  const { scene, hub, settle } = await stage();
  const clients = Array.from({ length: 500 }, () => createClient(hub, scene));
  await settle();
  const { reads, laneReads } = scene.counts;
  scene.deaf = true;
  const speaker = await scene.start();
  await speaker.write("unheard, ");
  await scene.say();
  await speaker.write("also, ");
  await settle();
  scene.deaf = false;
  await speaker.write("heard");
  await settle();

  expect(clients.every((client) => laneText(client.state()) === "unheard, also, heard")).toBe(true);
  await scene.clock.advance(6_000);
  await expectTrue(scene, clients);
  expect(scene.counts.laneReads - laneReads).toBe(1);
  expect(scene.counts.reads - reads).toBeLessThanOrEqual(2);
  expect(scene.counts.heads).toBe(1);
  expect(scene.counts.tails).toBe(1);
});

test("a viewer who never reads holds up nobody, and is told the rest in few messages", async () => {
  const { scene, hub, settle } = await stage({ keptMessages: 64 });
  const goesOn = Promise.withResolvers<void>();
  const slow = createClient(hub, scene, { pace: () => goesOn.promise });
  const others = Array.from({ length: 499 }, () => createClient(hub, scene));
  await settle();
  const speaker = await scene.start();
  let text = "";
  for (let batch = 0; batch < 300; batch += 1) {
    await speaker.write(`${batch} `);
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
  await speaker.commit();
  await settle();
  await expectTrue(scene, [slow, ...others]);
});

test("a viewer who stops in the middle of a reply misses nothing of it", async () => {
  for (const stops of [2, 3, 7, 12]) {
    const { scene, hub, settle } = await stage({ keptMessages: 4 });
    const goesOn = Promise.withResolvers<void>();
    let seen = 0;
    const pace = async (): Promise<void> => {
      seen += 1;
      if (seen === stops) await goesOn.promise;
    };
    const client = createClient(hub, scene, { pace });
    await settle();
    const speaker = await scene.start();
    for (let batch = 0; batch < 30; batch += 1) {
      await speaker.write(`${batch} `);
      await settle();
    }
    await speaker.commit();
    await scene.say();
    expect(client.messages()).toBe(stops);
    goesOn.resolve();
    await settle();

    await expectTrue(scene, [client]);
    expect(client.snapshots()).toBe(1);
  }
});

test("facts that wait are told each, and too many of them by a snapshot", async () => {
  for (const [facts, snapshots] of [
    [600, 1],
    [2_100, 2],
  ] as const) {
    const { scene, hub, settle } = await stage();
    const goesOn = Promise.withResolvers<void>();
    const client = createClient(hub, scene, { pace: () => goesOn.promise });
    await settle();
    for (let said = 0; said < facts; said += 1) {
      await scene.say();
      if (said % 100 === 0) await settle();
    }
    await settle();
    goesOn.resolve();
    for (let round = 0; round < 100; round += 1) await settle();

    await expectTrue(scene, [client]);
    expect(client.snapshots()).toBe(snapshots);
    expect(client.messages()).toBe(snapshots === 1 ? 1 + facts : 2);
  }
});

test("whoever comes back at any position ends where the others are, without a read", async () => {
  let positions = 0;
  for (const keptMessages of [3, 512]) {
    const { scene, hub, settle } = await stage({ keptMessages });
    const seen: { readonly state: SessionState; readonly cursor: Cursor }[] = [];
    const witness = createClient(hub, scene, {
      pace: async () => {
        const cursor = witness.cursor();
        if (cursor !== undefined) seen.push({ state: witness.state(), cursor });
      },
    });
    await settle();
    for (let reply = 0; reply < 3; reply += 1) {
      const speakers = [await scene.start(), await scene.start(1)];
      for (let word = 0; word < 5; word += 1)
        for (const speaker of speakers) {
          await speaker.write(`${speaker.lane}.${word} `);
          await settle();
        }
      await scene.say();
      for (const speaker of speakers) await speaker.commit();
      await settle();
    }
    const last = await scene.start();
    for (const word of ["still ", "open, ", "and ", "longer ", "than ", "what ", "is ", "kept"]) {
      await last.write(word);
      await settle();
    }
    const counts = { ...scene.counts };
    const returned = seen.map((at) => createClient(hub, scene, at));
    await settle();

    await expectTrue(scene, [witness, ...returned]);
    expect(returned.map((client) => laneText(client.state()))).toEqual(
      returned.map(() => "still open, and longer than what is kept"),
    );
    expect(returned.every((client) => client.snapshots() === 0)).toBe(true);
    expect(scene.counts).toEqual(counts);
    positions += returned.length;
  }
  expect(positions).toBeGreaterThan(50);
  console.log(`count: hub, ${positions} positions resumed, 0 failures`);
});

test("whoever is a little behind in a lane is told its last batches and not all of it", async () => {
  const { scene, hub, settle } = await stage();
  const client = createClient(hub, scene);
  const speaker = await scene.start();
  await speaker.write("x".repeat(5_000));
  await settle();
  await client.leave();
  await speaker.write("a");
  await speaker.write("b");
  await settle();
  const { uid } = scene;
  const watching = hub.watch({ uid, sessionId: name, cursor: client.cursor() });
  const told = [await watching.next(), await watching.next()];

  const text = JSON.stringify(told);
  expect(text).toContain('"a"');
  expect(text).toContain('"b"');
  expect(text.length).toBeLessThan(2_000);
});

test("a reset is one snapshot to everybody, slow or not", async () => {
  const { scene, hub, settle } = await stage();
  const goesOn = Promise.withResolvers<void>();
  const clients = [
    createClient(hub, scene),
    createClient(hub, scene, { pace: () => goesOn.promise }),
  ];
  await settle();
  const to = await scene.truth.head(scene.uid);
  const speaker = await scene.start();
  await speaker.write("undone");
  await speaker.commit();
  await settle();
  expect(clients.map((client) => itemTexts(client.state()))).toEqual([["undone"], []]);
  await scene.claim(to);
  await settle();
  goesOn.resolve();
  await settle();

  await expectTrue(scene, clients);
  expect(clients.map((client) => client.snapshots())).toEqual([2, 2]);
  expect(clients.map((client) => itemTexts(client.state()))).toEqual([[], []]);
});

test("a session stays for a while after its last viewer left, then goes", async () => {
  const { scene, hub, settle } = await stage({ lingerMs: 5_000 });
  const first = createClient(hub, scene);
  await settle();
  await first.leave();
  await scene.clock.advance(3_000);
  const second = createClient(hub, scene);
  await scene.clock.advance(3_000);
  expect(hub.sessions()).toBe(1);
  await second.leave();
  await scene.clock.advance(4_900);
  expect(hub.sessions()).toBe(1);
  expect(scene.counts.tails).toBe(1);
  await scene.clock.advance(200);

  expect(hub.sessions()).toBe(0);
  expect(scene.clock.sleepers()).toBe(0);
  const third = createClient(hub, scene);
  await settle();
  expect(scene.counts.tails).toBe(2);
  await expectTrue(scene, [third]);
});

test("a cursor of a hub that has heard more is served after one read for all", async () => {
  const { scene, hub, settle } = await stage();
  const other = createHub({ store: scene.truth, log: scene.memory, clock: scene.clock });
  const deaf = createClient(hub, scene);
  await settle();
  scene.deaf = true;
  const ahead = createClient(other, scene);
  const speaker = await scene.start();
  await scene.say();
  await speaker.write("unheard");
  await settle();
  await ahead.leave();
  const { reads } = scene.counts;
  const state = ahead.state();
  const moved = Array.from({ length: 50 }, () =>
    createClient(hub, scene, { state, cursor: ahead.cursor() }),
  );
  await settle();

  await expectTrue(scene, [deaf, ...moved]);
  expect(moved.every((client) => client.snapshots() === 0)).toBe(true);
  expect(laneText(deaf.state())).toBe("unheard");
  expect(scene.counts.reads - reads).toBe(1);
});

test("a crowd that joins at one moment is handed one and the same snapshot", async () => {
  const { scene, hub } = await stage();
  const watching = [1, 2, 3].map(() => hub.watch({ uid: scene.uid, sessionId: name }));
  const first = await Promise.all(watching.map((viewer) => viewer.next()));

  expect(new Set(first.map(({ value }) => value?.message)).size).toBe(1);
});

test("a session that is not there is an error, and is not held", async () => {
  const { hub } = await stage();
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

test("a hub that is disposed of ends its viewers, and those who come after", async () => {
  const { scene, hub, settle } = await stage();
  const client = createClient(hub, scene);
  await settle();
  hub[Symbol.dispose]();
  const late = createClient(hub, scene);
  await settle();

  expect([client.ended(), late.ended()]).toEqual(["ended", "ended"]);
  expect(hub.sessions()).toBe(0);
  expect(scene.clock.sleepers()).toBe(0);
});
