import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";
import { openBrowser } from "./kit/browser.ts";
import { startChat } from "./kit/start-chat.ts";

const replyOf = async (tab: Page): Promise<string> =>
  (await tab.locator("article.model p").allTextContents()).join("|");
const say = async (tab: Page, text: string): Promise<void> => {
  await tab.getByLabel("Message").fill(text);
  await tab.keyboard.press("Enter");
};

it(
  "a refresh in mid-reply and a second tab show the same text, either tab stops and decides, markup is text, and a break is said",
  { timeout: patience },
  async () => {
    await using chat = await startChat();
    await using browser = await openBrowser();
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const complaints: string[] = [];
    context.on("weberror", (error) => complaints.push(error.error().message));
    context.on("console", (message) => {
      // A session that is not there yet is a 404 to the browser, and none to the page.
      if (message.type() === "error" && !/404|ERR_INTERNET/.test(message.text()))
        complaints.push(message.text());
    });
    const foreign: string[] = [];
    context.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== "data:" && origin !== chat.url) foreign.push(request.url());
    });
    const tab = await context.newPage();
    await tab.goto(chat.url);
    await say(tab, "Two days in Oslo, please.");
    await until(async () => (await replyOf(tab)).length > 60, "it talks");
    const seen = await replyOf(tab);

    await tab.reload();
    const other = await context.newPage();
    await other.goto(tab.url());
    const isFurther = async (page: Page): Promise<boolean> =>
      (await replyOf(page)).length > seen.length + 30;
    await until(async () => (await isFurther(tab)) && (await isFurther(other)), "both go on");
    const [here, there] = [await replyOf(tab), await replyOf(other)];
    expect(there.startsWith(here)).toBe(true); // it was asked later
    expect(here.startsWith(seen)).toBe(true);

    // By the clocks of the two pages: from the click to the frame that shows it.
    await other.evaluate(`addEventListener("click", () => { globalThis.clickedAt = Date.now(); })`);
    await tab.evaluate(`new MutationObserver(() => {
      if (document.querySelector(".note") !== null) globalThis.stoppedAt ??= Date.now();
    }).observe(document.body, { childList: true, subtree: true })`);
    await other.getByRole("button", { name: "Stop" }).click();
    await tab.locator(".note", { hasText: "stopped" }).waitFor();
    const stoppedAt: number = await tab.evaluate("stoppedAt");
    const stopMs = stoppedAt - (await other.evaluate<number>("clickedAt"));
    await other.locator(".note", { hasText: "stopped" }).waitFor();
    const stopped = await replyOf(tab);
    expect(await replyOf(other)).toBe(stopped);
    expect(stopped.startsWith(there)).toBe(true);
    expect(stopped).not.toContain("people laugh"); // how it would end
    await tab.reload();
    await tab.locator(".note", { hasText: "stopped" }).waitFor();
    expect(await replyOf(tab)).toBe(stopped);

    await say(tab, "Book a room near the station.");
    const ask = other.getByRole("region", { name: "Approve book" });
    expect(await ask.locator("pre").textContent()).toContain('"euros":318');
    await ask.getByRole("button", { name: "Run once" }).click();
    await tab.locator(".tool.finished", { hasText: "OSL-4711 · 2 nights" }).waitFor();
    await tab.locator("main[aria-busy=false]").waitFor();
    expect(await tab.locator("section.ask").count()).toBe(0);

    const markup = '<img src="http://evil.example/x" onerror="document.title=1"><b>bold</b>';
    await say(tab, markup);
    await other.locator("article.user p", { hasText: markup }).waitFor(); // as text
    await other.getByRole("button", { name: "Stop" }).click();
    await tab.locator(".note").nth(1).waitFor();
    expect(await tab.locator("article p *").count()).toBe(0);

    await context.setOffline(true);
    await tab.locator("header", { hasText: "Offline" }).waitFor();
    await context.setOffline(false);
    await until(async () => (await tab.locator(".away").count()) === 0, "it is back");

    for (const width of [390, 1_280]) {
      await tab.setViewportSize({ width, height: 844 });
      expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
    expect(complaints).toEqual([]);
    expect(foreign).toEqual([]);
    console.log(`count: ms from a click on Stop to the other tab, ${stopMs}`);
  },
);
