import { open, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packEpoch } from "@millrace/core/ports";
import { callId, itemId, partId, sessionId } from "@millrace/core/writing";
import type { Fact, SessionId } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import { systemClock } from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import { describe, expect, it, vi } from "vitest";
import {
  fillSession,
  item,
  linesOf,
  name,
  openFolder,
  prompt,
  contentOf,
  writeLines,
} from "../testing/fixtures.ts";
import { fileStore } from "./file-store.ts";
import type { BrokenFile } from "./session-folder.ts";

const fsync = "never";
const odd = ["../x", "A", "a", "👩‍👧", "x".repeat(256), "y".repeat(255) + "Z", "con", ".", "a/b"].map(
  sessionId,
);

describe("files", () => {
  it("every name has a file of its own in the folder, and is listed under it", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path, { fsync });
    for (const id of odd) await store.create({ sessionId: id, metadata: { id } });

    await store.close();
    await using again = fileStore(folder.path, { fsync });

    const listed = await again.list();
    expect(listed.map((record) => record.sessionId)).toEqual(odd.toSorted());
    for (const id of odd)
      expect(await again.find(id)).toMatchObject({ sessionId: id, metadata: { id } });
    const names = await readdir(folder.path);
    expect(names).toHaveLength(odd.length);
    expect(names.every((file) => file.endsWith(".jsonl"))).toBe(true);
  });

  it("are for their owner alone", async () => {
    await using parent = await openFolder();
    const folder = join(parent.path, "deep", "sessions");
    await using store = fileStore(folder);
    const { uid } = await store.create({ sessionId: name });
    await store.accept(uid, "key", prompt("input"));

    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const file of ["talk.jsonl", "talk.lock"]) {
      expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    }
  });

  it("hold one line for each call that stored something, and are only appended to", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path, { fsync, clock: manualClock(1_000) });
    const { uid } = await store.create({ sessionId: name });
    await fillSession(store, uid);
    const path = join(folder.path, "talk.jsonl");
    const before = await readFile(path);
    await store.accept(uid, "key_1", prompt("input_1")); // a duplicate
    await store.claim(uid, { from: 7 }); // too late
    await store.accept(uid, "key_3", prompt("input_3"));

    const lines = await linesOf(path);
    const after = await readFile(path);

    expect(after.subarray(0, before.length).equals(before)).toBe(true);
    expect(lines.map((line) => (JSON.parse(line.toString()) as { call?: string }).call)).toEqual([
      undefined,
      "claim",
      "accept",
      "append",
      "open",
      "commit",
      "append",
      "open",
      "accept",
      "accept",
    ]);
  });

  it("a folder that is not there has no sessions", async () => {
    await using folder = await openFolder();
    await using store = fileStore(join(folder.path, "none"));

    expect(await store.list()).toEqual([]);
    expect(await store.find(name)).toBeUndefined();
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("that can't be read are left out of the list, and reported", async () => {
    await using folder = await openFolder();
    const told: BrokenFile[] = [];
    await using store = fileStore(folder.path, { fsync, onBroken: (broken) => told.push(broken) });
    for (const id of ["a", "b", "c", "d"]) await store.create({ sessionId: sessionId(id) });
    await store.close();
    await writeFile(join(folder.path, "b.jsonl"), "not a session\n");
    await writeLines(join(folder.path, "e.jsonl"), await linesOf(join(folder.path, "d.jsonl")));
    await writeFile(join(folder.path, "NOT OURS.jsonl"), "");
    await writeFile(join(folder.path, "notes.txt"), "");
    await using again = fileStore(folder.path, { fsync, onBroken: (broken) => told.push(broken) });

    const listed = await again.list({ limit: 3 });
    expect(listed.map((record) => record.sessionId)).toEqual(["a", "c", "d"]);
    expect(await again.list({ after: sessionId("d") })).toEqual([]);
    expect(new Set(told.map(({ path }) => path.slice(folder.path.length + 1)))).toEqual(
      new Set(["b.jsonl", "e.jsonl", "NOT OURS.jsonl"]),
    );
    await expect(again.find(sessionId("b"))).rejects.toMatchObject({ code: "corrupt_session" });
  });
});

describe("one writer", () => {
  it("a second store can read a session that is held, as it grows, and not write it", async () => {
    await using folder = await openFolder();
    await using one = fileStore(folder.path);
    await using two = fileStore(folder.path);
    const { uid } = await one.create({ sessionId: name });

    for (let at = 1; at <= 20; at += 1) {
      await one.accept(uid, `key_${at}`, prompt(`input_${at}`));
      expect(await two.read(uid)).toStrictEqual(await one.read(uid));
      expect(await two.find(name)).toEqual(await one.find(name));
    }
    const late = two.accept(uid, "key", prompt("input"));
    await expect(late).rejects.toMatchObject({ code: "session_locked" });
    await expect(two.remove(uid)).rejects.toMatchObject({ code: "session_locked" });

    await one.release(uid);
    expect(await two.accept(uid, "key", prompt("input"))).toMatchObject({ outcome: "accepted" });
    expect(await one.head(uid)).toBe(21);
    await expect(one.claim(uid, { from: 0 })).rejects.toMatchObject({ code: "session_locked" });
  });

  it("stops when another has written to its file, and goes on from what is there", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path, { fsync });
    const { uid } = await store.create({ sessionId: name });
    await fillSession(store, uid);
    const path = join(folder.path, "talk.jsonl");
    const lines = await linesOf(path);
    await writeLines(path, lines.slice(0, -1));

    const late = store.accept(uid, "key", prompt("input"));

    await expect(late).rejects.toMatchObject({ code: "session_locked" });
    expect(await store.head(uid)).toBe(8);
    expect(await store.accept(uid, "key", prompt("input"))).toMatchObject({ outcome: "accepted" });
    expect(await store.verify(name)).toMatchObject({ ok: true, facts: 9 });
  });

  it("stops when its lock was taken, also if nothing was written since", async () => {
    await using folder = await openFolder();
    await using one = fileStore(folder.path, { fsync });
    await using two = fileStore(folder.path, { fsync });
    const { uid } = await one.create({ sessionId: name });
    await rm(join(folder.path, "talk.lock"));
    expect(await two.claim(uid, { from: 7 })).toMatchObject({ outcome: "moved" });

    const late = one.accept(uid, "key", prompt("input"));

    await expect(late).rejects.toMatchObject({ code: "session_locked" });
    expect(await two.head(uid)).toBe(0);
    expect(await two.claim(uid, { from: 0 })).toMatchObject({ outcome: "claimed" });
  });

  it("a reader sees what is there, also where its writer took something back", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "talk.jsonl");
    await using reader = fileStore(folder.path, { fsync });
    await using writer = fileStore(folder.path, { fsync });
    const { uid } = await writer.create({ sessionId: name });
    await fillSession(writer, uid);
    await writer.release(uid);
    expect(await reader.head(uid)).toBe(9);
    const lines = await linesOf(path);

    for (const text of ["prompt input_2 ü 👩‍👧", "longer than that was before it", "short"]) {
      await writeLines(path, lines.slice(0, -1));
      await writer.accept(uid, "key_2", prompt("input_2", text));
      await writer.release(uid);

      expect(await reader.read(uid)).toStrictEqual(await writer.read(uid));
      expect(await reader.floors(uid)).toStrictEqual(await writer.floors(uid));
      expect(JSON.stringify(await reader.read(uid, { after: 8 }))).toContain(text);
    }
  });

  it("calls that come together share a wait for the disk", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path);
    const { uid } = await store.create({ sessionId: name });
    const handle = await open(join(folder.path, "talk.jsonl"));
    const shared = Object.getPrototypeOf(handle) as { datasync: () => Promise<void> };
    await handle.close();
    const syncs = vi.spyOn(shared, "datasync");

    await Promise.all(
      Array.from({ length: 200 }, (_, at) => store.accept(uid, `key_${at}`, prompt(`input_${at}`))),
    );
    const together = syncs.mock.calls.length;
    await store.accept(uid, "alone", prompt("alone"));
    const alone = syncs.mock.calls.length - together;
    syncs.mockRestore();

    expect(together).toBeGreaterThanOrEqual(1);
    expect(together).toBeLessThan(10);
    expect(alone).toBe(1);
    expect(await store.verify(name)).toMatchObject({ ok: true, facts: 201 });
  });

  it("nothing is answered before the disk has it, not even that it is there already", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path);
    const { uid } = await store.create({ sessionId: name });
    const handle = await open(join(folder.path, "talk.jsonl"));
    const shared = Object.getPrototypeOf(handle) as { datasync: () => Promise<void> };
    await handle.close();
    const disk = Promise.withResolvers<void>();
    const syncs = vi.spyOn(shared, "datasync").mockImplementation(() => disk.promise);
    const answered: string[] = [];
    const note = (call: string) => (): number => answered.push(call);

    const first = store.accept(uid, "key", prompt("input")).then(note("accept"));
    await new Promise((resolve) => setTimeout(resolve, 10));
    const calls = [
      first,
      store.accept(uid, "key", prompt("input")).then(note("duplicate")),
      store.append(uid, { incarnation: 0, head: 0, bodies: [] }).then(note("moved")),
      store.read(uid).then(note("read")),
      store.find(name).then(note("find")),
    ];
    await new Promise((resolve) => setTimeout(resolve, 50));
    const early = [...answered];
    disk.resolve();
    await Promise.all(calls);
    syncs.mockRestore();

    expect(early).toEqual([]);
    expect(answered).toHaveLength(5);
  });

  it("a disk that fails fails the calls of that write, and what was read stays true", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path);
    const { uid } = await store.create({ sessionId: name });
    await store.accept(uid, "key_0", prompt("input_0"));
    const handle = await open(join(folder.path, "talk.jsonl"));
    const shared = Object.getPrototypeOf(handle) as { datasync: () => Promise<void> };
    await handle.close();
    const failure = Object.assign(new Error("i/o error"), { code: "EIO" });
    const syncs = vi.spyOn(shared, "datasync").mockRejectedValueOnce(failure);

    const answers = await Promise.allSettled([
      store.accept(uid, "key_1", prompt("input_1")),
      store.accept(uid, "key_1", prompt("input_1")),
      store.head(uid),
    ]);
    syncs.mockRestore();

    expect(answers.slice(0, 2)).toMatchObject([{ reason: failure }, { reason: failure }]);
    expect(answers[2]).toMatchObject({ value: 1 });
    expect(await store.accept(uid, "key_1", prompt("input_1"))).toMatchObject({
      outcome: "accepted",
    });
    expect(await store.verify(name)).toMatchObject({ ok: true, facts: 2 });
  });

  it("a closed store takes no calls, and has finished those that had begun", async () => {
    await using folder = await openFolder();
    const store = fileStore(folder.path);
    const { uid } = await store.create({ sessionId: name });
    await store.release(uid);
    const calls = Array.from({ length: 20 }, (_, at) =>
      store.accept(uid, `k${at}`, prompt(`i${at}`)),
    );

    await store.close();

    expect(await readdir(folder.path)).toEqual(["talk.jsonl"]);
    const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
    expect(new Set(outcomes)).toEqual(new Set(["accepted"]));
    await expect(store.head(uid)).rejects.toMatchObject({ code: "closed" });
    await expect(store.create({ sessionId: name })).rejects.toMatchObject({ code: "closed" });
    await store.close();
  });

  it("a session that is released has finished the calls that had begun", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path);
    const { uid } = await store.create({ sessionId: name });
    await store.release(uid);
    const calls = Array.from({ length: 20 }, (_, at) =>
      store.accept(uid, `k${at}`, prompt(`i${at}`)),
    );

    await store.release(uid);

    expect(await readdir(folder.path)).toEqual(["talk.jsonl"]);
    const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
    expect(new Set(outcomes)).toEqual(new Set(["accepted"]));
  });
});

describe("what can't be stored", () => {
  const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });

  it("is refused before anything is written", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path, { fsync });
    const { uid } = await store.create({ sessionId: name });
    await fillSession(store, uid);
    const before = await contentOf(store, uid);
    const path = join(folder.path, "talk.jsonl");
    const bytes = await readFile(path);
    const broken = [
      { type: "run_started" },
      { type: "item_committed", item: { ...item("i"), parts: [{ kind: "text", id: "p" }] } },
    ] as unknown as readonly FactBody[]; // what a caller without types may send

    for (const body of broken) {
      const call = store.append(uid, { incarnation: 1, head: 9, bodies: [body] });
      await expect(call).rejects.toMatchObject({ code: "invalid_event" });
    }
    const lane = store.open(uid, { lane: 0.5, epoch, itemId: itemId("x") });
    await expect(lane).rejects.toMatchObject({ code: "invalid_event" });
    await expect(store.claim(uid, { from: 1, to: -1 })).rejects.toMatchObject({
      code: "invalid_event",
    });
    const metadata = { at: Number.NaN };
    const other = store.create({ sessionId: sessionId("other"), metadata });
    await expect(other).rejects.toMatchObject({ code: "invalid_event" });

    expect(await contentOf(store, uid)).toStrictEqual(before);
    expect((await readFile(path)).equals(bytes)).toBe(true);
  });

  it("does not include facts that this release does not know, in whatever form they came", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "talk.jsonl");
    const envelope = { v: 1, n: 2, sessionId: name, time: 0 } as const;
    const bodies: readonly FactBody[] = [
      { type: "opaque", original: { type: "from_tomorrow", callId: callId("c") } },
      { type: "opaque", original: { type: "opaque", original: { type: "opaque" } } },
      { type: "opaque", original: { type: "from_tomorrow", ...envelope, n: 3 } },
      { type: "opaque", original: { type: "run_started", runId: "r", ...envelope, n: 4 } },
      { type: "opaque", original: { type: "run_started", runId: "r" } },
    ];
    await using store = fileStore(folder.path, { fsync, clock: manualClock(0) });
    const { uid } = await store.create({ sessionId: name });
    const answer = await store.append(uid, { incarnation: 0, head: 0, bodies });
    await store.close();
    expect((await readFile(path, "utf8")).split("\n")).toHaveLength(3);
    await using again = fileStore(folder.path, { fsync });

    expect(await again.read(uid)).toStrictEqual(answer.outcome === "appended" && answer.facts);
  });
});

it("the time of facts does not follow a wall clock that jumps", async () => {
  await using folder = await openFolder();
  let [wall, passed] = [1_000_000, 0];
  const clock = { ...systemClock, now: () => wall, monotonic: () => passed };
  await using store = fileStore(folder.path, { fsync, clock });
  const { uid } = await store.create({ sessionId: name });
  for (const [at, jump] of [0, 3_600_000, -7_200_000].entries()) {
    wall += jump;
    passed += 10;
    await store.accept(uid, `key_${at}`, prompt(`input_${at}`));
  }

  const times = (await store.read(uid)).map(({ time }) => time);

  expect(times).toEqual([1_000_010, 1_000_020, 1_000_030]);
  expect(store.now()).toBe(1_000_030);
});

async function all(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

describe("export and import", () => {
  it("bring all facts into a session of another name, also in another store", async () => {
    await using here = await openFolder();
    await using there = await openFolder();
    await using one = fileStore(here.path, { fsync });
    await using two = fileStore(there.path, { fsync });
    const { uid } = await one.create({ sessionId: name });
    await fillSession(one, uid);
    const other: SessionId = sessionId("copy");

    const record = await two.importSession({ sessionId: other }, one.exportSession(name));

    const facts: readonly Fact[] = await one.read(uid);
    const moved = facts.map((fact) => ({ ...fact, sessionId: other }));
    expect(await two.read(record.uid)).toStrictEqual(moved);
    expect(record).toMatchObject({ head: 9, incarnation: 1 });
    expect(await two.find(other)).toEqual(record);
    expect(await two.accept(record.uid, "key", prompt("more"))).toMatchObject({
      outcome: "accepted",
    });
  });

  it("refuse what is not a session's facts from the first one on", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path, { fsync });
    const { uid } = await store.create({ sessionId: name });
    await fillSession(store, uid);
    const lines = await all(store.exportSession(name));
    const other = { sessionId: sessionId("copy") };

    for (const wrong of [lines.slice(1), lines.toSpliced(3, 1), [...lines, "{}"], ["no"]]) {
      const call = store.importSession(other, wrong);
      await expect(call).rejects.toMatchObject({ code: "invalid_event" });
    }
    expect(await store.find(other.sessionId)).toBeUndefined();
    const missing = all(store.exportSession(sessionId("none")));
    await expect(missing).rejects.toMatchObject({ code: "unknown_session" });
    const taken = store.importSession({ sessionId: name }, lines);
    await expect(taken).rejects.toMatchObject({ code: "session_exists" });
  });
});

it("a session with long media parts is read back as it was", async () => {
  await using folder = await openFolder();
  await using store = fileStore(folder.path, { fsync });
  const { uid } = await store.create({ sessionId: name });
  const bytes = crypto.getRandomValues(new Uint8Array(60_000)); // lines that cross the blocks of reading
  const part = { kind: "media", id: partId("p"), mediaType: "image/png", bytes } as const;
  for (let at = 0; at < 20; at += 1) {
    const body: FactBody = { type: "item_committed", item: { ...item(`i${at}`), parts: [part] } };
    await store.append(uid, { incarnation: 0, head: at, bodies: [body] });
  }
  const facts = await store.read(uid);
  await store.close();
  await using again = fileStore(folder.path, { fsync });

  expect(await again.read(uid)).toStrictEqual(facts);
  expect((await again.list())[0]?.head).toBe(20);
});
