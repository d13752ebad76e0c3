import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFile, chmod, mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sessionId } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { fillSession, name, openFolder, prompt } from "../testing/fixtures.ts";
import { fileStore } from "./file-store.ts";

const fsync = "never";

/** How a call ended: its error's code, or that it has not ended within 20 seconds. */
async function endOf(call: Promise<unknown>): Promise<unknown> {
  const ended = call.then(
    () => "answered",
    (error: { readonly code?: unknown }) => error.code,
  );
  return Promise.race([ended, sleep(20_000, "waits", { ref: false })]);
}

/** Writes to pipes that a store has opened, so that threads that wait for them end. */
function releasePipes(...paths: readonly string[]): void {
  for (const path of paths) execFileSync("sh", ["-c", 'exec 3<>"$0"; sleep 0.1', path]);
}

describe("a pipe in the folder", () => {
  it("is refused at once, and blocks no other file", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path, { fsync });
    const { uid } = await store.create({ sessionId: name });
    const pipes = [0, 1, 2, 3].map((at) => join(folder.path, `f${at}.jsonl`));
    for (const path of pipes) execFileSync("mkfifo", [path]);

    const found = [0, 1, 2, 3].map((at) => endOf(store.find(sessionId(`f${at}`))));
    const unrelated = await endOf(readFile(import.meta.filename));
    const ends = await Promise.all(found);
    if (ends.includes("waits")) releasePipes(...pipes);

    expect(unrelated).toBe("answered");
    expect(ends).toEqual(Array.from({ length: 4 }, () => "corrupt_session"));
    expect((await store.list()).map((record) => record.sessionId)).toEqual([name]);
    expect(await store.head(uid)).toBe(0);
  });

  it.each(["uids.index", "secret.key", "removed.log", "talk.lock", "talk.jsonl.base"])(
    "in the place of %s blocks nothing",
    async (file) => {
      await using folder = await openFolder();
      await using store = fileStore(folder.path, { fsync });
      const { uid } = await store.create({ sessionId: name });
      await store.release(uid);
      const path = join(folder.path, file);
      execFileSync("mkfifo", [path]);

      await using other = fileStore(folder.path, { fsync });
      const calls = [other.key(uid), other.accept(uid, "key", prompt("input")), other.remove(uid)];
      const ends = await Promise.all(calls.map(endOf));
      if (ends.includes("waits")) releasePipes(path);

      expect(ends).not.toContain("waits");
    },
  );
});

describe("a link in the folder", () => {
  it("is not followed: neither read nor written through", async () => {
    await using folder = await openFolder();
    await using elsewhere = await openFolder();
    await using store = fileStore(folder.path, { fsync });
    await using other = fileStore(elsewhere.path, { fsync });
    const { uid } = await other.create({ sessionId: sessionId("foreign") });
    await fillSession(other, uid);
    await other.close();
    const target = join(elsewhere.path, "foreign.jsonl");
    const before = await readFile(target, "utf8");
    await symlink(target, join(folder.path, "foreign.jsonl"));

    expect(await endOf(store.find(sessionId("foreign")))).toBe("corrupt_session");
    expect(await endOf(store.accept(uid, "key", prompt("input")))).toBe("unknown_session");
    expect(await store.list()).toEqual([]);
    expect(await readFile(target, "utf8")).toBe(before);
  });

  it("in the place of a file beside a session is not written through", async () => {
    await using folder = await openFolder();
    await using elsewhere = await openFolder();
    const victim = join(elsewhere.path, "victim");
    await writeFile(victim, "untouched");
    await using store = fileStore(folder.path, { fsync });
    const { uid } = await store.create({ sessionId: name });
    await fillSession(store, uid);
    await store.close();
    await appendFile(join(folder.path, "talk.jsonl"), '{"call":"torn');
    await symlink(victim, join(folder.path, "talk.jsonl.torn"));
    await symlink(victim, join(folder.path, "removed.log"));
    await using again = fileStore(folder.path, { fsync });

    expect(await endOf(again.accept(uid, "key", prompt("input")))).toBe("corrupt_session");
    expect(await endOf(again.remove(uid))).toBe("corrupt_session");
    expect(await readFile(victim, "utf8")).toBe("untouched");
  });
});

describe("a folder to which any user may write", () => {
  it("is refused, and the error says how to close it", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "sessions");
    await mkdir(path);
    await chmod(path, 0o777);
    const store = fileStore(path, { fsync });

    const error = {
      code: "invalid_definition",
      message: expect.stringContaining("chmod 700") as unknown,
    };
    await expect(store.create({ sessionId: name })).rejects.toMatchObject(error);
    await expect(store.list()).rejects.toMatchObject(error);
    await chmod(path, 0o700);
    expect(await store.create({ sessionId: name })).toMatchObject({ head: 0 });
    await store.close();
  });
});

describe("a line that nests 100,000 deep", () => {
  it.each([
    ["in a fact", '"a":', "", ""],
    ["in a fact with an escaped key", '"\\u0061":', "", ""],
    ["beside the facts", '"b":1', "", ',"deep":'],
  ])("%s is damage of the session, with its place", async (_, inFact, __, beside) => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path, { fsync });
    const { uid } = await store.create({ sessionId: name });
    await store.close();
    const path = join(folder.path, "talk.jsonl");
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const fact = `{"type":"zzz","v":1,"n":1,"sessionId":"talk","time":1,${inFact}${inFact.endsWith(":") ? deep : ""}}`;
    const start = `{"call":"append"${beside}${beside === "" ? "" : deep},"facts":[${fact}],"head":1,"incarnation":0`;
    const header = (await readFile(path, "utf8")).trimEnd();
    const hash = createHash("sha256").update(header.slice(-66, -2)).update(start).digest("hex");
    await appendFile(path, `${start},"hash":"${hash}"}\n`);
    await using again = fileStore(folder.path, { fsync });

    const read = again.read(uid);
    if (beside === "") {
      await expect(read).rejects.toMatchObject({
        code: "corrupt_session",
        message: expect.stringContaining("line 2") as unknown,
      });
      expect(await again.verify(name)).toMatchObject({ ok: false, code: "unreadable", line: 2 });
    } else expect(await read).toHaveLength(1); // a field that no release reads
  });
});

describe("removing a session", () => {
  it("deletes what a killed process left of it, and its name in the index", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path, { fsync });
    const secret = "personal data of Ann";
    const id = sessionId(secret);
    for (let at = 0; at < 120; at += 1) await store.create({ sessionId: sessionId(`other ${at}`) });
    const { uid } = await store.create({ sessionId: id, metadata: { secret } });
    await store.close();
    await using again = fileStore(folder.path, { fsync });
    await again.head(uid); // makes the index
    const [file] = (await readdir(folder.path)).filter((one) => one.startsWith("personal"));
    await writeFile(join(folder.path, `${file}.0123456789abcdef.tmp`), secret);
    await writeFile(join(folder.path, "uids.index.0123456789abcdef.tmp"), `["${uid}","${secret}"]`);

    await again.remove(uid, { actor: { user: "Bob" } });

    const names = await readdir(folder.path);
    const texts = await Promise.all(names.map((one) => readFile(join(folder.path, one), "utf8")));
    expect(names.filter((one) => one.includes("personal"))).toEqual([]);
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
    expect(names).toContain("uids.index");
    expect(await again.tombstone(id)).toMatchObject({ uid, actor: { user: "Bob" } });
  });
});
