import { defineAgent, defineTool } from "@millrace/agent";
import { createClient } from "@millrace/client";
import { call, say } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { patience } from "../kit/patience.ts";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";
import { until } from "../kit/until.ts";
import { startMemoryServer } from "../web/kit/memory-server.ts";
import { openBrowser, openPage } from "./kit/browser.ts";
import { bundleForPage, htmlOf } from "./kit/bundle.ts";
import type { Metered } from "./kit/meter.ts";
import { createTalker } from "./kit/talker.ts";
import { traceTasks } from "./kit/trace.ts";
import type { Work } from "./kit/trace.ts";

const seconds = process.env["CAMPAIGN"] === "1" ? 30 : 6;
const perSecond = 200;
const deltas = seconds * perSecond;
const settledItems = 100;
/** What the platform calls a long task. */
const longMs = 50;

/** What a page went through while a reply was written. */
interface Figures {
  readonly page: Metered;
  /** What a page that does nothing went through beside it: that is the machine's doing. */
  readonly idle: Metered;
  readonly work: Work;
  /** Components of settled parts and items that were rendered. */
  readonly settled: readonly string[];
  readonly renders: number;
  readonly changes: number;
  /** Renders of the lines of a call. */
  readonly lines: number;
  readonly tookMs: number;
}

const edit = defineTool({
  name: "edit",
  description: "Changes a file",
  input: z.object({ changes: z.array(z.object({ line: z.number(), text: z.string() })) }),
  run: () => "done",
});

const pages: Record<string, string> = {};

beforeAll(async () => {
  const of = (name: string): Promise<string> =>
    bundleForPage(new URL(`kit/${name}`, import.meta.url), "production");
  pages["/"] = htmlOf(await of("perf-entry.tsx"));
  pages["/idle"] = htmlOf(await of("idle-entry.ts"));
});

/** Shows a session of 100 items while a reply of one part is written, and counts what that takes. */
async function measure(part: ScriptedPart, characters: number): Promise<Figures> {
  const talker = createTalker(perSecond);
  const agent = defineAgent({ name: "talker", model: talker.model, tools: [edit] });
  await using server = await startMemoryServer({ pages, agent });
  using client = createClient({ url: `${server.url}/agent`, token: "ann" });
  const session = client.session("long");
  for (let at = 0; at < settledItems / 2; at += 1) await session.send(`Question ${at}`).result;

  await using browser = await openBrowser();
  const page = await openPage(browser, { url: server.url, user: "ann" });
  const idle = await openPage(browser, { url: `${server.url}/idle` });
  const isShown = async (least: number): Promise<boolean> =>
    (await page.locator("article").count()) >= least &&
    (await page.locator("main[aria-busy=false]").count()) === 1;
  await until(() => isShown(settledItems), "all items are shown");
  const names = await page.evaluate<string[]>("[...renders.keys()]");
  const stopTracing = await traceTasks(browser, page);
  await page.evaluate("renders.clear()");
  for (const each of [page, idle]) await each.evaluate("meter.start()");

  talker.streamNext(part, characters);
  const begun = performance.now();
  await session.send("A long one").result;
  const tookMs = performance.now() - begun;
  await until(() => isShown(settledItems + 2), "the reply is shown");
  const metered = async (each: Page): Promise<Metered> => await each.evaluate("meter.stop()");
  const meters = { page: await metered(page), idle: await metered(idle) };
  const work = await stopTracing();
  const counts = new Map(await page.evaluate<[string, number][]>("[...renders]"));
  const settled = names.filter((name) => name.includes("item_") && counts.has(name));
  const [renders = 0, changes = 0, lines = 0] = ["talk", "changes", "lines"].map((name) =>
    counts.get(name),
  );
  expect(names.filter((name) => name.includes("item_"))).toHaveLength(2 * settledItems);
  return { ...meters, work, settled, renders, changes, lines, tookMs };
}

/**
 * Long tasks by the clock, which also counts what waits for something. Not if a page that does nothing has
 * stalled meanwhile: then the machine was taken by others, and only processor time tells whose a task was.
 */
const longTasks = ({ page, idle }: Figures): number =>
  idle.stalls === 0 ? page.longTasks.length : 0;

async function expectSmooth(
  what: string,
  part: ScriptedPart,
  characters: number,
): Promise<Figures> {
  const figures = await retryWhenNoisy(
    () => measure(part, characters),
    (each) => each.page.longTasks.length === 0 && each.work.longestMs < longMs,
  );
  const { page, idle, work, renders, changes, tookMs } = figures;
  console.log(
    `count: ${what}: ${deltas} deltas in ${(tookMs / 1_000).toFixed(1)} s, ${changes} changes, ${renders} renders of the page, ${figures.settled.length} of ${settledItems} settled items;`,
    `tasks above ${longMs} ms: ${page.longTasks.length} (${idle.stalls} stalls of an idle page beside), longest ${work.longestMs.toFixed(1)} ms of processor time;`,
    `frames dropped: ${page.dropped} of ${page.frames} (idle page ${idle.dropped}); main thread at work ${((100 * work.allMs) / tookMs).toFixed(0)} %`,
  );
  expect(figures.settled).toEqual([]);
  expect(work.longestMs).toBeLessThan(longMs);
  expect(longTasks(figures)).toBe(0);
  expect(tookMs).toBeGreaterThan(seconds * 900); // at the pace that is named
  expect(changes).toBeGreaterThan(deltas / 8); // the page gets them as they come
  expect(renders).toBeLessThanOrEqual(page.frames + 2); // once for each frame
  return figures;
}

/** Lines of words, so long in all. */
function wordsOf(length: number): string {
  const line = Array.from({ length: 20 }, (_, at) => `word ${at}`).join(" ");
  return `${line}\n`.repeat(Math.ceil(length / (line.length + 1))).slice(0, length);
}

it(
  "200 deltas a second beside 100 settled items render none of them again, with no long task",
  {
    timeout: 3 * patience, // it may be measured three times
  },
  async () => {
    await expectSmooth("React, a text", say(wordsOf(deltas * 6)), 6);
  },
);

it(
  "a call of 60 KB whose arguments are shown as they come is as smooth, and renders no line again that is complete",
  {
    timeout: 3 * patience, // it may be measured three times
  },
  async () => {
    const size = 60 * 1_024;
    const change = {
      line: 0,
      text: "const total = rows.reduce((sum, row) => sum + row.cents, 0);",
    };
    const count = Math.ceil(size / (JSON.stringify(change).length + 3));
    const changes = Array.from({ length: count }, (_, line) => ({ ...change, line: line + 100 }));
    const { length } = JSON.stringify({ changes });
    expect(length).toBeGreaterThanOrEqual(size);
    const { lines, renders } = await expectSmooth(
      "React, a call of 60 KB",
      call("edit", { changes }),
      Math.ceil(length / deltas),
    );
    // Each line while it is written, once when it is whole, and once when the call is: then it is read anew.
    expect(lines).toBeGreaterThan(2 * count);
    expect(lines).toBeLessThan(renders + 4 * count);
  },
);
