import { execFile } from "node:child_process";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SessionUid } from "@millrace/core";
import { describe, expect, it, vi } from "vitest";
import { programArguments, startChild } from "../testing/child.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { name, openFolder, prompt } from "../testing/fixtures.ts";
import { fileStore } from "./file-store.ts";
import { ownHolder } from "./holder.ts";
import { verifySessionFile } from "./verify.ts";

vi.setConfig({ testTimeout: 4 * patience });

const run = promisify(execFile);

async function makeSession(folder: string): Promise<SessionUid> {
  await using store = fileStore(folder, { fsync: "never" });
  return (await store.create({ sessionId: name })).uid;
}

async function deadPid(): Promise<number> {
  const child = run(process.execPath, ["-e", ""]);
  await child;
  return child.child.pid as number;
}

describe("a process that is killed", () => {
  it("leaves everything that it had answered, and nothing that stops the next one", async () => {
    await using folder = await openFolder();
    const kills = runs(40, 2_000, 15);
    const answered: string[] = [];
    let torn = 0;

    for (let round = 0; round < kills; round += 1) {
      await using child = startChild("append-run.ts", folder.path, `r${round}`);
      await child.hasPrinted(1 + (round % 5));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
      child.kill("SIGKILL");
      await child.gone;
      torn += child.printed.filter((line) => line === "torn").length;
      answered.push(...child.printed.filter((line) => /^r\d+_\d+$/.test(line)));
    }

    await using store = fileStore(folder.path, { onTorn: () => (torn += 1) });
    const record = await store.find(name);
    const uid = record?.uid as SessionUid;
    await store.accept(uid, "last", prompt("last"));
    const facts = await store.read(uid);
    const stored = new Set(facts.map((fact) => fact.type === "input_accepted" && fact.inputId));
    expect(answered.filter((line) => !stored.has(line as never))).toEqual([]);
    expect(facts.length).toBeLessThanOrEqual(answered.length + kills + 1); // one under way each
    expect(answered.length).toBeGreaterThanOrEqual(kills);
    expect(await store.verify(name)).toMatchObject({ ok: true, facts: facts.length });
    console.log(
      `count: kill -9, ${kills} kills, ${answered.length} answers, ${torn} torn ends, 0 lost`,
    );
  });
});

describe("two processes that want one session", () => {
  it("never hold it at once", async () => {
    await using folder = await openFolder();
    await makeSession(folder.path);
    const times = runs(100, 5_000);
    await using one = startChild("lock-run.ts", folder.path);
    await using two = startChild("lock-run.ts", folder.path);
    // Both have started before they compete: on a busy machine one would end before the other starts.
    await Promise.all([one.ask("release"), two.ask("release")]);

    const [first, second] = (
      await Promise.all([one.ask(`compete ${times}`), two.ask(`compete ${times}`)])
    ).map((line) => JSON.parse(line) as { held: number; locked: number; overlaps: number });

    expect([first?.held, second?.held]).toEqual([times, times]);
    expect([first?.overlaps, second?.overlaps]).toEqual([0, 0]);
    const locked = (first?.locked ?? 0) + (second?.locked ?? 0);
    expect(locked).toBeGreaterThan(0);
    const verdict = await verifySessionFile(join(folder.path, "talk.jsonl"));
    expect(verdict).toMatchObject({ ok: true, facts: 2 * times });
    console.log(
      `count: lock, ${2 * times} holdings by 2 processes, ${locked} refusals, 0 overlaps`,
    );
  });

  it("find a dead one's lock, and exactly one of them takes it over", async () => {
    await using folder = await openFolder();
    await makeSession(folder.path);
    const rounds = runs(60, 3_000, 20);
    const lock = join(folder.path, "talk.lock");
    const pid = await deadPid();
    await using one = startChild("lock-run.ts", folder.path);
    await using two = startChild("lock-run.ts", folder.path);

    for (let round = 0; round < rounds; round += 1) {
      await writeFile(lock, JSON.stringify({ ...ownHolder(`dead${round}`), pid }));
      const answers = await Promise.all([one.ask("write"), two.ask("write")]);

      expect(answers.toSorted()).toEqual(["accepted", "session_locked"]);
      const [winner, loser] = answers[0] === "accepted" ? [one, two] : [two, one];
      expect(await loser.ask("write")).toBe("session_locked");
      expect(await winner.ask("write")).toBe("accepted");
      await winner.ask("release");
    }
    expect((await readdir(folder.path)).toSorted()).toEqual(["talk.jsonl"]);
    console.log(`count: lock of the dead, ${rounds} rounds of 2 takers, 1 winner each`);
  });

  it("a stopped process keeps its lock, and is fenced once that was taken from it by hand", async () => {
    await using folder = await openFolder();
    const uid = await makeSession(folder.path);
    await using child = startChild("lock-run.ts", folder.path);
    expect(await child.ask("write")).toBe("accepted");
    child.kill("SIGSTOP");
    await using store = fileStore(folder.path);

    const mine = (): Promise<unknown> => store.accept(uid, "mine", prompt("mine"));
    await expect(mine()).rejects.toMatchObject({ code: "session_locked" });
    expect(await store.head(uid)).toBe(1);
    await rm(join(folder.path, "talk.lock"));
    expect(await mine()).toMatchObject({ outcome: "accepted" });
    child.kill("SIGCONT");

    expect(await child.ask("write")).toBe("session_locked");
    expect(await child.ask("write")).toBe("session_locked");
    await store.release(uid);
    expect(await child.ask("write")).toBe("accepted");
    expect(await store.verify(name)).toMatchObject({ ok: true, facts: 3 });
  });
});

interface Full {
  readonly accepted: number;
  readonly failures: readonly string[];
  readonly head: number;
  readonly whole: boolean;
  readonly later: string;
}

describe("a disk that takes no more", () => {
  it("is an error of the call, and leaves the session as it was before", async () => {
    await using folder = await openFolder();
    const program = programArguments("full-run.ts", folder.path);
    // A limit on the size of a file: the write that crosses it is cut, the next one fails.
    const limited = 'ulimit -f 64; exec "$0" "$@"';

    const { stdout } = await run("sh", ["-c", limited, process.execPath, ...program]);

    const left = JSON.parse(stdout) as Full;
    expect(new Set(left.failures)).toEqual(new Set(["EFBIG"]));
    expect(left.accepted).toBeGreaterThan(3);
    expect(left.head).toBe(left.accepted);
    expect(left.whole).toBe(true);
    await using store = fileStore(folder.path);
    const uid = (await store.find(name))?.uid as SessionUid;
    const more = left.later === "accepted" ? 1 : 0;
    expect(await store.head(uid)).toBe(left.accepted + more);
    expect(await store.accept(uid, "again", prompt("again"))).toMatchObject({
      outcome: "accepted",
    });
    expect(await readdir(folder.path)).not.toContain("talk.jsonl.torn");
  });

  it("goes on where there is room again", async (context) => {
    await using folder = await openFolder();
    const mounted = `mount -t tmpfs -o size=128k,mode=700 none "${folder.path}" && exec "$0" "$@"`;
    const inside = ["-Urm", "sh", "-c", mounted];
    const program = programArguments("full-run.ts", folder.path);
    const can = await run("unshare", [
      "-Urm",
      "sh",
      "-c",
      `mount -t tmpfs none "${folder.path}"`,
    ]).then(
      () => true,
      () => false,
    );
    if (!can) return context.skip(); // needs a kernel that lets users mount

    const { stdout } = await run("unshare", [...inside, process.execPath, ...program]);

    const left = JSON.parse(stdout) as Full;
    expect(new Set(left.failures)).toEqual(new Set(["ENOSPC"]));
    expect(left).toMatchObject({ head: left.accepted, whole: true, later: "accepted" });
  });
});
