import { defineAgent } from "@millrace/agent";
import { memoryEventLog } from "@millrace/core/memory";
import { manualClock, say, scriptedModel } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { countedPorts } from "../../../../tests/kit/counted-ports.ts";
import { pass, passUntil, settled } from "../testing/by-clock.ts";
import { newKey, Served } from "../testing/served.ts";
import { countsOf } from "./counts.ts";

test("a server that has driven a run for a viewer who left holds as much open as before it", async () => {
  const time = manualClock(1_700_000_000_000);
  const { clock, log, counts } = countedPorts({ clock: time, log: memoryEventLog() });
  const model = scriptedModel([[say("a reply of some words, which takes two seconds")]], {
    clock: time,
    delayMs: 200,
  });
  const served = new Served(defineAgent({ model }), { clock, log });
  const held = () => ({ ...counts(), ...countsOf(served.millrace) });
  const soon = <T>(asked: Promise<T>): Promise<T> => settled(time, asked);
  await soon(served.request("/v1/sessions", { body: { id: "s" }, key: newKey() }));
  await pass(time, 10_000);
  const before = held();
  expect(before).toMatchObject({ tails: 0, heads: 0, lanes: 0, rooms: 0, streams: 0 });

  const headers = { accept: "text/event-stream" };
  const stream = await soon(served.request("/v1/sessions/s/events", { headers }));
  const body = { kind: "prompt", text: "go" };
  await soon(served.request("/v1/sessions/s/inputs", { body, key: newKey() }));
  await passUntil(time, () => counts().lanes > 0);
  expect(held()).toMatchObject({ tails: 1, heads: 1, lanes: 1, rooms: 1, streams: 1 });
  expect(counts().timers).toBeGreaterThan(before.timers);

  await stream.body?.cancel();
  await pass(time, 20_000);

  expect(held()).toEqual(before);
});
