import { expect, test } from "vitest";
import { MillraceError } from "../errors.ts";
import { openFollowFixture } from "../testing/follow-fixture.ts";
import { follow } from "./follow.ts";
import { followChildren } from "./follow-children.ts";

test("a viewer whose subscription breaks, time and again, gets every fact once and in order", async () => {
  const { clock, faults, acceptInput, breakTails, view } = await openFollowFixture();
  const { got, connections, ended } = view();
  await clock.advance(1);
  for (let round = 0; round < 5; round += 1) {
    await acceptInput();
    breakTails();
    faults.logAway = true;
    await acceptInput();
    await clock.advance(1_000);
    faults.logAway = false;
    await clock.advance(5_000);
    await acceptInput();
    await clock.advance(1);
  }

  expect(got).toEqual(["snapshot 1", ...Array.from({ length: 15 }, (_, at) => at + 2)]);
  const changes = Array.from({ length: 5 }, () => ["polling", "live"]).flat();
  expect(connections).toEqual(["live", ...changes]);
  expect(ended()).toBeUndefined();
});

test("a viewer that comes while the log is away is served from the store, every second", async () => {
  const { clock, faults, acceptInput, view } = await openFollowFixture();
  faults.logAway = true;
  const { got, connections } = view();
  await clock.advance(0);
  expect([got, connections]).toEqual([["snapshot 1"], ["polling"]]);
  await acceptInput();
  await clock.advance(1_000);
  expect(got).toEqual(["snapshot 1", 2]);
  faults.logAway = false;
  await clock.advance(5_000);
  await acceptInput();
  await clock.advance(1);

  expect(got).toEqual(["snapshot 1", 2, 3]);
  expect(connections).toEqual(["polling", "live"]);
});

test("a viewer with a cursor that comes while the log is away gets the facts after it", async () => {
  const { clock, faults, uid, acceptInput, view } = await openFollowFixture();
  faults.logAway = true;
  await acceptInput();
  const { got } = view({ cursor: { uid, head: 1, lanes: [] } });
  await clock.advance(0);
  await acceptInput();
  await clock.advance(1_000);

  expect(got).toEqual([2, 3]);
});

test("a log that neither answers nor fails delays the first facts by 2 s at most, and then none", async () => {
  const { clock, faults, acceptInput, view } = await openFollowFixture();
  faults.logHangs = true;
  const { got } = view();
  await clock.advance(2_000);
  expect(got).toEqual(["snapshot 1"]);
  await acceptInput();
  await clock.advance(1_000);

  expect(got).toEqual(["snapshot 1", 2]);
});

test("a store that is away is waited for, from the start and later", async () => {
  const { clock, faults, acceptInput, breakTails, view } = await openFollowFixture();
  faults.storeAway = true;
  const { got, connections, ended } = view();
  await clock.advance(60_000);
  expect([got, connections.at(-1)]).toEqual([[], "waiting"]);
  faults.storeAway = false;
  await clock.advance(5_000);
  expect([got, connections.at(-1)]).toEqual([["snapshot 1"], "live"]);
  faults.storeAway = true;
  breakTails();
  await acceptInput();
  await clock.advance(30_000);
  expect(connections.at(-1)).toBe("waiting");
  faults.storeAway = false;
  await clock.advance(5_000);

  expect([got, connections.at(-1), ended()]).toEqual([["snapshot 1", 2], "live", undefined]);
});

test("a store that is away while the log is not is reported, and read again every second", async () => {
  const { clock, faults, view } = await openFollowFixture();
  const { connections } = view();
  await clock.advance(1);
  faults.storeAway = true;
  await clock.advance(5_000);
  faults.storeAway = false;
  await clock.advance(1_000);

  expect(connections).toEqual(["live", "waiting", "live"]);
});

test("a lost announcement is made good by a poll", async () => {
  const { clock, uid, truth, faults, view } = await openFollowFixture();
  const { got } = view();
  await clock.advance(1);
  await truth.claim(uid, { from: 1 });
  await clock.advance(5_000);

  expect(got).toEqual(["snapshot 1", 2]);
  expect([faults.heads, faults.reads]).toEqual([1, 2]);
});

test("a removed session ends its viewers, though the log is away", async () => {
  const { clock, uid, truth, faults, breakTails, view } = await openFollowFixture();
  const { ended } = view();
  await clock.advance(1);
  faults.logAway = true;
  breakTails();
  await truth.remove(uid);
  await clock.advance(1_000);

  expect([ended(), clock.sleepers()]).toEqual(["ended", 0]);
});

test("a broken contract is thrown, before the first message and after it", async () => {
  const broken = new MillraceError("corrupt_session", "a fact can't be read");
  for (const at of ["start", "later"]) {
    const { clock, store, acceptInput, breakTails, view } = await openFollowFixture();
    let corrupt = at === "start";
    const read: typeof store.read = (uid, options) =>
      corrupt ? Promise.reject(broken) : store.read(uid, options);
    const { ended } = view({ store: { ...store, read } });
    await clock.advance(1);
    corrupt = true;
    await acceptInput();
    breakTails();
    await clock.advance(1_000);

    expect([ended(), clock.sleepers()]).toEqual([broken, 0]);
  }
});

test("a viewer that leaves holds no timer and no subscription, whatever is away", async () => {
  for (const away of ["none", "log", "store"]) {
    const { clock, faults, view } = await openFollowFixture();
    faults.logAway = away === "log";
    faults.storeAway = away === "store";
    const leave = new AbortController();
    const { ended } = view({ signal: leave.signal });
    await clock.advance(10_000);
    leave.abort();
    await clock.advance(1);

    expect([ended(), clock.sleepers()]).toEqual(["ended", 0]);
  }
});

test("a slow viewer makes the reader wait, and polls bring nothing that it has not room for", async () => {
  const { clock, store, log, uid, sessionId, truth, faults, acceptInput } =
    await openFollowFixture();
  const viewer = follow({ store, log, clock, uid, sessionId });
  await viewer.next();
  faults.logAway = true;
  for (let input = 0; input < 100; input += 1) await acceptInput();
  const { reads } = faults;
  await clock.advance(60_000);
  expect(faults.reads - reads).toBe(0);
  const facts: number[] = [];
  for (let head = 2; head <= 101; head += 1) {
    const next = viewer.next();
    await clock.advance(5_000);
    const { message } = (await next).value ?? {};
    if (message !== undefined && "n" in message) facts.push(message.n);
  }

  expect(facts).toEqual((await truth.read(uid)).slice(1).map(({ n }) => n));
});

test("what a poll finds while a viewer is slow reaches it once it has room, without another poll", async () => {
  const { clock, store, log, uid, sessionId, truth, faults } = await openFollowFixture();
  const viewer = follow({ store, log, clock, uid, sessionId });
  await viewer.next();
  await truth.claim(uid, { from: 1 }); // its announcement is lost
  await clock.advance(5_000);
  expect([faults.heads, faults.reads]).toEqual([1, 1]);

  const next = await viewer.next();
  expect(next.value?.message).toMatchObject({ n: 2, type: "session_claimed" });
  expect(faults.heads).toBe(1);
});

test("a session and its children are followed through an outage of the store", async () => {
  const { clock, store, log, uid, sessionId, faults, acceptInput, breakTails } =
    await openFollowFixture();
  const seen: number[] = [];
  const states: string[] = [];
  const leave = new AbortController();
  const read = async (): Promise<void> => {
    const source = { store, log, clock, uid, sessionId, signal: leave.signal };
    const onConnection = (state: string): void => void states.push(state);
    for await (const { message } of followChildren({ ...source, onConnection }))
      if ("n" in message) seen.push(message.n);
  };
  const reading = read();
  await clock.advance(1);
  faults.storeAway = true;
  breakTails();
  await acceptInput();
  await clock.advance(20_000);
  faults.storeAway = false;
  await clock.advance(5_000);
  leave.abort();
  await reading;

  expect(seen).toEqual([2]);
  expect(states.filter((state) => state !== "polling")).toEqual(["live", "waiting", "live"]);
});
