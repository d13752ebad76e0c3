/** A history before it is played: what people do and what goes wrong, each as a row with a time. */
import type { Random } from "../../kit/random.ts";
import { randomOf } from "../world/streams.ts";

export const webHosts = ["web0", "web1"] as const;
export const workerHosts = ["worker0", "worker1"] as const;
export const clientHosts = ["page0", "page1", "page2", "page3", "page4"] as const;
/** Readers in the formats of other vendors' libraries, each with a session of its own. */
export const readerHosts = ["reader0", "reader1", "reader2", "reader3"] as const;
const nodeHosts = [...webHosts, ...workerHosts];

export const faultKinds = [
  "crash",
  "pause",
  "stop",
  "skew",
  "cut",
  "block",
  "swallow",
  "slow",
  "reconnect",
  "store away",
  "store cut",
  "store loses",
  "log away",
  "log loses",
  "log forgets",
  "vendor cuts",
  "vendor refuses",
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface Fault {
  /** Milliseconds from the beginning. */
  readonly at: number;
  readonly kind: FaultKind;
  /** A host, or `all`. */
  readonly host: string;
  readonly ms: number;
  /** From `at` on it waits for the nth line of the trace with this text: a moment of the protocol. */
  readonly on?: { readonly line: string; readonly nth: number } | undefined;
}

export const actionKinds = ["plain", "effect", "ask", "many", "abort", "steer"] as const;
export type ActionKind = (typeof actionKinds)[number];

export interface Action {
  readonly at: number;
  readonly host: string;
  readonly session: string;
  readonly kind: ActionKind;
  readonly key: string;
  readonly length: number;
}

export interface Plan {
  readonly seed: string;
  readonly minutes: number;
  readonly faults: readonly Fault[];
  readonly actions: readonly Action[];
}

export interface PlanOptions {
  readonly minutes: number;
  /** How often people send something in each minute of a session, on average. */
  readonly sends?: number | undefined;
}

/** Each seed draws its own kinds of faults, and how long they last: a mixture of all hides what few can do. */
export function planOf(seed: string, { minutes, sends = 2 }: PlanOptions): Plan {
  const random = randomOf(`${seed}/plan`);
  const end = minutes * 60_000;
  const pause = 2 / sends; // the pauses below are those of two sends in a minute
  const actions = [
    ...actionsOf(random, end, pause),
    ...promptsOf(randomOf(`${seed}/readers`), end, pause),
  ];
  const byTime = actions.toSorted((left, right) => left.at - right.at);
  return { seed, minutes, actions: byTime, faults: faultsOf(random, end) };
}

/** The user of a page or reader: those of even numbers are of one user, the others of another. */
export function userOf(host: string): string {
  return `user${Number(host.slice(-1)) % 2}`;
}

/** The session of a reader. */
function sessionOfReader(host: string): string {
  return `${host}-session`;
}

/** The sessions of a user that pages have open. */
export function sessionsOf(user: string): readonly string[] {
  return [0, 1, 2].map((number) => `${user}-session${number}`);
}

/** Each page has all sessions of its user open from the beginning. */
export const sessionsInAll: number =
  new Set(clientHosts.flatMap((host) => sessionsOf(userOf(host)))).size + readerHosts.length;

function actionsOf(random: Random, end: number, pause: number): readonly Action[] {
  const actions: Action[] = [];
  for (let at = 500; at < end; at += (500 + random.next() * 8_000) * pause) {
    const host = random.pick(clientHosts);
    actions.push({
      at: Math.round(at),
      host,
      session: random.pick(sessionsOf(userOf(host))),
      kind: random.pick(["plain", "plain", "effect", "ask", "many", "many", "abort", "steer"]),
      key: `key-${String(actions.length + 1).padStart(16, "0")}`,
      length: random.below(500),
    });
  }
  return actions;
}

/** What readers send. */
function promptsOf(random: Random, end: number, pause: number): readonly Action[] {
  const actions: Action[] = [];
  for (let at = 1_000; at < end; at += (1_000 + random.next() * 14_000) * pause) {
    const host = random.pick(readerHosts);
    actions.push({
      at: Math.round(at),
      host,
      session: sessionOfReader(host),
      kind: random.pick(["plain", "effect"]),
      key: `read-${String(actions.length + 1).padStart(16, "0")}`,
      length: random.below(500),
    });
  }
  return actions;
}

interface Profile {
  readonly kinds: readonly FaultKind[];
  readonly perMinute: number;
  readonly ms: (random: Random) => number;
  /** How often a crash or a pause waits for a moment of the protocol. */
  readonly moments: number;
}

function profileOf(random: Random): Profile {
  const isLong = random.chance(0.5);
  const ms = (drawn: Random): number => 50 + (isLong ? drawn.next() : drawn.next() ** 3) * 40_000;
  const profile = random.pick(["mixed", "zombie", "edge"] as const);
  if (profile === "edge") {
    const kinds = faultKinds.filter((kind) => edgeKinds.includes(kind));
    return { kinds, perMinute: 5, ms, moments: 0 };
  }
  if (profile === "zombie") {
    // Pauses near the time after which a driver counts as dead: both old and new one write then.
    const kinds = ["pause", "pause", "crash", "vendor cuts", "log loses", "store loses"] as const;
    return { kinds, perMinute: 8, ms: (drawn) => 1_300 + drawn.next() ** 2 * 6_000, moments: 0.9 };
  }
  const more = ["crash", "crash", "pause", "pause", "pause"] as const;
  const kinds = [...faultKinds, ...more].filter(() => random.chance(0.6));
  return { kinds: kinds.length > 0 ? kinds : ["crash"], perMinute: 5, ms, moments: 0.7 };
}

const edgeKinds: readonly FaultKind[] = [
  "cut",
  "block",
  "swallow",
  "slow",
  "reconnect",
  "stop",
  "log away",
  "log loses",
  "log forgets",
  "vendor cuts",
];

function faultsOf(random: Random, end: number): readonly Fault[] {
  const { kinds, perMinute, ms, moments } = profileOf(random);
  const faults = Array.from({ length: Math.round((end / 60_000) * perMinute) }, (): Fault => {
    const kind = random.pick(kinds);
    const host = hostOf(kind, random);
    const fault = { at: Math.round(random.next() * end), kind, host, ms: Math.round(ms(random)) };
    if (kind === "vendor cuts" && random.chance(0.7)) return { ...fault, on: readerCut };
    const isMoment = kind === "crash" || kind === "pause";
    const waits = isMoment && host.startsWith("worker") && random.chance(moments);
    return waits ? { ...fault, on: momentOf(host, random) } : fault;
  });
  return faults.toSorted((left, right) => left.at - right.at);
}

/** A reader was cut: its reply is begun again before it comes back. */
const readerCut = { line: "is cut in the middle", nth: 1 } as const;

function hostOf(kind: FaultKind, random: Random): string {
  if (kind === "block" || kind === "swallow" || kind === "reconnect")
    return random.pick(clientHosts);
  if (kind.startsWith("vendor")) return "vendor";
  if (kind === "cut" || kind === "slow" || kind === "log forgets") return "all";
  if (kind.startsWith("store") || kind.startsWith("log")) return random.pick([...nodeHosts, "all"]);
  return random.pick(nodeHosts);
}

/** Moments at which a worker has just asked the store or the log for something, or took effect. */
function momentOf(host: string, random: Random): Fault["on"] {
  const line = random.pick([
    `> store.append of ${host}`,
    `> store.commit of ${host}`,
    `> store.open of ${host}`,
    `> store.claim of ${host}`,
    `> log.append of ${host}`,
    `in ${host}`,
  ]);
  return { line, nth: 1 + random.below(line.startsWith("> log") ? 25 : 3) };
}
