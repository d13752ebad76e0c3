import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MillraceError } from "@millrace/core";
import type { SessionUid } from "@millrace/core";
import { describe, expect, it, vi } from "vitest";
import fc from "fast-check";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import {
  fillSession,
  linesOf,
  name,
  openFolder,
  contentOf,
  writeLines,
} from "../testing/fixtures.ts";
import type { SessionContent } from "../testing/fixtures.ts";
import { fileStore } from "./file-store.ts";
import { verifySessionFile } from "./verify.ts";
import type { Anchor } from "./verify.ts";

vi.setConfig({ testTimeout: patience });

const fsync = "never";

interface Written {
  readonly uid: SessionUid;
  readonly path: string;
  readonly lines: readonly Buffer[];
  readonly whole: SessionContent;
  readonly before: SessionContent;
  readonly anchor: Anchor;
}

async function prepare(folder: string): Promise<Written> {
  const path = join(folder, "talk.jsonl");
  let uid: SessionUid;
  {
    await using store = fileStore(folder, { fsync });
    ({ uid } = await store.create({ sessionId: name, metadata: { title: "é" } }));
    await fillSession(store, uid);
  }
  const lines = await linesOf(path);
  const all = async (): Promise<SessionContent> => {
    await using store = fileStore(folder, { fsync });
    return await contentOf(store, uid);
  };
  const whole = await all();
  await writeLines(path, lines.slice(0, -1));
  const before = await all();
  await writeLines(path, lines);
  const verdict = await verifySessionFile(path);
  if (!verdict.ok) throw new Error(verdict.message);
  return { uid, path, lines, whole, before, anchor: verdict.anchor };
}

describe("one changed byte", () => {
  it("is refused, or it was in the last line and that is put aside", async () => {
    await using folder = await openFolder();
    const { uid, path, lines, before } = await prepare(folder.path);
    const bytes = Buffer.concat(lines);
    const lastLine = bytes.length - (lines.at(-1) as Buffer).length;
    const count = runs(1_000, 50_000);
    let [refused, repaired] = [0, 0];

    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (at, flip) => {
          const changed = Buffer.from(bytes);
          changed[at] = (changed[at] as number) ^ flip;
          await writeFile(path, changed);
          expect((await verifySessionFile(path)).ok).toBe(false);
          await using store = fileStore(folder.path, { fsync });
          // The uid is found by the header, so this is the way in that works for every damage.
          const opened = await store.claim(uid, { from: 1 }).catch((error: unknown) => error);

          if (MillraceError.is(opened)) {
            expect(opened.code).toBe(
              at < (lines[0] as Buffer).length ? "unknown_session" : "corrupt_session",
            );
            expect((await readFile(path)).equals(changed)).toBe(true);
            refused += 1;
          } else {
            expect(at).toBeGreaterThanOrEqual(lastLine);
            const { facts, floors } = await contentOf(store, uid);
            expect(facts.slice(0, -1)).toStrictEqual(before.facts);
            expect(floors).toStrictEqual([]); // by the claim
            expect((await readFile(`${path}.torn`)).includes(changed.subarray(lastLine))).toBe(
              true,
            );
            repaired += 1;
          }
        },
      ),
      { numRuns: count },
    );
    expect(refused).toBeGreaterThan(0);
    expect(repaired).toBeGreaterThan(0);
    console.log(
      `count: changed bytes, ${count} flips, ${refused} refused, ${repaired} repaired, 0 wrong`,
    );
  });

  it("in any line but the last is refused with the file, the line and the byte", async () => {
    await using folder = await openFolder();
    const { path, lines } = await prepare(folder.path);
    let at = 0;
    for (const [index, line] of lines.slice(0, -1).entries()) {
      for (const place of [0, line.length >> 1, line.length - 60, line.length - 1]) {
        const changed = Buffer.concat(lines);
        changed[at + place] = (changed[at + place] as number) ^ 1;
        await writeFile(path, changed);
        await using store = fileStore(folder.path, { fsync });

        const error = await store
          .find(name)
          .then(async (record) => store.read(record?.uid as SessionUid))
          .catch((cause: unknown) => cause);

        expect(error).toMatchObject({ code: "corrupt_session" });
        expect((error as Error).message).toContain(path);
        expect((error as Error).message).toContain(`line ${index + 1} at byte ${at}`);
      }
      at += line.length;
    }
  });
});

it("find and list do not believe a last line that was changed", async () => {
  await using folder = await openFolder();
  const { path, lines, before } = await prepare(folder.path);
  const last = (lines.at(-1) as Buffer).toString().replace(/"head":\d+/, '"head":99');
  await writeLines(path, [...lines.slice(0, -1), Buffer.from(last)]);

  await using store = fileStore(folder.path, { fsync });

  expect((await store.find(name))?.head).toBe(before.facts.length);
  expect((await store.list())[0]?.head).toBe(before.facts.length);
});

describe("verify", () => {
  it("finds every line that was dropped, swapped, doubled, moved or changed", async () => {
    await using folder = await openFolder();
    const { path, lines, anchor } = await prepare(folder.path);
    const index = fc.nat(lines.length - 1);
    const tampers = fc.oneof(
      index.map((at) => lines.toSpliced(at, 1)),
      index.map((at) => lines.toSpliced(at, 0, lines[at] as Buffer)),
      fc
        .tuple(index, index)
        .map(([from, to]) => lines.toSpliced(from, 1).toSpliced(to, 0, lines[from] as Buffer)),
      fc
        .tuple(index, index)
        .map(([one, two]) => lines.with(one, lines[two] as Buffer).with(two, lines[one] as Buffer)),
      fc.tuple(index, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([at, place, flip]) => {
        const line = Buffer.from(lines[at] as Buffer);
        line[place % line.length] = (line[place % line.length] as number) ^ flip;
        return lines.with(at, line);
      }),
      fc.tuple(index, fc.nat()).map(([at, place]) => {
        const line = lines[at] as Buffer;
        const cut = place % line.length;
        return lines.with(at, Buffer.concat([line.subarray(0, cut), line.subarray(cut + 1)]));
      }),
    );
    const whole = Buffer.concat(lines);
    const count = runs(5_000, 200_000);
    let found = 0;

    await fc.assert(
      fc.asyncProperty(tampers, async (tampered) => {
        const bytes = Buffer.concat(tampered);
        fc.pre(!bytes.equals(whole));
        await writeFile(path, bytes);
        // A dropped last line leaves a file that is whole in itself: that is what the anchor is for.
        const verdict = await verifySessionFile(path, { anchor });
        expect(verdict.ok).toBe(false);
        found += 1;
      }),
      { numRuns: count },
    );
    await writeLines(path, lines);
    expect(await verifySessionFile(path, { anchor })).toMatchObject({ ok: true, anchor });
    console.log(`count: tampers, ${count} files, ${found} found, 0 missed`);
  });

  it("finds without an anchor all but whole lines cut off the end", async () => {
    await using folder = await openFolder();
    const { path, lines, anchor } = await prepare(folder.path);
    for (let dropped = 0; dropped < lines.length - 1; dropped += 1) {
      await writeLines(path, lines.toSpliced(dropped, 1));
      expect(await verifySessionFile(path)).toMatchObject({ ok: false, line: dropped + 1 });
    }

    await writeLines(path, lines.slice(0, -2));

    expect((await verifySessionFile(path)).ok).toBe(true);
    expect(await verifySessionFile(path, { anchor })).toMatchObject({ code: "not_anchored" });
  });

  it("reports the line, the byte and the kind of the damage", async () => {
    await using folder = await openFolder();
    const { path, lines } = await prepare(folder.path);
    const at = (lines[0] as Buffer).length;
    const line = (lines[1] as Buffer).toString().replace("1", "2");
    await writeLines(path, lines.with(1, Buffer.from(line)));
    expect(await verifySessionFile(path)).toMatchObject({ code: "changed", line: 2, at });

    await writeFile(path, Buffer.concat(lines).subarray(0, -1));
    expect(await verifySessionFile(path)).toMatchObject({ code: "torn", line: lines.length });

    await writeFile(path, "");
    expect(await verifySessionFile(path)).toMatchObject({ code: "changed", line: 1, at: 0 });
  });
});
