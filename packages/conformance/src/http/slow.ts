import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { beatsEvery } from "./strict.ts";
import { refusesTicket, takeTicket } from "./tickets.ts";

/** The times of the API as they are, up to a minute each. Run them at once, apart from the others. */
export const httpSlowCases: readonly HttpCase[] = [
  casesOf("inputs")(18, "a request waits for 60 s and no longer", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const began = performance.now();
    const body = { kind: "prompt", text: "slow 4000 20" };
    const { headers } = await ann.expect(202, "POST", `/v1/sessions/${id}/inputs`, {
      key: freshKey(),
      body,
      headers: { prefer: "wait=61" },
    });
    const ms = performance.now() - began;
    assertEqual(headers["preference-applied"], "wait=60", "60 s are the most");
    assert(ms >= 59_990 && ms < 61_000, `it took ${ms} ms`);
    await ann.expect(202, "POST", `/v1/sessions/${id}/abort`, { body: {} });
  }),
  casesOf("events")(
    42,
    "a silent stream has a heartbeat every 15 s",
    (context) => beatsEvery(context, 15, {}),
    "servers",
  ),
  casesOf("safety")(76, "a ticket is not good any more after 30 s", async ({ person, nobody }) => {
    const ann = person();
    const id = await ann.session();
    const [early, late] = [
      await takeTicket(ann, { sessionId: id, use: "events" }),
      await takeTicket(ann, { sessionId: id, use: "events" }),
    ];
    await sleep(29_000);
    const path = `/v1/sessions/${id}/events?ticket=${encodeURIComponent(early.ticket ?? "")}`;
    using viewer = await nobody().open(path);
    assertEqual(viewer.status, 200, "after 29 s it is");
    await sleep(1_500);
    await refusesTicket(nobody(), id, late, "after 30 s");
  }),
];
