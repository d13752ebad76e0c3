import type { SessionStore } from "@millrace/core/ports";
import { expect, test } from "vitest";
import { createClient } from "../testing/client.ts";
import { expectTrue, stage } from "../testing/hub-stage.ts";
import { laneText } from "../testing/lane-text.ts";
import { Scene } from "../testing/scene.ts";
import { createHub } from "./hub.ts";

test("a subscription that breaks is made anew for all, who stay and are told what they missed", async () => {
  const { scene, hub, settle } = await stage();
  const clients = Array.from({ length: 100 }, () => createClient(hub, scene));
  const speaker = await scene.start();
  await speaker.write("before, ");
  await settle();
  for (let round = 0; round < 3; round += 1) {
    scene.deaf = true;
    await speaker.write(`lost ${round}, `);
    await scene.say();
    await settle();
    scene.deaf = false;
    scene.breakTails();
    await scene.clock.advance(100);
    await speaker.write(`after ${round}, `);
    await settle();
  }

  const text = "before, lost 0, after 0, lost 1, after 1, lost 2, after 2, ";
  expect(clients.map((client) => laneText(client.state()))).toEqual(clients.map(() => text));
  expect(clients.every((client) => client.ended() === undefined)).toBe(true);
  expect(clients.every((client) => client.snapshots() === 1)).toBe(true);
  expect(scene.counts.tails).toBe(4);
  expect(scene.counts.reads).toBe(4);
  await expectTrue(scene, clients);
});

test("a lane that the log has lost is asked for once, however many watch", async () => {
  const { scene, hub, settle } = await stage();
  const speaker = await scene.start();
  await speaker.write("before, ");
  scene.memory.lose(scene.uid);
  const clients = Array.from({ length: 200 }, () => createClient(hub, scene));
  await settle();
  await speaker.write("after");
  await scene.clock.advance(1_100);

  expect(clients.map((client) => laneText(client.state()))).toEqual(
    clients.map(() => "before, after"),
  );
  expect(scene.counts.nudges).toBe(1);
});

test("a lane that can't be read is asked for once a second until its writer answers", async () => {
  const { scene, hub, settle } = await stage();
  const speaker = await scene.start();
  await speaker.write("a ");
  scene.forgetful = true;
  scene.mute = true;
  const client = createClient(hub, scene);
  await settle();
  for (let batch = 0; batch < 5; batch += 1) await speaker.write("b ");
  await settle();
  expect(scene.counts.nudges).toBe(1);
  await scene.clock.advance(1_000);
  await speaker.write("c ");
  await settle();
  expect(scene.counts.nudges).toBe(2);
  scene.mute = false;
  await scene.clock.advance(1_000);
  await speaker.write("d");
  await settle();

  expect(scene.counts.nudges).toBe(3);
  expect(laneText(client.state())).toBe("a b b b b b c d");
  expect(client.ended()).toBeUndefined();
});

test("a zombie that a log without its fence holds is not shown to who joins", async () => {
  const { scene, hub, settle } = await stage();
  const zombie = await scene.start();
  await zombie.write("undead");
  const holder = await scene.start();
  await holder.write("");
  await settle();
  scene.memory.lose(scene.uid);
  await zombie.write(", still");
  expect(await scene.memory.read(scene.uid, 0)).toHaveLength(1);
  scene.mute = true;
  const client = createClient(hub, scene);
  await settle();

  expect([client.messages(), client.state().lanes]).toEqual([1, []]);
  await holder.write("alive ");
  await settle();
  expect([client.messages(), client.state().lanes]).toEqual([1, []]);
  scene.mute = false;
  await scene.clock.advance(1_000);
  await holder.write("again");
  await settle();
  expect(laneText(client.state())).toBe("alive again");
});

test("a slow read of the store does not undo what came after it", async () => {
  const { scene, hub, settle } = await stage();
  const client = createClient(hub, scene);
  await settle();
  scene.deaf = true;
  await scene.say();
  await scene.claim(1);
  const answer = Promise.withResolvers<void>();
  scene.held = answer.promise;
  await scene.clock.advance(5_000);
  expect(scene.held).toBeUndefined();
  scene.deaf = false;
  await scene.say();
  await settle();
  answer.resolve();
  await settle();

  await expectTrue(scene, [client]);
});

test("a store that can't be asked for a while ends nobody's view", async () => {
  const { scene, hub, settle } = await stage();
  const client = createClient(hub, scene);
  const speaker = await scene.start();
  await settle();
  scene.away = true;
  await scene.clock.advance(5_000);
  await speaker.write("goes on");
  await settle();
  scene.away = false;

  await expectTrue(scene, [client]);
  expect(client.ended()).toBeUndefined();
});

test("a log that is lost with its subscription is filled by its writers, and no text leaves a screen", async () => {
  const { scene, hub, settle } = await stage();
  const client = createClient(hub, scene);
  const speaker = await scene.start();
  await speaker.write("before, ");
  await settle();
  scene.deaf = true;
  await speaker.write("lost, the last that is said for long");
  scene.deaf = false;
  scene.memory.lose(scene.uid);
  scene.mute = true; // nobody hears the first request
  scene.breakTails();
  await scene.clock.advance(100);
  expect(laneText(client.state())).toBe("before, ");
  expect(scene.counts.nudges).toBe(1);
  scene.mute = false;
  await scene.clock.advance(5_000);

  expect(laneText(client.state())).toBe("before, lost, the last that is said for long");
  expect([client.ended(), client.snapshots(), scene.counts.nudges]).toEqual([undefined, 1, 2]);
});

test("a lost request is repeated, though the store could not name the open lanes at the poll in between", async () => {
  const scene = await Scene.open();
  let failing = false;
  const floors: SessionStore["floors"] = (uid) =>
    failing ? Promise.reject(new Error("away")) : scene.store.floors(uid);
  const { log, clock } = scene;
  const hub = createHub({ store: { ...scene.store, floors }, log, clock });
  const client = createClient(hub, scene);
  const speaker = await scene.start();
  await speaker.write("before, ");
  await clock.advance(1);
  scene.deaf = true;
  await speaker.write("lost");
  scene.deaf = false;
  scene.memory.lose(scene.uid);
  scene.mute = true; // the request is lost
  scene.breakTails();
  await clock.advance(100);
  scene.mute = false;
  failing = true;
  await clock.advance(5_000);
  expect([laneText(client.state()), scene.counts.nudges]).toEqual(["before, ", 1]);
  failing = false;
  await clock.advance(5_000);

  expect(laneText(client.state())).toBe("before, lost");
  expect([client.ended(), client.snapshots(), scene.counts.nudges]).toEqual([undefined, 1, 2]);
});

test("a log that has all of a lane is asked for nothing when its subscription was made anew", async () => {
  const { scene, hub } = await stage();
  const client = createClient(hub, scene);
  const speaker = await scene.start();
  await speaker.write("all of it");
  await scene.clock.advance(1_000);
  expect(laneText(client.state())).toBe("all of it");
  const messages = client.messages();
  scene.breakTails();
  await scene.clock.advance(10_000);

  expect([client.messages(), scene.counts.nudges, scene.counts.tails]).toEqual([messages, 0, 2]);
});

test("while the log is away it is tried ever less often, and facts come by the polls", async () => {
  const { scene, hub, settle } = await stage();
  const client = createClient(hub, scene);
  const speaker = await scene.start();
  await settle();
  scene.unreachable = true;
  scene.breakTails();
  await scene.say();
  await scene.clock.advance(5_000);
  await expectTrue(scene, [client]);
  await scene.clock.advance(55_000);
  // After 0.1, 0.2, 0.4, 0.8, 1.6, 3.2 s, and then every 5 s.
  expect(scene.counts.tails).toBe(1 + 6 + 10);
  await speaker.write("said meanwhile, ");
  scene.unreachable = false;
  await scene.clock.advance(5_000);
  await speaker.write("and after");
  await settle();

  expect(laneText(client.state())).toBe("said meanwhile, and after");
  expect([client.ended(), client.snapshots()]).toEqual([undefined, 1]);
});

test("a store that is away while its log breaks, or while somebody comes who has seen more, ends nobody", async () => {
  const { scene, hub, settle } = await stage();
  const other = createHub({ store: scene.truth, log: scene.memory, clock: scene.clock });
  const [client, ahead] = [createClient(hub, scene), createClient(other, scene)];
  await settle();
  scene.deaf = true;
  const speaker = await scene.start();
  await speaker.write("heard elsewhere, ");
  await settle();
  scene.away = true;
  const back = createClient(hub, scene, { state: ahead.state(), cursor: ahead.cursor() });
  scene.deaf = false;
  scene.breakTails();
  await scene.clock.advance(3_000);
  expect([laneText(client.state()), laneText(back.state())]).toEqual([
    undefined,
    "heard elsewhere, ",
  ]);
  scene.away = false;
  await scene.clock.advance(5_000);
  await speaker.write("and here");
  await settle();

  const clients = [client, back];
  expect(clients.map((one) => laneText(one.state()))).toEqual(
    clients.map(() => "heard elsewhere, and here"),
  );
  await expectTrue(scene, clients);
});

test("a session that is removed while the log is away comes to its end", async () => {
  const { scene, hub, settle } = await stage();
  const client = createClient(hub, scene);
  await settle();
  scene.breakTails();
  await scene.truth.remove(scene.uid);
  await scene.clock.advance(1_000);

  expect([client.ended(), hub.sessions()]).toEqual(["ended", 0]);
});
