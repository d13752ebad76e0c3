// How the reference app looks: pictures of each state at four widths in two themes, kept for people to look at, and
// what of the looks can be measured.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ServedChat } from "../../apps/chat/src/server/serve.ts";
import { openBrowser } from "../browser/kit/browser.ts";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";
import { buildPage, newSession, openTab, say, startApp, untilIdle } from "./kit/app.ts";
import type { BuiltPage } from "./kit/app.ts";
import { axe } from "./kit/axe.ts";
import { stillAgent } from "./kit/still-agent.ts";

const opened = new AsyncDisposableStack();
let page: BuiltPage;
let app: ServedChat;
let browser: Browser;

beforeAll(async () => {
  page = opened.use(await buildPage());
  app = opened.use(await startApp(page, { agent: stillAgent() }));
  browser = opened.use(await openBrowser());
}, patience);

afterAll(() => opened.disposeAsync());

const widths = [390, 768, 1_280, 1_920] as const;
const themes = ["light", "dark"] as const;
const folder = new URL("../../reports/app/", import.meta.url).pathname;

/** What is cut off or too small to be hit. Contrast and names are axe's. */
const misfits = `(() => {
  const faults = [];
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page scrolls sideways");
  for (const button of document.querySelectorAll("button, a.btn, select, input")) {
    const { width, height, right, left } = button.getBoundingClientRect();
    if (!button.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (Math.min(width, height) < 24) faults.push(button.outerHTML.slice(0, 90) + " is too small");
    if (left < 0 || right > innerWidth) faults.push(button.outerHTML.slice(0, 90) + " is cut off");
  }
  const composer = document.querySelector(".composer");
  if (composer.getBoundingClientRect().height > 160) faults.push("the composer is too high");
  return faults;
})()`;

let pictures = 0;
let checks = 0;

/** Takes the pictures of a state, and looks for what is wrong with it. */
async function look(tab: Page, state: string): Promise<void> {
  for (const width of widths)
    for (const theme of themes) {
      await tab.setViewportSize({ width, height: width < 700 ? 844 : 900 });
      await tab.emulateMedia({ colorScheme: theme });
      await tab.screenshot({ path: join(folder, `${state}-${width}-${theme}.png`) });
      pictures += 1;
      expect(await tab.evaluate<string[]>(misfits), `${state}, ${width} px`).toEqual([]);
      // It takes half a second: the phone by night, the desk by day.
      if (!(width === 390 && theme === "dark") && !(width === 1_280 && theme === "light")) continue;
      expect(await axe(tab), `${state}, ${width} px, ${theme}`).toEqual([]);
      checks += 1;
    }
  await tab.setViewportSize({ width: 1_280, height: 900 });
}

/** The most bytes that a first visit may load, zipped. */
const mostBytes = 250_000;

it("the page is small, and its first paint comes soon", async () => {
  const assets = join(page.path, "assets");
  const html = readFileSync(join(page.path, "index.html"), "utf8");
  const initial = readdirSync(assets).filter((name) => html.includes(name));
  const zipped = initial.map((name) => gzipSync(readFileSync(join(assets, name))).length);
  const bytes = zipped.reduce((sum, each) => sum + each, 0);
  const tab = await openTab(await browser.newContext(), app);
  const paint = await tab.evaluate<number>(
    `performance.getEntriesByName("first-contentful-paint")[0].startTime`,
  );
  await tab.close();

  console.log(
    `size: the first visit loads ${(bytes / 1_000).toFixed(0)} KB zipped in ${initial.length} files, at most ${mostBytes / 1_000};`,
    `first paint after ${paint.toFixed(0)} ms`,
  );
  expect(initial.some((name) => name.endsWith(".js"))).toBe(true);
  expect(bytes).toBeLessThan(mostBytes);
});

it(
  "in eight states, at four widths, in two themes nothing is cut off and axe finds nothing serious",
  { timeout: 2 * patience }, // many pictures on a machine that is shared
  async () => {
    mkdirSync(folder, { recursive: true });
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
    const tab = await openTab(context, app);
    await look(tab, "empty");
    const stopAll = async (): Promise<void> => {
      await tab.keyboard.press("Escape");
      await untilIdle(tab);
      await newSession(tab);
    };
    const show = async (state: string, selector: string): Promise<void> => {
      await say(tab, state);
      await tab.locator(selector).first().waitFor();
      await look(tab, state);
      await stopAll();
    };
    await show("streaming", ".md.live figure.code");
    await say(tab, "writing");
    const half = tab.locator('[data-part="tool-card"][data-state="writing"] [data-part="what"]');
    await half.waitFor();
    expect(await half.textContent()).toBe('{"sql":"select * from orders where custo'); // as far as it came
    await look(tab, "writing");
    await stopAll();
    await show("tools", '[role="progressbar"]');
    await say(tab, "approval");
    await tab.locator('[data-part="approval"]').waitFor();
    await say(tab, "then write it up", "Alt+Enter");
    await say(tab, "look at orders");
    await tab.getByLabel("Message", { exact: true }).fill("and one more thing");
    await until(async () => (await tab.locator('[data-part="queued"]').count()) === 2, "both wait");
    await look(tab, "approval");
    await stopAll();
    await show("failed", ".failure");
    await say(tab, "whole");
    await tab.getByText("press ? for the keys").waitFor();
    await untilIdle(tab);
    await look(tab, "idle");
    await app[Symbol.asyncDispose]();
    await tab.locator('[data-part="connection"] button').waitFor();
    await look(tab, "reconnecting");
    console.log(
      `count: pictures of the app, ${pictures}, axe ran ${checks} times, 0 serious findings`,
    );
  },
);
