import { faultKinds } from "./setting.ts";
import type { Setting } from "./setting.ts";

const large: readonly Setting[] = [
  {
    calls: [2, 1],
    words: 3,
    hubs: 2,
    viewers: 2,
    faults: 8,
    left: { input: 2, reset: 2, takeover: 2, abort: 2 },
    kinds: faultKinds,
    rate: 15,
    wholeAt: 2,
  },
  {
    calls: [2, 1],
    words: 4,
    hubs: 2,
    viewers: 3,
    faults: 20,
    left: { input: 2, reset: 2, takeover: 3, abort: 1, kill: 2 },
    kinds: faultKinds,
    rate: 30,
    wholeAt: 3,
  },
  {
    calls: [2],
    words: 4,
    hubs: 2,
    viewers: 2,
    faults: 14,
    left: { reset: 1, takeover: 1, abort: 0, input: 1 },
    kinds: faultKinds,
    rate: 30,
    wholeAt: 2,
    pause: true,
  },
  {
    calls: [],
    words: 5,
    hubs: 2,
    viewers: 2,
    faults: 6,
    left: {},
    kinds: ["crash", "zombie", "flush", "evict", "tail", "drop", "hubcrash", "cut"],
    rate: 12,
    wholeAt: 3,
    pause: true,
  },
  {
    calls: [1, 1],
    words: 3,
    hubs: 2,
    viewers: 2,
    faults: 8,
    left: { takeover: 1, reset: 1 },
    kinds: [
      "zombie",
      "restart",
      "ack",
      "takeover",
      "reset",
      "late",
      "flush",
      "tail",
      "drop",
      "hubcrash",
      "cut",
    ],
    rate: 8,
    wholeAt: 2,
  },
];

const small: Setting = {
  calls: [],
  words: 2,
  hubs: 1,
  viewers: 1,
  faults: 3,
  left: { takeover: 1, reset: 1, abort: 1, input: 1 },
  kinds: faultKinds,
  rate: 25,
  joined: true,
};

/** Few actors, so that the faults come close together. */
const close: readonly Setting[] = [
  small,
  { ...small, calls: [1], words: 1 },
  { ...small, joined: false, words: 3, wholeAt: 2 },
  { ...small, words: 3, pause: true, left: { reset: 0, abort: 0, input: 0 } },
  { ...small, calls: [2], words: 1, hubs: 0, viewers: 0, faults: 4 },
  { ...small, words: 4, faults: 5, rate: 40, kinds: ["zombie", "drop"] },
  { ...small, words: 3, pause: true, faults: 4, rate: 35, kinds: ["tail", "hubcrash", "drop"] },
  { ...small, kinds: ["zombie", "abort", "restart", "drop", "hubcrash", "cut", "takeover"] },
];

/** For random walks: one large setting after nineteen small ones. */
export function settingOf(seed: number): Setting {
  const list = seed % 20 === 0 ? large : close;
  // Neither list is empty.
  return list[(Math.floor(seed / 20) + (seed % 20)) % list.length] as Setting;
}

const base: Setting = { ...small, rate: 0, left: {} };
const alone: Setting = { ...base, words: 1, hubs: 0, viewers: 0 };

/**
 * Small enough for all of their histories. Those for the night have ten thousands of them. The last ones
 * are for a campaign, and bounded even there.
 */
export const bounded: readonly {
  readonly name: string;
  readonly setting: Setting;
  readonly only?: "nightly" | "campaign";
}[] = [
  {
    name: "one lane, one fault of a writer or the log",
    setting: {
      ...base,
      words: 1,
      faults: 1,
      kinds: ["crash", "zombie", "restart", "ack", "replace", "flush", "tail", "drop", "hubcrash"],
    },
  },
  {
    name: "one lane, two of zombie, flush, tail",
    setting: { ...base, words: 1, faults: 2, kinds: ["zombie", "flush", "tail"] },
    only: "nightly",
  },
  {
    name: "one lane that falls silent, two of flush, drop, hubcrash",
    setting: { ...base, words: 1, pause: true, faults: 2, kinds: ["flush", "drop", "hubcrash"] },
  },
  {
    name: "a viewer who is cut off, and lost announcements",
    setting: { ...base, words: 1, faults: 2, kinds: ["cut", "drop"] },
    only: "nightly",
  },
  {
    name: "a tool and nobody who watches, one of the driver's kinds",
    setting: {
      ...alone,
      words: 0,
      calls: [1],
      faults: 1,
      kinds: ["crash", "zombie", "restart", "ack", "abort"],
    },
  },
  {
    name: "one lane, one claim or stop",
    setting: { ...base, words: 1, faults: 1, kinds: ["takeover", "reset", "abort", "kill"] },
    only: "campaign",
  },
  {
    name: "a tool and nobody who watches, two of the driver's kinds",
    setting: {
      ...alone,
      calls: [1],
      faults: 2,
      kinds: ["crash", "zombie", "restart", "ack", "takeover", "reset", "kill", "abort"],
    },
    only: "campaign",
  },
];
