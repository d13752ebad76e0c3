import { defineAgent } from "@millrace/agent";
import { createClient } from "@millrace/client";
import type { Client, ClientSession } from "@millrace/client";
import { say, scriptedModel } from "@millrace/core/testing";
import { expect, it, vi } from "vitest";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";

const words = Array.from({ length: 30 }, (_, at) => `word ${at}`).join(", ");
const agent = defineAgent({
  model: scriptedModel(
    Array.from({ length: 50 }, () => [say(words)]),
    { delayMs: 4 },
  ),
});

const textOf = ({ items }: ClientSession): string =>
  items
    .flatMap(({ parts }) => parts)
    .map((part) => (part.kind === "text" ? part.text : ""))
    .join("|");

/** A tab that gets nothing is found before the test's own limit. */
const soon = { limitMs: 20_000 };

it("seven tabs of one user share one stream, another user gets nothing of it, and a leader that leaves is replaced", async () => {
  await using served = await serve(agent);
  const open = (token: string): Client => createClient({ url: served.url, token, shareTabs: true });
  const tabs = Array.from({ length: 7 }, () => open("ann"));
  using eve = open("eve");
  await tabs[0]?.session("common").send("Go").result;
  // Each tab shows the common session, and one of its own.
  const common = tabs.map((tab) => tab.session("common"));
  const own = tabs.map((tab, at) => tab.session(`own-${at}`));
  for (const session of [...common, ...own]) session.subscribe(() => undefined);
  const foreign = eve.session("common");
  foreign.subscribe(() => undefined);
  await until(() => common.every((each) => textOf(each) === `Go|${words}`), "all show it", soon);
  await until(() => served.streams() === 1, "one stream for seven tabs", soon); // eve may read nothing

  const runs = [...own, common[3]].map((session) => session?.send("More"));
  await until(() => own.every((each) => textOf(each).includes("word 3")), "all talk", soon);
  // The leader's tab is closed in the middle of it, and each that follows it, but for two.
  for (const tab of tabs.slice(0, 5)) {
    tab.close();
    await new Promise((resolve) => void setTimeout(resolve, 60));
  }
  for (const run of runs.slice(5, 7)) await run?.result;
  await until(
    () => own.slice(5).every((each) => textOf(each) === `More|${words}`),
    "two go on",
    soon,
  );
  await until(
    () => common.slice(5).every((each) => textOf(each) === `Go|${words}|More|${words}`),
    "common",
    soon,
  );

  expect(served.streams()).toBe(1);
  expect(foreign.items).toEqual([]);
  for (const tab of tabs) tab.close();
});

it("a tab that is alone passes nothing on, and all that comes once there is another", async () => {
  const told = vi.spyOn(BroadcastChannel.prototype, "postMessage");
  const passed = (): number =>
    told.mock.calls.filter(([each]) => (each as { type: string }).type === "messages").length;
  await using served = await serve(agent);
  using first = createClient({ url: served.url, token: "ann", shareTabs: true });
  const session = first.session("alone");
  session.subscribe(() => undefined);
  await session.send("Go").result;
  expect(passed()).toBe(0);

  using second = createClient({ url: served.url, token: "ann", shareTabs: true });
  const other = second.session("alone");
  other.subscribe(() => undefined);
  await until(() => textOf(other) === `Go|${words}`, "the second tab shows it");
  await until(() => served.streams() === 1, "on one stream");
  await session.send("More").result;
  await until(() => textOf(other) === `Go|${words}|More|${words}`, "and what follows");
  expect(passed()).toBeGreaterThan(1);
  told.mockRestore();
});
