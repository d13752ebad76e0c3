import { setTimeout as sleep } from "node:timers/promises";
import { encodeMessage } from "@millrace/core/wire";
import { itemId, runId, sessionId, sessionKey } from "@millrace/core/writing";
import type { Fact, SessionUid } from "@millrace/core";
import type { Batch, SessionKey } from "@millrace/core/ports";
import type { Nudge } from "@millrace/core/store-kit";
import { createClient } from "@redis/client";
import { describe, expect, it } from "vitest";
import { sharedRedis } from "../../../../scripts/services/shared.ts";
import { listen, names } from "../testing/listen.ts";
import { batchAt, epochOf, newUid } from "../testing/redis-batch.ts";
import { until } from "../testing/redis-session.ts";
import { keysOf } from "./keys.ts";
import { SessionCache } from "./session-cache.ts";
import { redisLog } from "./redis-log.ts";
import type { RedisLog } from "./redis-log.ts";
import { Seal } from "./seal.ts";

const { url, prefix } = await sharedRedis();
const redis = await createClient({ url }).connect();
const [key, otherKey] = ["A", "B"].map((letter) => sessionKey(letter.repeat(43))) as [
  SessionKey,
  SessionKey,
];

function openLog(uid: SessionUid): RedisLog {
  const log = redisLog({ url, prefix });
  log.setKey(uid, key);
  return log;
}

function factAt(n: number): Fact {
  const envelope = { v: 1, n, sessionId: sessionId("talk"), time: 1 } as const;
  return { ...envelope, type: "run_started", runId: runId("run_1") };
}

/** A text as programs without the key can seal it: not at all, under another key, as something else. */
function forgeries(uid: SessionUid, sort: "fact" | "batch" | "nudge", text: string): string[] {
  const own = new Seal(uid, key);
  const [elsewhere, otherSort] = [newUid(), sort === "fact" ? "batch" : "fact"] as const;
  return [
    text,
    `${"A".repeat(22)}${text}`,
    new Seal(uid, otherKey).seal(sort, text),
    new Seal(elsewhere, key).seal(sort, text),
    own.seal(otherSort, text),
    own.seal(sort, `${text} `).slice(0, 22) + text,
    ` ${own.seal(sort, text)}`,
  ];
}

/** The text of an entry of the first attempt. */
async function storedAt(lane: string, seq: number): Promise<string> {
  const id = `${epochOf(1)}-${seq}`;
  const [entry] = (await redis.xRange(lane, id, id)) ?? [];
  return entry?.message["b"] ?? "";
}

describe("a seal", () => {
  const uid = newUid();
  const seal = new Seal(uid, key);

  it("opens what it sealed, whatever the text", () => {
    for (const text of ["", "{}", "ä 👩‍👧 \u0000 \u2028", "x".repeat(100_000)]) {
      expect(seal.open("fact", seal.seal("fact", text))).toBe(text);
      expect(seal.seal("fact", text)).toHaveLength(22 + text.length);
    }
  });

  it("opens nothing that any one character was changed in", () => {
    const sealed = seal.seal("batch", '{"v":1,"lane":0}');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = sealed[at] === "x" ? "q" : "x";
      expect(seal.open("batch", sealed.slice(0, at) + changed + sealed.slice(at + 1))).toBe(
        undefined,
      );
    }
    for (let end = 0; end < sealed.length; end += 1) {
      expect(seal.open("batch", sealed.slice(0, end))).toBe(undefined);
    }
  });

  it("of a known key and text is the one that PROTOCOL.md describes", () => {
    // printf 'fact\nuid_1\n{}' | openssl dgst -sha256 -hmac AAA…A -binary | base64
    const known = new Seal("uid_1" as SessionUid, sessionKey("A".repeat(43)));
    expect(known.seal("fact", "{}")).toBe("Ce3PNH7p_df3LliOwURreY{}");
  });
});

describe("what is forged in Redis", () => {
  it("reaches no tail, no heads and no writer, and ends none of them", async () => {
    const uid = newUid();
    await using log = openLog(uid);
    const keys = keysOf(prefix, uid);
    const tail = listen(await log.tail(uid));
    const heads = listen(await log.heads(uid));
    const nudges = listen<Nudge>(await log.nudges(uid));

    for (const text of forgeries(uid, "fact", encodeMessage(factAt(7)))) {
      await redis.sPublish(keys.facts, text);
    }
    for (const text of forgeries(uid, "batch", encodeMessage(batchAt(1, 7)))) {
      await redis.sPublish(keys.tail, text);
    }
    for (const text of forgeries(uid, "nudge", '{"kind":"abort"}')) {
      await redis.sPublish(keys.nudges, text);
    }
    for (const channel of [keys.facts, keys.tail, keys.nudges]) {
      for (const text of ["removed", new Seal(uid, otherKey).removal()]) {
        await redis.sPublish(channel, text);
      }
    }
    await log.announce(uid, factAt(1));
    await log.append(uid, batchAt(1, 0));
    await log.nudge(uid, { kind: "wake" });

    await until(() => tail.all.length >= 2 && nudges.all.length > 0, "the sealed messages arrive");
    await sleep(50);
    expect(names(tail.all).toSorted()).toEqual(["0", "fact 1"]);
    expect(heads.all).toEqual([1]);
    expect(nudges.all).toEqual([{ kind: "wake" }]);
  });

  it("is not read from a lane, nor is a true batch in another place than its own", async () => {
    const uid = newUid();
    await using log = openLog(uid);
    const lane = keysOf(prefix, uid).lane(0);
    const seal = new Seal(uid, key);
    await log.append(uid, batchAt(1, 0));
    let seq = 1;
    const add = (text: string): Promise<unknown> =>
      redis.xAdd(lane, `${epochOf(1)}-${(seq += 1)}`, { b: text });
    for (const text of forgeries(uid, "batch", encodeMessage(batchAt(1, 2)))) await add(text);
    await add(seal.seal("batch", encodeMessage(batchAt(1, 1)))); // under another id
    await add(seal.seal("batch", encodeMessage(batchAt(1, seq + 1, seq + 1, 1)))); // of lane 1
    await add(seal.seal("fact", encodeMessage(factAt(1))));
    await log.append(uid, batchAt(1, 30));

    expect(await log.read(uid, 0)).toEqual([batchAt(1, 0), batchAt(1, 30)]);
  });

  it("is not read from a lane as a short entry, nor is a true one of another place", async () => {
    const uid = newUid();
    await using log = openLog(uid);
    const keys = keysOf(prefix, uid);
    const [lane, other] = [keys.lane(0), keys.lane(1)];
    const words = (attempt: number, seq: number, at: number): Batch => ({
      ...batchAt(attempt, seq, seq, at),
      itemId: itemId("item_0"), // so that the lanes differ in their numbers alone
    });
    for (const seq of [0, 1, 2, 3]) await log.append(uid, words(1, seq, 0));
    for (const seq of [0, 1, 5]) await log.append(uid, words(1, seq, 1));
    const [second, third, foreign] = [
      await storedAt(lane, 2),
      await storedAt(lane, 3),
      await storedAt(other, 5),
    ];
    for (const text of [second, third, foreign]) expect(text).toMatch(/^[\w-]{22}\w+"1:\d "$/);
    const forged = [
      [4, second], // replayed
      [5, foreign], // of another lane, at its own number
      [6, `${"A".repeat(22)}${third.slice(22)}`],
      [7, third.slice(22)],
      [8, `${third.slice(0, 22)}1"FORGED"`],
      [9, `${third.slice(0, 22)}1.0[{"type":"lane_idled"}]`],
      [
        10,
        new Seal(uid, otherKey).seal("batch", encodeMessage(words(1, 10, 0))).slice(0, 22) +
          `7"1:10 "`,
      ],
      [11, `${"A".repeat(22)}1"`],
      [12, `${"A".repeat(22)}1.0[`],
      [13, `${"A".repeat(22)}zzzzzzzzzzz.zzzzzzzzzzz[]`],
    ] as const;
    for (const [seq, text] of forged) await redis.xAdd(lane, `${epochOf(1)}-${seq}`, { b: text });
    await log.append(uid, words(1, 30, 0));
    // A true entry of the epoch before, under the successor's heading.
    const read = [0, 1, 2, 3, 30].map((seq) => words(1, seq, 0));
    expect(await log.read(uid, 0)).toEqual(read);
    expect(await log.read(uid, 0, { epoch: epochOf(1), seq: 2 })).toEqual(read.slice(3));
    await log.append(uid, words(2, 0, 0));
    await log.append(uid, words(2, 1, 0));
    await redis.xAdd(lane, `${epochOf(2)}-2`, { b: second });
    expect(await log.read(uid, 0)).toEqual([words(2, 0, 0), words(2, 1, 0)]);
  });

  it.each([
    ["an entry of a far epoch", (lane: string) => redis.xAdd(lane, `${2 ** 50}-0`, { b: "{}" })],
    [
      "a last id without an entry",
      (lane: string) => redis.sendCommand(["XSETID", lane, `${2 ** 50}-0`]),
    ],
  ])("does not fence a lane's writer off: %s is dropped with the lane", async (_, forge) => {
    const uid = newUid();
    await using log = openLog(uid);
    await log.append(uid, batchAt(1, 0));
    await forge(keysOf(prefix, uid).lane(0));

    expect(await log.append(uid, batchAt(1, 1))).toEqual({ outcome: "absent" });
    expect(await log.append(uid, batchAt(1, 0, 2))).toEqual({ outcome: "stored" });
    expect(await log.read(uid, 0)).toEqual([batchAt(1, 0, 2)]);
  });

  it("a true batch of a successor still fences its predecessor off", async () => {
    const uid = newUid();
    await using log = openLog(uid);
    await log.append(uid, batchAt(2, 0));

    const last = { epoch: epochOf(2), seq: 0 };
    expect(await log.append(uid, batchAt(1, 0, 9))).toEqual({ outcome: "refused", last });
    expect(await log.read(uid, 0)).toEqual([batchAt(2, 0)]);
  });
});

describe("a log without the key of a session", () => {
  it("throws for every call that would send or accept a text, and names the call that is missing", async () => {
    await using log = redisLog({ url, prefix });
    const uid = newUid();
    const calls = [
      () => log.append(uid, batchAt(1, 0)),
      () => log.read(uid, 0),
      () => log.announce(uid, factAt(1)),
      () => log.tail(uid),
      () => log.heads(uid),
      () => log.nudge(uid, { kind: "wake" }),
      () => log.nudges(uid),
    ];

    for (const call of calls) {
      const asked = call();
      await expect(asked).rejects.toMatchObject({ code: "missing_key" });
      await expect(asked).rejects.toThrow("log.setKey(uid, await store.key(uid))");
    }
  });

  it("removes the session's keys from Redis, and ends no other process's tail", async () => {
    const uid = newUid();
    await using other = openLog(uid);
    await using log = redisLog({ url, prefix });
    await other.append(uid, batchAt(1, 0));
    const tail = listen(await other.tail(uid));

    await log.remove(uid);
    await log.remove(uid);
    await other.announce(uid, factAt(1));

    await until(() => tail.all.length > 0, "the tail goes on");
    expect(await redis.keys(`${prefix}{${uid}}*`)).toEqual([]);
  });

  it("refuses another key than the one it has", async () => {
    const uid = newUid();
    await using log = openLog(uid);

    log.setKey(uid, key);
    expect(() => log.setKey(uid, otherKey)).toThrow(
      expect.objectContaining({ code: "invalid_definition" }),
    );
  });
});

describe("the keys of sessions", () => {
  it("are kept while a subscription is open, and of the others the last 10,000", () => {
    const sessions = new SessionCache(prefix);
    const uids = Array.from({ length: 10_050 }, newUid);
    const [watched, left] = uids as [SessionUid, SessionUid];
    sessions.setKey(watched, key);
    const release = sessions.keep(sessions.of(watched));
    for (const uid of uids.slice(1)) sessions.setKey(uid, key);

    expect(sessions.of(watched).uid).toBe(watched);
    expect(() => sessions.of(left)).toThrow(expect.objectContaining({ code: "missing_key" }));
    expect(uids.filter((uid) => sessions.find(uid) !== undefined)).toHaveLength(10_001);

    release();
    expect(sessions.of(watched).uid).toBe(watched);
    for (let more = 0; more < 10_000; more += 1) sessions.setKey(newUid(), key);
    expect(sessions.find(watched)).toBe(undefined);
  });
});
