// The reference app beside a long session: 500 messages, and a reply in Markdown of 200 deltas a second.
import { defineAgent } from "@millrace/agent";
import { createClient } from "@millrace/client";
import { say } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { essay } from "../../apps/chat/src/demo/texts.ts";
import { openBrowser } from "../browser/kit/browser.ts";
import { createTalker } from "../browser/kit/talker.ts";
import { traceTasks } from "../browser/kit/trace.ts";
import type { Work } from "../browser/kit/trace.ts";
import { patience } from "../kit/patience.ts";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";
import { until } from "../kit/until.ts";
import { buildPage, openTab, startApp } from "./kit/app.ts";
import type { BuiltPage } from "./kit/app.ts";

const perSecond = 200;
const seconds = process.env["CAMPAIGN"] === "1" ? 30 : 5;
const messages = 500;
/** What the platform calls a long task. */
const longMs = 50;

interface Figures {
  readonly work: Work;
  readonly tookMs: number;
  readonly shown: number;
}

/** Streams a reply into a page that shows 500 messages, and measures the page's main thread meanwhile. */
async function measure(page: BuiltPage): Promise<Figures> {
  const talker = createTalker(perSecond);
  const agent = defineAgent({ name: "talker", model: talker.model });
  await using app = await startApp(page, { agent });
  const guest = crypto.randomUUID();
  using client = createClient({
    url: `${app.url}/agent`,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("cookie", `guest=${guest}`);
      headers.set("origin", app.url); // as the page of the app
      return fetch(input, { ...init, headers });
    },
  });
  const session = client.session("long");
  for (let at = 0; at < messages / 2; at += 1)
    expect(await session.send(`Question ${at}`).result).toMatchObject({ outcome: "completed" });

  await using browser = await openBrowser();
  const context = await browser.newContext({ viewport: { width: 1_280, height: 844 } });
  await context.addCookies([{ name: "guest", value: guest, url: app.url }]);
  const tab = await openTab(context, app, "long");
  await tab.locator("article").first().waitFor();
  const articles = tab.locator("article");
  const earlier = tab.getByRole("button", { name: /^Show \d+ earlier/ });
  await until(async () => {
    if ((await earlier.count()) > 0) await earlier.click();
    return (await articles.count()) >= messages;
  }, "all are shown");

  const stopTracing = await traceTasks(browser, tab);
  const text = essay.repeat(Math.ceil((seconds * perSecond * 6) / essay.length));
  talker.streamNext(say(text.slice(0, seconds * perSecond * 6)), 6);
  const begun = performance.now();
  await session.send("A long one").result;
  const tookMs = performance.now() - begun;
  await tab.locator("main[data-status=idle]").waitFor();
  return { work: await stopTracing(), tookMs, shown: await articles.count() };
}

it(
  "200 deltas a second of Markdown beside 500 messages make no long task",
  { timeout: 3 * patience }, // it may be measured three times
  async () => {
    using page = await buildPage();
    const { work, tookMs, shown } = await retryWhenNoisy(
      () => measure(page),
      (figures) => figures.work.longestMs < longMs,
    );
    console.log(
      `count: the app beside ${shown} messages: ${seconds * perSecond} deltas in ${(tookMs / 1_000).toFixed(1)} s,`,
      `longest task ${work.longestMs.toFixed(1)} ms of processor time, main thread at work ${((100 * work.allMs) / tookMs).toFixed(0)} %`,
    );
    expect(shown).toBe(messages + 2);
    expect(tookMs).toBeGreaterThan(seconds * 900); // at the pace that is named
    expect(work.longestMs).toBeLessThan(longMs);
  },
);
