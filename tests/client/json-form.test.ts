import { defineAgent } from "@millrace/agent";
import { createClient } from "@millrace/client";
import { systemClock } from "@millrace/core/ports";
import { snapshot } from "@millrace/core/reading";
import { say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { Requests } from "../../packages/client/src/http/requests.ts";
import { carryJson, carryStream } from "../../packages/client/src/stream/carry.ts";
import type { Carried } from "../../packages/client/src/stream/carry.ts";
import { WatchedSessions } from "../../packages/client/src/stream/watched.ts";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";

const agent = defineAgent({
  model: scriptedModel(
    Array.from({ length: 50 }, () => [say("some words that come one by one")]),
    { delayMs: 3 },
  ),
});

it("the JSON form of five sessions comes to the same states as a stream, and knows a missing one", async () => {
  await using served = await serve(agent);
  using client = createClient({ url: served.url, token: "ann" });
  const ids = ["a", "b", "c", "d", "e"];
  const ending = new AbortController();
  const reports: string[] = [];
  const watch = (carry: (carried: Carried) => Promise<void>): WatchedSessions => {
    const call: typeof fetch = (input, init) => fetch(input, init);
    const random = (): number => 0;
    const base = { url: served.url, token: "ann", fetch: call };
    const requests = new Requests({ ...base, random, clock: systemClock });
    const sessions = new WatchedSessions(systemClock);
    for (const id of [...ids, "missing"]) sessions.of(id).listeners.add(() => undefined);
    const report = ({ type }: { readonly type: string }): void => void reports.push(type);
    void carry({ requests, sessions, signal: ending.signal, report }).catch(() => undefined);
    return sessions;
  };
  await Promise.all(ids.map((id) => client.session(id).send("Go").accepted));
  const both = [watch(carryJson), watch(carryStream)];
  await Promise.all(ids.map((id) => client.session(id).send("Again").result));
  const isThere = (sessions: WatchedSessions): boolean =>
    ids.every(
      (id) => sessions.of(id).state?.items.length === 4 && sessions.of(id).state?.run === undefined,
    );
  await until(() => both.every(isThere), "both have all", { limitMs: 30_000 });
  ending.abort();

  const [polled, streamed] = both.map((sessions) =>
    ids.map((id) => {
      const { state } = sessions.of(id);
      return state && snapshot(state);
    }),
  );
  expect(polled).toEqual(streamed);
  expect(both.map((sessions) => sessions.of("missing").ended)).toEqual(["not_found", "not_found"]);
  expect(new Set(reports)).toEqual(new Set(["opened", "retry", "bytes"]));
});
