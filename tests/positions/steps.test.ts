import { isDeepStrictEqual } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { memorySessionStore, systemClock } from "@millrace/core/memory";
import { emptyState, restore, snapshot } from "@millrace/core/reading";
import { decodeMessage, encodeMessage, encodeStep, readStep, receive } from "@millrace/core/wire";
import type { Fact, SessionState } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import { expectInStep, Noticed } from "../../packages/core/src/testing/disturbed.ts";
import { shownState, stepsOf } from "../../packages/core/src/testing/in-step.ts";
import type { StepStream } from "../../packages/core/src/testing/in-step.ts";
import { isChange, runs } from "../kit/runs.ts";
import { recordAll } from "./record-all.ts";
import { storeTime, uidOf } from "./record.ts";
import type { Recording } from "./record.ts";

const sessions = runs(200, 200, 50);

const streams: StepStream[] = [];

beforeAll(async () => {
  for (const recording of await recordAll(sessions)) streams.push(await play(recording));
}, 300_000);

/** The messages of a recorded session in the order in which they were stored, as steps. */
async function play({ seed, sessionId, calls }: Recording): Promise<StepStream> {
  const clock = { ...systemClock, now: () => storeTime };
  const store = memorySessionStore({ clock, makeId: () => uidOf(seed) });
  const { uid } = await store.create({ sessionId });
  const messages: (Fact | Batch)[] = [];
  for (const call of calls) {
    if (call.kind === "store") messages.push(...((await call.play(store, uid)).facts ?? []));
    else if (call.kind === "append" && call.outcome === "stored") messages.push(call.batch);
  }
  return stepsOf(emptyState(uid, sessionId), messages);
}

it("steps equal whole messages at every position of recorded sessions", () => {
  let lines = 0;
  for (const stream of streams) {
    expectInStep(stream);
    lines += stream.lines.length;
  }
  const types = new Set(streams.flatMap(({ lines }) => lines.flatMap(typesOf)));
  console.log(
    `count: steps equal whole messages, ${streams.length} recorded sessions, ${lines} positions, 0 failures`,
  );
  expect(streams).toHaveLength(sessions);
  expect([...types]).toEqual(expect.arrayContaining(wanted));
});

const wanted = ["lane", "live", "text", "item_committed", "approval_resolved", "run_finished"];

function typesOf({ data }: { readonly data: string }): readonly unknown[] {
  return data.split("\n").map((line) => (JSON.parse(line) as { readonly type?: unknown }).type);
}

it("a reader that joined by a snapshot at any position is in step", () => {
  let joins = 0;
  const every = isChange ? 40 : runs(5, 1);
  for (const stream of streams) {
    for (const [at, { data, id }] of stream.lines.entries()) {
      if ((at + stream.lines.length) % every !== 0) continue;
      const decoded = decodeMessage(encodeMessage(snapshot(stream.states[at] as SessionState)));
      if (!decoded.ok || !("closedLanes" in decoded.value)) throw new Error("no snapshot");
      const received = receive(restore(decoded.value), data, id);
      if (received.outcome !== "applied") throw new Error(`${JSON.stringify(received)} ${data}`);
      const wanted = stream.states[at + 1] as SessionState;
      if (!isDeepStrictEqual(plain(received.state), plain(wanted))) throw new Error(data);
      joins += 1;
    }
  }
  console.log(`count: in step after a snapshot, ${joins} joins, 0 failures`);
});

/** Without fields that are undefined, which a snapshot does not have. */
function plain(state: SessionState): unknown {
  return JSON.parse(JSON.stringify(shownState(state)));
}

it("lost, doubled, swapped and late lines of recorded sessions are noticed", () => {
  const noticed = new Noticed();
  const every = isChange ? 56 : runs(7, 1);
  for (const [number, stream] of streams.entries()) {
    for (let at = number % every; at < stream.lines.length; at += every)
      noticed.disturb(stream, at, number + at);
  }
  console.log(`count: disturbed steps of recorded sessions, ${String(noticed)}`);
  expect(noticed.isComplete).toBe(true);
});

it("a fact that differs in one field from what was to be expected can be a step all the same", () => {
  let facts = 0;
  for (const { messages, states } of streams) {
    for (const [at, given] of messages.entries()) {
      const state = states[at] as SessionState;
      if (!("n" in given)) continue;
      for (const other of variants(given)) {
        const line = encodeStep(state, other) ?? "";
        const read = readStep(state, line);
        if (!read.ok || !isDeepStrictEqual(read.value, other))
          throw new Error(`${line} was read as ${JSON.stringify(read)}`);
        facts += 1;
      }
    }
  }
  console.log(`count: facts with one field changed or lost as steps, ${facts} facts, 0 failures`);
  expect(facts).toBeGreaterThan(1_000);
});

/** The fact, and it with one of its fields changed or left out, as far as that is still a fact. */
function variants(given: Fact): readonly Fact[] {
  const keys = Object.keys(given).filter((key) => key !== "type" && key !== "sessionId");
  const changed = keys.flatMap((key) => {
    const { [key as "type"]: value, ...less } = given;
    return typeof value === "string" ? [{ ...given, [key]: `${value}_other` }, less] : [less];
  });
  return [given, ...(changed as Fact[])].filter((fact) => decodeMessage(encodeMessage(fact)).ok);
}
