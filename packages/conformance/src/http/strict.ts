import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEqual } from "../case.ts";
import type { Caller } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase, HttpContext } from "./http-case.ts";

/** How long after a stop another viewer has the end of the run. */
async function stopMs(ann: Caller): Promise<number> {
  const id = await ann.session();
  const { runId } = await ann.post(id, "slow 500 20");
  using viewer = await ann.watch(id);
  await viewer.until(({ type }) => type === "batch", "the run writes");
  const began = performance.now();
  await ann.expect(202, "POST", `/v1/sessions/${id}/abort`, { body: { runId } });
  await viewer.until(({ type }) => type === "run_finished", "the run ends");
  return performance.now() - began;
}

/** How long the slowest of twenty stops took, one after another. */
async function slowestStopMs(ann: Caller): Promise<number> {
  let slowest = 0;
  for (let at = 0; at < 20; at += 1) slowest = Math.max(slowest, await stopMs(ann));
  return slowest;
}

/** Asserts that heartbeats of a silent stream come at this distance, with the head and without an id. */
export async function beatsEvery(
  { person, open }: HttpContext,
  seconds: number,
  settings: { readonly heartbeatMs?: number },
): Promise<void> {
  const ann = (await open({ streams: settings })).for(person());
  const id = await ann.session();
  await ann.ran(id, "say hello");
  const { body } = await ann.expect(200, "GET", `/v1/sessions/${id}`);
  using viewer = await ann.watch(id);
  await viewer.until(() => true, "the snapshot");
  const before = viewer.comments.length;
  const times: number[] = [];
  const end = performance.now() + seconds * 3_000 + 4_000;
  while (performance.now() < end && times.length < 3) {
    if (viewer.comments.length > before + times.length) times.push(performance.now());
    await sleep(2);
  }
  const pauses = times.slice(1).map((time, at) => time - (times[at] ?? 0));

  assertEqual(times.length, 3, `three heartbeats within ${seconds * 3 + 4} s`);
  // A server may look after its streams once a second.
  for (const pause of pauses)
    assert(
      pause >= seconds * 950 && pause <= seconds * 1_000 + 1_000,
      `${pause} ms lie between two`,
    );
  const beats = viewer.comments.slice(before).map((beat) => beat.trim());
  assertEqual(new Set(beats), new Set([String(body.head)]), "they have the head");
  assertEqual(viewer.messages.length, 1, "they are no messages, and have no id");
}

/** Bounds of time: each case alone on its machine. */
export const strictCases: readonly HttpCase[] = [
  casesOf("control")(26, "a stop reaches another viewer within 200 ms", async ({ person }) => {
    const ann = person();
    await stopMs(ann); // the first of a process compiles what the others use
    const rounds: number[] = [];
    // A machine that others use has quiet moments, and a slow server is slow in all of them.
    while (rounds.length < 3 && (rounds.at(-1) ?? Infinity) > 200)
      rounds.push(await slowestStopMs(ann));
    assert(
      (rounds.at(-1) ?? Infinity) <= 200,
      `the slowest of 20 stops took, in three rounds, ${rounds.map(Math.round).join(", ")} ms`,
    );
  }),
  casesOf("events")(
    42,
    "heartbeats come in time",
    (context) => beatsEvery(context, 1, { heartbeatMs: 1_000 }),
    "servers",
  ),
];
