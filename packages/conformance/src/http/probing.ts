import { assert } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { Caller } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { each } from "./steps.ts";

/** The largest distance of two samples' distributions, 0 to 1 (Kolmogorov and Smirnov). */
export function distanceOf(first: readonly number[], second: readonly number[]): number {
  const [a, b] = [first.toSorted((x, y) => x - y), second.toSorted((x, y) => x - y)];
  let [i, j, most] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    const at = Math.min(a[i] ?? 0, b[j] ?? 0);
    while (i < a.length && (a[i] ?? 0) <= at) i += 1;
    while (j < b.length && (b[j] ?? 0) <= at) j += 1;
    most = Math.max(most, Math.abs(i / a.length - j / b.length));
  }
  return most;
}

/** The distance that two samples of one distribution, each of this size, exceed once in a million times. */
export function distanceByChance(size: number): number {
  return Math.sqrt(Math.log(2 / 1e-6) / size);
}

type Probe = (caller: Caller, id: string) => Promise<unknown>;

/** Requests that find a session before they do anything else. */
const probes: readonly Probe[] = [
  (caller, id) => caller.expect(404, "GET", `/v1/sessions/${id}`),
  (caller, id) => caller.expect(404, "GET", `/v1/sessions/${id}/snapshot`),
  (caller, id) => caller.expect(404, "GET", `/v1/sessions/${id}/events`),
  (caller, id) =>
    caller.expect(404, "POST", `/v1/sessions/${id}/inputs`, {
      key: freshKey(),
      body: { kind: "prompt", text: "x" },
    }),
];

/** How many, with what is measured. A coin decides which of a pair is asked first. */
async function probe(
  caller: Caller,
  pair: readonly [string, string],
  count: number,
): Promise<readonly [number[], number[]]> {
  const times: readonly [number[], number[]] = [[], []];
  await each([...Array(count / 2).keys()], 10, async (at) => {
    const ask = probes[at % probes.length] as Probe; // there is one
    const order = Math.random() < 0.5 ? ([0, 1] as const) : ([1, 0] as const);
    for (const which of order) {
      const began = performance.now();
      await ask(caller, pair[which]);
      times[which].push(performance.now() - began);
    }
  });
  return times;
}

/** Probing: what an answer's time says. 250 probes for each change, 10,000 for a campaign. */
export const probingCases: readonly HttpCase[] = [
  casesOf("safety")(
    71,
    "a foreign session takes as long as a missing one",
    async ({ person, scale }) => {
      const [ann, bob] = [person("ann"), person("bob")];
      const id = await ann.session();
      for (let at = 0; at < 5; at += 1) await ann.ran(id, "big 20000");
      const missing = `s-${id.slice(2).split("").toReversed().join("")}`;
      await probe(bob, [id, missing], 40);
      const [foreign, none] = await probe(bob, [id, missing], 400 * Math.min(scale, 25));
      const least = Math.min(...foreign, ...none);
      const [distance, chance] = [distanceOf(foreign, none), distanceByChance(none.length)];
      const figures = `${foreign.length + none.length} probes: distance ${distance}, by chance ${chance}`;

      assert(distance <= chance, `the times tell them apart: ${figures}`);
      assert(least >= 49, `all wait for the grid: the least is ${least} ms`);
      if (scale > 1) process.stdout.write(`count: ${figures}\n`);
    },
  ),
];
