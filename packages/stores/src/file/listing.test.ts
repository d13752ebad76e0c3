import {
  appendFile,
  copyFile,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { SessionId } from "@millrace/core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { openFolder } from "../testing/fixtures.ts";
import type { Folder } from "../testing/fixtures.ts";
import { encodeHeader } from "./line.ts";
import { fileStore } from "./file-store.ts";
import type { FileStore } from "./file-store.ts";

vi.setConfig({ testTimeout: 4 * patience });

const fsync = "never";
const few = 1_000;
const many = runs(10_000, 100_000);
const never = sessionUid("never_made");

function nameOf(at: number): SessionId {
  return sessionId(`session ${String(at).padStart(6, "0")}`);
}

/** Writes so many empty sessions, as a folder of long use holds them. */
async function fillFolder(folder: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += 100) {
    const some = Array.from({ length: Math.min(100, count - at) }, (_, more) => {
      const id = nameOf(at + more);
      const own = { uid: sessionUid(`uid_${at + more}`), sessionId: id, metadata: {} };
      const header = { ...own, createdAt: at + more };
      const file = `session%20${id.slice("session ".length)}.jsonl`;
      return writeFile(join(folder, file), encodeHeader(header).bytes);
    });
    await Promise.all(some);
  }
  await settleFolder(folder);
}

/** Sets the folder's time of change to a minute ago: what is left alone for a while is like that. */
async function settleFolder(folder: string): Promise<void> {
  const past = (await stat(folder)).mtimeMs / 1_000 - 60;
  await utimes(folder, past, past);
}

/** Processor time in milliseconds: other load on the machine slows the clock's. */
async function costOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function idsOf(store: FileStore): Promise<readonly string[]> {
  return (await store.list()).map((record) => record.sessionId);
}

describe("the cost", () => {
  let folder: Folder;
  beforeAll(async () => {
    folder = await openFolder();
    for (const count of [few, many]) {
      await mkdir(join(folder.path, String(count)));
      await fillFolder(join(folder.path, String(count)), count);
    }
  }, 4 * patience);
  afterAll(() => folder[Symbol.asyncDispose](), 4 * patience);

  it("of a page does not follow the number of sessions", async () => {
    const least = new Map<number, number>();
    await using small = fileStore(join(folder.path, String(few)), { fsync });
    await using large = fileStore(join(folder.path, String(many)), { fsync });
    const pageOf = (store: FileStore, count: number) => () =>
      store.list({ after: nameOf(count / 2), limit: 50 });
    const stores = [
      [few, small],
      [many, large],
    ] as const;
    for (const [count, store] of stores) {
      expect((await pageOf(store, count)()).map((record) => record.sessionId)).toEqual(
        Array.from({ length: 50 }, (_, at) => nameOf(count / 2 + 1 + at)),
      );
    }

    // The least counts, since noise only adds.
    for (let round = 0; round < 15; round += 1) {
      for (const [count, store] of stores) {
        const cost = await costOf(pageOf(store, count));
        least.set(count, Math.min(cost, least.get(count) ?? Infinity));
      }
    }

    const [short, long] = [least.get(few) ?? NaN, least.get(many) ?? NaN];
    console.log(
      `count: a page of 50, ${short.toFixed(1)} ms of ${few} sessions, ${long.toFixed(1)} ms of ${many}`,
    );
    expect(long / short).toBeLessThan(2);
  });

  it("of a page of records is a look at each file's state, once all were read", async () => {
    await using store = fileStore(join(folder.path, String(many)), { fsync });
    const page = async (): Promise<void> => {
      const { records } = await store.page({ limit: 50 });
      expect(records[0]?.sessionId).toBe(nameOf(many - 1));
      expect(records).toHaveLength(50);
    };
    const first = await costOf(page);
    let then = Infinity;
    for (let round = 0; round < 5; round += 1) then = Math.min(then, await costOf(page));

    console.log(
      `count: a page of 50 records of ${many} sessions, ${first.toFixed(0)} ms at first, ${then.toFixed(0)} ms then`,
    );
    expect(then).toBeLessThan(first / 3);
  });

  it("of a uid that no session has is not that of every header", async () => {
    const search = async (): Promise<void> => {
      await using store = fileStore(join(folder.path, String(many)), { fsync });
      await expect(store.head(never)).rejects.toMatchObject({ code: "unknown_session" });
      expect(await store.head(sessionUid(`uid_${many - 1}`))).toBe(0);
    };
    const first = await costOf(search);

    const later = Math.min(await costOf(search), await costOf(search), await costOf(search));

    console.log(
      `count: an unknown uid among ${many} sessions, ${first.toFixed(0)} ms at first, ${later.toFixed(0)} ms then`,
    );
    expect(later).toBeLessThan(first / 3);
  });
});

describe("a list", () => {
  it("has what other processes and people add and take away at once", async () => {
    await using folder = await openFolder();
    await using one = fileStore(folder.path, { fsync });
    await using two = fileStore(folder.path, { fsync });
    const expected = new Set<string>();
    for (let round = 0; round < 30; round += 1) {
      const made = await two.create({ sessionId: `s${round}` });
      expected.add(`s${round}`);
      expect(await idsOf(one)).toEqual([...expected].toSorted());
      if (round % 3 === 0) {
        await two.remove(made.uid);
        expected.delete(`s${round}`);
        expect(await idsOf(one)).toEqual([...expected].toSorted());
      }
    }
    await settleFolder(folder.path);
    expect(await idsOf(one)).toEqual([...expected].toSorted());
    await rm(join(folder.path, "s1.jsonl"));
    expected.delete("s1");

    expect(await idsOf(one)).toEqual([...expected].toSorted());
  });

  it("of a folder that has not changed for a while follows the next change", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path, { fsync });
    await store.create({ sessionId: "a" });
    await settleFolder(folder.path);
    expect(await idsOf(store)).toEqual(["a"]);
    expect(await idsOf(store)).toEqual(["a"]);

    await using other = fileStore(folder.path, { fsync });
    await other.create({ sessionId: "b" });

    expect(await idsOf(store)).toEqual(["a", "b"]);
  });

  it("has sessions with long names again after their file was repaired in its place", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path, { fsync });
    const long = sessionId("long ".repeat(40));
    await store.create({ sessionId: long });
    await store.close();
    await using again = fileStore(folder.path, { fsync });
    const [file] = await readdir(folder.path);
    const path = join(folder.path, file as string);
    const whole = await readFile(path);
    await writeFile(path, "not a session\n");
    await settleFolder(folder.path);
    expect(await idsOf(again)).toEqual([]);

    await writeFile(path, whole);

    expect(await idsOf(again)).toEqual([long]);
  });
});

describe("the index of uids", () => {
  const index = "uids.index";

  it("is made by a search among many sessions, and follows what is created and removed", async () => {
    await using folder = await openFolder();
    await fillFolder(folder.path, 150);
    await using store = fileStore(folder.path, { fsync });
    await expect(store.head(never)).rejects.toMatchObject({ code: "unknown_session" });
    expect((await stat(join(folder.path, index))).mode & 0o777).toBe(0o600);

    const made = await store.create({ sessionId: "made" });
    const fork = await store.fork(made.uid, { sessionId: "fork", n: 0 });
    await store.remove(sessionUid("uid_3"));
    await store.close();
    await using again = fileStore(folder.path, { fsync });

    expect(await again.head(made.uid)).toBe(0);
    expect(await again.head(fork.uid)).toBe(0);
    const removed = again.head(sessionUid("uid_3"));
    await expect(removed).rejects.toMatchObject({ code: "unknown_session" });
    const text = await readFile(join(folder.path, index), "utf8");
    expect(text).toContain(made.uid);
    expect(text).toContain(fork.uid);
  });

  it("may lack sessions, have torn or foreign lines, or be deleted", async () => {
    await using folder = await openFolder();
    await fillFolder(folder.path, 150);
    const path = join(folder.path, index);
    const finds = async (): Promise<void> => {
      await using store = fileStore(folder.path, { fsync });
      for (const at of [0, 77, 149]) expect(await store.head(sessionUid(`uid_${at}`))).toBe(0);
      await expect(store.head(never)).rejects.toMatchObject({ code: "unknown_session" });
    };
    await finds();
    const whole = await readFile(path);

    await appendFile(path, '["uid_9');
    await finds();
    await appendFile(path, '\nnot json\n{"a":1}\n["",""]\n["uid_0"]\n');
    await finds();
    await writeFile(path, whole.subarray(0, whole.length >> 1));
    await finds();
    await writeFile(path, "");
    await finds();
    await rm(path);
    await finds();
  });

  it("does not hide a session that was copied in, nor one that has its name anew", async () => {
    await using folder = await openFolder();
    await using elsewhere = await openFolder();
    await fillFolder(folder.path, 150);
    await using store = fileStore(folder.path, { fsync });
    await expect(store.head(never)).rejects.toMatchObject({ code: "unknown_session" });
    await using other = fileStore(elsewhere.path, { fsync });
    const foreign = await other.create({ sessionId: "foreign" });
    const same = await other.create({ sessionId: nameOf(3) });
    await other.close();

    const file = join(folder.path, "foreign.jsonl");
    await copyFile(join(elsewhere.path, "foreign.jsonl"), file);
    await store.remove(sessionUid("uid_3"));
    const second = "session%20000003.jsonl";
    await rename(join(elsewhere.path, second), join(folder.path, second));

    for (const found of [store, fileStore(folder.path, { fsync })]) {
      expect(await found.head(foreign.uid)).toBe(0);
      expect(await found.head(same.uid)).toBe(0);
    }
  });

  it("is written anew once most of its lines are of removed sessions", async () => {
    await using folder = await openFolder();
    await fillFolder(folder.path, 150);
    await using store = fileStore(folder.path, { fsync });
    await expect(store.head(never)).rejects.toMatchObject({ code: "unknown_session" });
    const path = join(folder.path, index);
    const { length } = await readFile(path);
    const gone = Array.from({ length: 800 }, (_, at) => {
      return `["gone_${at}","gone"]\n["gone_${at}","gone",true]\n`;
    });
    await appendFile(path, gone.join(""));

    await using again = fileStore(folder.path, { fsync });
    await expect(again.head(never)).rejects.toMatchObject({ code: "unknown_session" });

    expect((await readFile(path)).length).toBeLessThanOrEqual(length);
    expect(await again.head(sessionUid("uid_149"))).toBe(0);
    await expect(again.head(never)).rejects.toMatchObject({ code: "unknown_session" });
  });
});
