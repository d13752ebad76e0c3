import { readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MillraceError } from "@millrace/core";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { openFolder } from "../testing/fixtures.ts";
import { lifeOf, ownHolder, parseHolder } from "./holder.ts";
import type { Holder } from "./holder.ts";
import { acquireLock } from "./lock.ts";

/** No process has this number: it is above what Linux gives out. */
const nobody = 2 ** 22 + 1;

async function race(path: string, takers: number): Promise<number> {
  const answers = await Promise.allSettled(Array.from({ length: takers }, () => acquireLock(path)));
  const held = answers.filter((answer) => answer.status === "fulfilled");
  for (const answer of answers) {
    if (answer.status === "rejected")
      expect(answer.reason).toMatchObject({ code: "session_locked" });
  }
  expect(held.filter(({ value }) => value.holds())).toHaveLength(held.length);
  await Promise.all(held.map(({ value }) => value.release()));
  return held.length;
}

describe("acquireLock", () => {
  it("gives a free lock to exactly one of many takers, and leaves nothing behind", async () => {
    await using folder = await openFolder();
    const rounds = runs(100, 10_000);
    for (let round = 0; round < rounds; round += 1) {
      expect(await race(join(folder.path, "talk.lock"), 6)).toBe(1);
    }

    expect(await readdir(folder.path)).toEqual([]);
    console.log(`count: free locks, ${rounds} rounds of 6 takers, 1 winner each`);
  });

  it("gives a dead one's lock to exactly one of many takers", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "talk.lock");
    const rounds = runs(200, 20_000);
    for (let round = 0; round < rounds; round += 1) {
      await writeFile(path, JSON.stringify({ ...ownHolder(`dead${round}`), pid: nobody }));

      expect(await race(path, 2 + (round % 5))).toBe(1);
    }

    expect(await readdir(folder.path)).toEqual([]);
    console.log(`count: locks of the dead, ${rounds} rounds of 2 to 6 takers, 1 winner each`);
  });

  it("takes over from a process that died while it was taking over", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "talk.lock");
    const dead = (token: string): string => JSON.stringify({ ...ownHolder(token), pid: nobody });
    await writeFile(path, dead("one"));
    await writeFile(`${path}.one`, dead("two"));
    await writeFile(`${path}.one.two`, dead("three"));

    expect(await race(path, 4)).toBe(1);
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("does not take a lock that can't be parsed, nor one from another machine", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "talk.lock");
    const elsewhere = { ...ownHolder("token"), boot: "other", machine: "other", pid: nobody };
    for (const text of ["", "{}", "null", '{"token":"../x","pid":1}', JSON.stringify(elsewhere)]) {
      await writeFile(path, text);

      await expect(acquireLock(path)).rejects.toMatchObject({ code: "session_locked" });
      expect(await readFile(path, "utf8")).toBe(text);
    }
  });

  it("no longer holds once its file was removed, replaced, moved or written to", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "talk.lock");
    const harms: readonly (() => Promise<void>)[] = [
      () => rm(path),
      () => rename(path, `${path}.moved`),
      () => writeFile(path, "{}"),
      async () => {
        await rm(path);
        await acquireLock(path);
      },
    ];
    for (const harm of harms) {
      const lock = await acquireLock(path);
      expect(lock.holds()).toBe(true);
      await harm();

      expect(lock.holds()).toBe(false);
      const left = await readFile(path, "utf8").catch(() => undefined);
      await lock.release();
      expect(await readFile(path, "utf8").catch(() => undefined)).toBe(left);
      await rm(path, { force: true });
    }
  });

  it("has the mode of a private file, and names its holder", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "talk.lock");
    const lock = await acquireLock(path);

    expect(parseHolder(await readFile(path, "utf8"))).toEqual(ownHolder(lock.token));
    const error = await acquireLock(path).catch((cause: unknown) => cause);
    expect(MillraceError.is(error) && error.message).toContain(`process ${process.pid}`);
  });
});

describe("lifeOf", () => {
  const self: Holder = {
    token: "a",
    pid: process.pid,
    started: ownHolder("a").started ?? "1",
    boot: "boot",
    space: "pid:[1]",
    machine: "here",
  };

  it.each<[string, Partial<Holder>, string]>([
    ["this process", {}, "alive"],
    ["a pid that nobody has", { pid: nobody }, "dead"],
    ["a pid that was given to another process since", { started: "1" }, "dead"],
    ["a process from before the machine's last start", { boot: "before" }, "dead"],
    ["a process in another container", { space: "pid:[2]" }, "elsewhere"],
    ["a process on another machine", { boot: "its own", machine: "there" }, "elsewhere"],
    ["a machine that changed its name", { machine: "was here" }, "alive"],
  ])("%s", (_, other, life) => {
    expect(lifeOf({ ...self, ...other }, self)).toBe(life);
  });

  it("checks the pid alone where the system has no /proc", () => {
    const bare: Holder = { token: "a", pid: process.pid, machine: "here" };

    expect(lifeOf(bare, bare)).toBe("alive");
    expect(lifeOf({ ...bare, pid: nobody }, bare)).toBe("dead");
    expect(lifeOf({ ...bare, pid: 1 }, bare)).toBe("alive");
    expect(lifeOf({ ...bare, machine: "there" }, bare)).toBe("elsewhere");
  });
});
