import { defineAgent } from "@millrace/agent";
import { createClient } from "@millrace/client";
import type { Client, ClientSession } from "@millrace/client";
import { say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";

const agent = defineAgent({
  model: scriptedModel(Array.from({ length: 1_000 }, () => [say("Hello")])),
});
/** All sessions are begun at once, which no person does. */
const limits = {
  creationsPerUser: 1_000,
  inputsPerUser: 1_000,
  notFoundPerUser: 10_000,
  requestsPerUser: 10_000,
  runsPerUser: 1_000,
  runsPerTenant: 1_000,
};

const watched = (client: Client, from: number, count: number): readonly ClientSession[] =>
  Array.from({ length: count }, (_, at) => {
    const session = client.session(`session-${from + at}`);
    session.subscribe(() => undefined);
    return session;
  });
const isDone = ({ items }: ClientSession): boolean =>
  items.some(({ parts }) => parts.some((part) => part.kind === "text" && part.text === "Hello"));
const soon = { limitMs: 20_000 };

it("a page shows more sessions than one stream does, and their runs end", async () => {
  await using served = await serve(agent, { limits });
  using client = createClient({ url: served.url, token: "ann" });
  const sessions = watched(client, 0, 120);
  const runs = await Promise.all(sessions.map((session) => session.send("Go").result));
  expect(new Set(runs.map(({ outcome }) => outcome))).toEqual(new Set(["completed"]));
  expect(sessions.every(isDone)).toBe(true);
  await until(() => served.streams() === 3, "120 sessions in three streams", soon);
});

it("a page is live only when each of its streams is, and again after a cut of them", async () => {
  await using served = await serve(agent, { limits });
  using client = createClient({ url: served.url, token: "ann" });
  const sessions = watched(client, 0, 50);
  await Promise.all(sessions.map((session) => session.send("Go").result));
  served.cut();
  await until(() => sessions[0]?.view().connection === "reconnecting", "cut", soon);
  await until(() => sessions[0]?.view().connection === "live", "live again", soon);
  await until(() => served.streams() === 2, "two streams", soon);
  await Promise.all(sessions.map((session) => session.send("More").result));
  expect(sessions.every(({ items }) => items.length === 4)).toBe(true);
});

it("a server that allows fewer sessions in a stream is asked for fewer", async () => {
  await using served = await serve(agent, { limits: { ...limits, sessionsPerStream: 7 } });
  using client = createClient({ url: served.url, token: "ann" });
  const sessions = watched(client, 0, 20);
  await Promise.all(sessions.map((session) => session.send("Go").result));
  expect(sessions.every(isDone)).toBe(true);
  await until(() => served.streams() === 3, "20 sessions in three streams", soon);
});

it("tabs that share their streams show all of their sessions", async () => {
  await using served = await serve(agent, { limits });
  const tabs = Array.from({ length: 3 }, () =>
    createClient({ url: served.url, token: "ann", shareTabs: true }),
  );
  const sessions = tabs.flatMap((tab, at) => watched(tab, at * 30, 30));
  await Promise.all(sessions.map((session) => session.send("Go").result));
  await until(() => sessions.every(isDone), "each shows its reply", soon);
  await until(() => served.streams() === 3, "90 sessions in three streams", soon);
  for (const tab of tabs) tab.close();
});
