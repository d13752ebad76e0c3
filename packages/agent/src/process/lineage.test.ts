import process from "node:process";

import { expect, test } from "vitest";

import { lineageOf } from "./lineage.ts";
import type { LineageQuery, ProcessRow } from "./lineage.ts";
import { createLinuxTable, parseStat } from "./linux-table.ts";
import { shareReadings } from "./process-table.ts";
import type { ProcessTable } from "./process-table.ts";
import { parsePs, psTable } from "./ps-table.ts";

const self = row(50, { parent: 40, group: 50, session: 40, startedAt: 5 });
const root = row(100, { parent: 50 });

test("children, their children, and peers of group and session belong to the lineage", () => {
  const child = row(101, { parent: 100, group: 101 });
  const grandchild = row(102, { parent: 101, group: 102, session: 102 });
  const orphanOfGroup = row(103, { parent: 1, group: 102, session: 102 });
  const orphanOfSession = row(104, { parent: 1, group: 104 });
  const stranger = row(105, { parent: 1, group: 105, session: 105 });

  const found = pids([root, child, grandchild, orphanOfGroup, orphanOfSession, stranger]);

  expect(found).toEqual([100, 101, 102, 103, 104]);
});

test("who carries the mark, or was found before, belongs to it wherever it went", () => {
  const marked = row(201, { parent: 1, group: 201, session: 201, mark: "yes" });
  const known = row(202, { parent: 1, group: 202, session: 202 });
  const childOfKnown = row(203, { parent: 202, group: 203, session: 203 });
  const otherMark = row(204, { parent: 1, group: 204, session: 204, mark: "no" });

  const found = pids([marked, known, childOfKnown, otherMark], { known: new Map([[202, 20]]) });

  expect(found).toEqual([201, 202, 203]);
});

test("a pid that was given again is another process", () => {
  const reused = row(202, { parent: 1, group: 202, session: 202, startedAt: 30 });
  const newRoot = row(100, { parent: 1, startedAt: 40 });
  const peer = row(106, { parent: 1, startedAt: 41 });

  expect(pids([reused], { known: new Map([[202, 20]]) })).toEqual([]);
  expect(pids([newRoot, peer])).toEqual([]);
});

test("nobody older than the root belongs to it", () => {
  expect(pids([root, row(107, { parent: 100, startedAt: 19 })])).toEqual([100]);
});

test("we and those above us are spared, also if we carry the mark", () => {
  const above = row(40, { parent: 1, session: 40, group: 40, startedAt: 1, mark: "yes" });
  const marked = { ...self, mark: "yes" };
  const sibling = row(51, { parent: 40, group: 50, session: 40, mark: "yes" });
  const innocent = row(52, { parent: 40, group: 50, session: 40 });

  expect(pids([above, marked, sibling, innocent], { root: undefined })).toEqual([51]);
});

test("a name with brackets and spaces in it does not shift the fields of a row", () => {
  const rest = "S 1 22 33 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 777 " + "9 ".repeat(30);

  expect(parseStat(`4242 (a) S 9 (b c) ${rest}`)).toEqual({
    row: { pid: 4242, parent: 1, group: 22, session: 33, startedAt: 777 },
    living: true,
    loading: false,
  });
});

test("a zombie lives only if other threads of it do, and kernel threads never count", () => {
  const stat = (state: string, flags: number, threads: number): string =>
    `7 (x) ${state} 1 7 7 0 -1 ${flags} 0 0 0 0 0 0 0 0 20 0 ${threads} 0 777 ${"9 ".repeat(30)}`;

  expect(parseStat(stat("Z", 0, 1))?.living).toBe(false);
  expect(parseStat(stat("Z", 0, 2))?.living).toBe(true);
  expect(parseStat(stat("S", 0x0020_0000, 1))?.living).toBe(false);
  expect(parseStat("7 (x) S 1")).toBeUndefined();
});

test("what ps prints is read, zombies left out", () => {
  const text =
    "    1     0     1 Ss   Sun Nov 15 03:55:01 2026\n   12     1    12 Z    Sun Nov 15 03:55:02 2026\nnoise\n";

  expect(parsePs(text)).toEqual([
    { pid: 1, parent: 0, group: 1, session: 0, startedAt: Date.UTC(2026, 10, 15, 3, 55, 1) },
  ]);
});

test.each([
  ["the files of Linux", createLinuxTable()],
  ["ps", psTable],
])("%s show this process under its parent", async (_, table) => {
  const rows = (await table.read()) ?? [];

  const own = rows.find(({ pid }) => pid === process.pid);
  expect(own).toMatchObject({ parent: process.ppid });
  expect(own !== undefined && table.lives(own)).toBe(true);
});

test("all that ask during a reading share the next one, which begins after they asked", async () => {
  const finish: (() => void)[] = [];
  const table: ProcessTable = {
    read: () => new Promise((resolve) => finish.push(() => resolve([row(finish.length, {})]))),
    startedAt: () => undefined,
    lives: () => true,
  };
  const read = shareReadings(table);

  const first = read();
  await settle();
  const second = read();
  const third = read();
  await settle();
  expect(finish).toHaveLength(1);
  finish[0]?.();
  await settle();
  expect(finish).toHaveLength(2);
  finish[1]?.();

  expect(await first).not.toBe(await second);
  expect(await second).toBe(await third);
});

function row(pid: number, fields: Partial<ProcessRow>): ProcessRow {
  return { pid, parent: 1, group: 100, session: 100, startedAt: 20, ...fields };
}

function pids(rows: readonly ProcessRow[], query: Partial<LineageQuery> = {}): readonly number[] {
  const whole = { root, known: new Map(), matches: isYes, self: self.pid, ...query };
  const all = rows.some(({ pid }) => pid === self.pid) ? rows : [self, ...rows];
  return lineageOf(all, whole)
    .map(({ pid }) => pid)
    .toSorted((a, b) => a - b);
}

function isYes(mark: string): boolean {
  return mark === "yes";
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
