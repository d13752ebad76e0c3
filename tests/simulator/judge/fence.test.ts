/** The oracle of fences is seen to fail: the store below it carries out whatever it is asked. */
import { memorySessionStore } from "@millrace/core/memory";
import { packEpoch } from "@millrace/core/ports";
import type { SessionStore } from "@millrace/core/ports";
import { sessionUid } from "@millrace/core/writing";
import { expect, test } from "vitest";
import { guarded } from "./fence.ts";

const uid = sessionUid("u");
const epoch = (incarnation: number, generation: number): number =>
  packEpoch({ incarnation, generation, attempt: 1 });

/** The methods that write, given only what the oracle reads of their requests. */
interface Writes {
  readonly claim: (from: number, incarnation: number, head?: number) => Promise<unknown>;
  readonly append: (incarnation: number, opens?: number) => Promise<unknown>;
  readonly open: (epoch: number) => Promise<unknown>;
  readonly commit: (epoch: number) => Promise<unknown>;
}

/** What the oracle reports of calls that are all answered with yes. */
async function reportsOf(
  calls: (writes: Writes) => readonly Promise<unknown>[],
): Promise<string[]> {
  const found: string[] = [];
  let claimed = 0;
  const agreeing: SessionStore = {
    ...memorySessionStore(),
    claim: async () => ({ outcome: "claimed", incarnation: claimed, facts: [] }),
    append: async () => ({ outcome: "appended", facts: [] }),
    open: async () => ({ outcome: "opened", head: 0, facts: [] }),
    commit: async () => ({ outcome: "committed", facts: [] }),
  };
  const store = guarded(agreeing, {
    add: (rule, what) => void found.push(`${rule}: ${what.replace(` of ${uid}`, "")}`),
  });
  type Request<Name extends "open" | "commit"> = Parameters<SessionStore[Name]>[1];
  const writes: Writes = {
    claim: async (from, incarnation, head = 0) => {
      claimed = incarnation;
      await store.claim(uid, { from, ...(head >= 0 && { head }) });
    },
    append: async (incarnation, opens) => {
      const lane = opens === undefined ? {} : { opens: { lane: 0, epoch: opens } };
      const request = { incarnation, head: 0, bodies: [], ...lane };
      await store.append(uid, request as Parameters<SessionStore["append"]>[1]);
    },
    open: async (of) => await store.open(uid, { lane: 0, epoch: of } as Request<"open">),
    commit: async (of) =>
      await store.commit(uid, { fact: { lane: 0, epoch: of } } as Request<"commit">),
  };
  for (const call of calls(writes)) await call;
  return found;
}

test("writers that hold what they write to are not reported", async () => {
  const found = await reportsOf(({ claim, append, open, commit }) => [
    claim(0, 1),
    append(1, epoch(1, 1)),
    commit(epoch(1, 1)),
    open(epoch(1, 2)),
    commit(epoch(1, 2)),
    claim(1, 2),
    append(2),
  ]);

  expect(found).toEqual([]);
});

test.each<[string, (writes: Writes) => readonly Promise<unknown>[], RegExp]>([
  ["a claim from another incarnation", ({ claim }) => [claim(3, 4)], /^fence: claim .* 3 is not 0/],
  [
    "a claim that names no head",
    ({ claim }) => [claim(0, 1, -1)],
    /^fence: claim .* names no head/,
  ],
  [
    "a claim that does not rise",
    ({ claim }) => [claim(0, 1), claim(1, 1)],
    /^fence: claim .* does not rise/,
  ],
  [
    "a driver that was replaced",
    ({ claim, append }) => [claim(0, 1), claim(1, 2), append(1)],
    /^fence: append .* incarnation 1 is not 2/,
  ],
  [
    "a lane that a replaced driver opens",
    ({ claim, open }) => [claim(0, 1), claim(1, 2), open(epoch(1, 9))],
    /^fence: open .* of incarnation 1/,
  ],
  [
    "a lane that is opened below its floor",
    ({ claim, open }) => [claim(0, 1), open(epoch(1, 2)), open(epoch(1, 1))],
    /^fence: open .* floor of the lane is higher/,
  ],
  [
    "an item of an attempt that was replaced",
    ({ claim, open, commit }) => [
      claim(0, 1),
      open(epoch(1, 1)),
      open(epoch(1, 2)),
      commit(epoch(1, 1)),
    ],
    /^fence: commit .* another epoch holds the lane/,
  ],
  [
    "an item of a replaced driver",
    ({ claim, open, commit }) => [claim(0, 1), open(epoch(1, 1)), claim(1, 2), commit(epoch(1, 1))],
    /^fence: commit .* of incarnation 1/,
  ],
])("%s is reported", async (_, calls, report) => {
  expect((await reportsOf(calls))[0]).toMatch(report);
});
