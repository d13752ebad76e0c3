// What models, tools and people write is shown by the page of `examples/chat`, and does nothing there.
import { createClient } from "@millrace/client";
import { showQuestion } from "@millrace/core/reading";
import type { BrowserContext, Page } from "playwright-core";
import { expect, it } from "vitest";
import { patience } from "../kit/patience.ts";
import { startMemoryServer } from "../web/kit/memory-server.ts";
import { openBrowser } from "./kit/browser.ts";
import { chatFiles } from "./kit/chat-tab.ts";
import {
  goPrompt,
  hostileAgent,
  hostileTexts,
  othersOfEach,
  othersPrompt,
  shortTexts,
} from "./kit/hostile.ts";
import { policyOf, startChat } from "./kit/start-chat.ts";
import { watchActs } from "./kit/watch-acts.ts";

/** The page of the example, with its policy, before another server. */
async function serveChat(context: BrowserContext, url: string): Promise<void> {
  const { html, program } = await chatFiles();
  await using example = await startChat();
  const policy = await policyOf(example);
  expect(policy).toContain("default-src 'self'");
  await context.route(`${url}/`, (route) =>
    route.fulfill({
      body: html,
      contentType: "text/html; charset=utf-8",
      headers: { "content-security-policy": policy },
    }),
  );
  await context.route(`${url}/page.tsx`, (route) =>
    route.fulfill({ body: program, contentType: "text/javascript" }),
  );
}

/** Elements and attributes that the page's own program makes. */
const tags =
  "ARTICLE ASIDE B BDI BUTTON DETAILS DIV FOOTER FORM H1 HEADER MAIN NAV P PRE SECTION SMALL SPAN STRONG SUMMARY TEXTAREA";
const attributes =
  "action aria-busy aria-current aria-hidden aria-label aria-live autofocus class disabled id open placeholder role rows tabindex type";

const strangers = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll("#root *")].flatMap((element) => [
    ...(${JSON.stringify(tags.split(" "))}.includes(element.tagName) ? [] : [element.outerHTML.slice(0, 80)]),
    ...element.getAttributeNames().filter((name) => !${JSON.stringify(attributes.split(" "))}.includes(name)),
  ])`);

/** Elements whose text could reorder the words beside it, or be painted over what is around it. */
const leaks = (page: Page): Promise<readonly string[]> =>
  page.evaluate<
    string[]
  >(`[...document.querySelectorAll(".column *, nav button *")].flatMap((element) => {
    const { display, unicodeBidi } = getComputedStyle(element);
    const hasText = [...element.childNodes].some(({ nodeType }) => nodeType === 3);
    const isApart = display !== "inline" || unicodeBidi.startsWith("isolate");
    const isBound = element.closest("article, .tool, nav button, button, .fault, .hello");
    const isCut = ["ARTICLE", "SECTION"].includes(element.tagName) && getComputedStyle(element).overflowX === "visible";
    return (hasText && (!isApart || isBound === null)) || isCut ? [element.outerHTML.slice(0, 80)] : [];
  })`);

const textsOf = (page: Page, selector: string): Promise<readonly string[]> =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.textContent)`,
  );

it(
  "a corpus of hostile texts in every place of the chat is shown as text: nothing runs, nothing is loaded, nothing is forged",
  { timeout: patience },
  async () => {
    await using server = await startMemoryServer({
      agent: hostileAgent(),
      pages: {},
      limits: { requestsPerUser: 1e6, inputsPerUser: 1e6, inputsPerSession: 1e6 },
    });
    await using browser = await openBrowser();
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const { url } = server;
    await context.addCookies([{ name: "user", value: "ann", url }]);
    await serveChat(context, url);
    const whatHappened = await watchActs(context, url, "data:");
    using client = createClient({ url: `${url}/agent`, token: "ann" });
    const session = client.session("hostile");
    const [first = "", ...texts] = hostileTexts;
    expect(await session.send(first).text()).toBe("ok");
    // From the second text on the tab is there: one that comes later is shown the newest items alone.
    const tab = await context.newPage();
    await tab.goto(`${url}/#hostile`);
    await tab.locator("article.model").first().waitFor();
    for (const text of texts) expect(await session.send(text).text()).toBe("ok");
    await session.update({ title: shortTexts[0] });
    expect((await session.send(othersPrompt).result).outcome).toBe("completed");
    session.send(goPrompt);
    await tab
      .locator("section.ask")
      .nth(shortTexts.length - 1)
      .waitFor();

    const late = await context.newPage();
    await late.goto(`${url}/#hostile`);
    await late
      .locator("section.ask")
      .nth(shortTexts.length - 1)
      .waitFor();
    const replies = (await textsOf(tab, "article.model p")).filter((text) => text !== "ok");
    expect(replies).toEqual(hostileTexts);
    expect(await textsOf(tab, "article.user p")).toEqual([...hostileTexts, othersPrompt, goPrompt]);
    const thoughts = hostileTexts.map((text) => `Thought${text}`);
    expect(await textsOf(tab, "details.think")).toEqual(thoughts);
    const whats = shortTexts.map((text) => `${text}: 4 °C, ${text}`);
    expect(await textsOf(tab, ".tool.finished .what")).toEqual(whats);
    const others = await textsOf(tab, "article .other");
    expect(others).toHaveLength(shortTexts.length * othersOfEach);
    expect(new Set(others).size).toBe(othersOfEach);
    const asked = shortTexts.map((city) => showQuestion({ tool: "book", input: { city } }).input);
    for (const page of [tab, late]) {
      const questions = await textsOf(page, "section.ask pre");
      expect(questions).toEqual(asked.map(({ text, counts }) => `${text} ${counts}`));
      const buttons = page.locator(".column button:not(.earlier)");
      expect(await buttons.count()).toBe(shortTexts.length * 2);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
      expect(await strangers(page)).toEqual([]);
      expect(await leaks(page)).toEqual([]);
      expect(await page.title()).toBe("Millrace · chat");
    }
    expect(await whatHappened()).toEqual([]);
    const places = hostileTexts.length * 3 + shortTexts.length * (3 + othersOfEach);
    console.log(
      `count: hostile texts in the chat, ${hostileTexts.length} in ${places} places, 0 scripts, 0 foreign requests`,
    );
  },
);
