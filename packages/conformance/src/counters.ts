import type { Counters } from "@millrace/core/ports";
import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";

/** What Counters must provide for the cases. */
export interface CountersFixture {
  readonly open: () => Promise<OpenedCounters>;
}

/** Counters under test. Disposed of when their case is over. */
export interface OpenedCounters extends AsyncDisposable {
  readonly counters: Counters;
  /** The same counters as another process has them. */
  readonly elsewhere: Counters;
  /** Lets time pass for both. */
  readonly pass: (ms: number) => Promise<void>;
}

/** A key that no case has used before. */
function newKey(): string {
  return `key:${crypto.randomUUID()}`;
}

function counterCase(
  name: string,
  run: (opened: OpenedCounters & { readonly key: string }) => Promise<void>,
): Case<CountersFixture> {
  return {
    name,
    run: async (fixture) => {
      await using opened = await fixture.open();
      const { counters, elsewhere, pass } = opened;
      await run({ ...opened, counters, elsewhere, pass, key: newKey() });
    },
  };
}

/** Requirements of the counters of windows. */
const takeCases: readonly Case<CountersFixture>[] = [
  counterCase("a counter takes up to its limit and refuses what goes above it", async (opened) => {
    const { counters, key } = opened;
    const use = { key, limit: 3, windowMs: 60_000 };
    for (const remaining of [2, 1, 0]) {
      const state = await counters.take(use);
      assertEqual(state, { taken: true, remaining, leftMs: 60_000 }, "a use below the limit");
    }
    const refused = await counters.take(use);
    assertEqual(
      { ...refused, leftMs: 60_000 },
      { taken: false, remaining: 0, leftMs: 60_000 },
      "above",
    );
    assert(refused.leftMs > 50_000 && refused.leftMs <= 60_000, `${refused.leftMs} ms are left`);
  }),
  counterCase(
    "an amount that does not fit adds nothing, and a smaller one still fits",
    async (o) => {
      const { counters, key } = o;
      const use = { key, limit: 10, windowMs: 60_000 };
      await counters.take({ ...use, amount: 8 });
      const refused = await counters.take({ ...use, amount: 3 });
      assertEqual([refused.taken, refused.remaining], [false, 2], "what does not fit");
      const fits = await counters.take({ ...use, amount: 2 });
      assertEqual([fits.taken, fits.remaining], [true, 0], "what fits exactly");
    },
  ),
  counterCase("an amount of 0 reads: it adds nothing and begins no window", async (opened) => {
    const { counters, key, pass } = opened;
    const read = { key, limit: 5, windowMs: 2_000, amount: 0 };
    assertEqual(await counters.take(read), { taken: true, remaining: 5, leftMs: 2_000 }, "unused");
    await pass(1_300);
    await counters.take({ key, limit: 5, windowMs: 2_000, amount: 5 });
    await pass(900); // a window that the reading had begun would be over
    assertEqual((await counters.take(read)).remaining, 0, "what is left");
  }),
  counterCase("what has happened is added also above the limit", async ({ counters, key }) => {
    const use = { key, limit: 10, windowMs: 60_000 };
    const state = await counters.take({ ...use, amount: 25, beyond: true });
    assertEqual([state.taken, state.remaining], [true, 0], "beyond the limit");
    assertEqual((await counters.take(use)).taken, false, "a use after it");
    const higher = await counters.take({ ...use, limit: 26, amount: 0 });
    assertEqual(higher.remaining, 1, "what a higher limit leaves");
  }),
  counterCase("a window ends by its time, whatever was used in it", async (opened) => {
    const { counters, key, pass } = opened;
    const use = { key, limit: 2, windowMs: 2_000 };
    await counters.take(use);
    await pass(1_000);
    await counters.take(use);
    assertEqual((await counters.take(use)).taken, false, "within the window");
    await pass(1_100);
    const state = await counters.take(use);
    assertEqual(state, { taken: true, remaining: 1, leftMs: 2_000 }, "in the next window");
  }),
  counterCase("keys of any text are counted apart", async ({ counters, key }) => {
    const keys = ["", " ", "{x}", "a\0b", "a\nb", "ключ", "😀", "x".repeat(2_000), "*"];
    for (const each of keys) {
      const state = await counters.take({ key: `${key}${each}`, limit: 1, windowMs: 60_000 });
      assert(state.taken, `the key ${JSON.stringify(each.slice(0, 20))} shares its counter`);
    }
  }),
  counterCase("large amounts are counted exactly, and a limit may be infinite", async (opened) => {
    const { counters, key } = opened;
    const limit = 9_000_000_000_000_001;
    const amount = 4_500_000_000_000_000;
    await counters.take({ key, limit, windowMs: 60_000, amount });
    const state = await counters.take({ key, limit, windowMs: 60_000, amount });
    assertEqual([state.taken, state.remaining], [true, 1], "large amounts");
    const free = await counters.take({ key, limit: Infinity, windowMs: 60_000 });
    assertEqual([free.taken, free.remaining], [true, Infinity], "without a limit");
  }),
  counterCase("processes share a counter: together they take no more than its limit", async (o) => {
    const { counters, elsewhere, key } = o;
    const both = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? counters : elsewhere));
    const use = { key, limit: 25, windowMs: 60_000 };
    const states = await Promise.all(both.map(async (each) => each.take(use)));
    assertEqual(states.filter(({ taken }) => taken).length, 25, "how many were taken");
  }),
];

/** Requirements of places that are held at once. */
const holdCases: readonly Case<CountersFixture>[] = [
  counterCase("places are held up to the limit, and one that is given back is free", async (o) => {
    const { counters, elsewhere, key } = o;
    const place = { key, limit: 2, leaseMs: 60_000 };
    assert(await counters.hold({ ...place, holder: "a" }), "the first place");
    assert(await elsewhere.hold({ ...place, holder: "b" }), "the second place");
    assert(!(await counters.hold({ ...place, holder: "c" })), "a third was given");
    await elsewhere.release({ key, holder: "nobody" });
    assert(!(await elsewhere.hold({ ...place, holder: "c" })), "a third was given");
    await elsewhere.release({ key, holder: "a" });
    assert(await counters.hold({ ...place, holder: "c" }), "the place that was given back");
  }),
  counterCase("a holder has one place however often it asks", async ({ counters, key }) => {
    const place = { key, limit: 2, leaseMs: 60_000 };
    for (let n = 0; n < 3; n += 1) {
      assert(await counters.hold({ ...place, holder: "a" }), "its own place again");
    }
    assert(await counters.hold({ ...place, holder: "b" }), "the other place");
    assert(await counters.hold({ ...place, holder: "a", limit: 0 }), "below a lower limit");
  }),
  counterCase("a holder in two processes has one place until both have left", async (opened) => {
    const { counters, elsewhere, key } = opened;
    const place = { key, limit: 1, leaseMs: 60_000 };
    const session = { key, holder: "a 1:é" };
    assert(await counters.hold({ ...place, ...session, by: "one" }), "the place");
    assert(await elsewhere.hold({ ...place, ...session, by: "two" }), "the same place elsewhere");
    assert(await counters.hold({ ...place, ...session, by: "one" }), "the place again");
    assert(!(await counters.hold({ ...place, holder: "b", by: "one" })), "a second was given");
    await elsewhere.release({ ...session, by: "two" });
    assert(!(await elsewhere.hold({ ...place, holder: "b", by: "two" })), "one still has it");
    await counters.release({ ...session, by: "one" });
    assert(await elsewhere.hold({ ...place, holder: "b", by: "two" }), "the place is free");
  }),
  counterCase("a place that is not renewed is free again, one that is renewed stays", async (o) => {
    const { counters, elsewhere, key, pass } = o;
    const place = { key, limit: 2, leaseMs: 2_000 };
    await counters.hold({ ...place, holder: "dead" });
    await counters.hold({ ...place, holder: "alive" });
    await pass(1_200);
    await counters.hold({ ...place, holder: "alive" });
    await pass(1_000);
    assert(await elsewhere.hold({ ...place, holder: "new" }), "the place of the dead");
    assert(!(await elsewhere.hold({ ...place, holder: "more" })), "the renewed place was given");
  }),
  counterCase("a long hold is not cut short by a short one of the same key", async (opened) => {
    const { counters, key, pass } = opened;
    await counters.hold({ key, limit: 9, leaseMs: 60_000, holder: "long" });
    await counters.hold({ key, limit: 9, leaseMs: 1_000, holder: "short" });
    await pass(1_200);
    assert(
      await counters.hold({ key, limit: 2, leaseMs: 1_000, holder: "new" }),
      "the short one's",
    );
    assert(
      !(await counters.hold({ key, limit: 2, leaseMs: 1_000, holder: "x" })),
      "the long one's",
    );
  }),
  counterCase("places and windows of one key are apart", async ({ counters, key }) => {
    await counters.hold({ key, limit: 1, leaseMs: 60_000, holder: "a" });
    const state = await counters.take({ key, limit: 1, windowMs: 60_000 });
    assertEqual([state.taken, state.remaining], [true, 0], "the window");
    assert(await counters.hold({ key, limit: Infinity, leaseMs: 60_000, holder: "b" }), "no limit");
  }),
  counterCase("processes that ask at once hold no more places than there are", async (opened) => {
    const { counters, elsewhere, key } = opened;
    const both = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? counters : elsewhere));
    const place = { key, limit: 7, leaseMs: 60_000 };
    const held = await Promise.all(
      both.map(async (each, at) => each.hold({ ...place, holder: `h${at}` })),
    );
    assertEqual(held.filter((isHeld) => isHeld).length, 7, "how many places are held");
  }),
];

/** Requirements of all Counters. */
export const countersCases: readonly Case<CountersFixture>[] = [...takeCases, ...holdCases];
