// How the chat looks on a phone and on a desk, by day and by night: what of it can be measured.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { patience } from "../kit/patience.ts";
import { openBrowser } from "./kit/browser.ts";
import { say } from "./kit/chat-tab.ts";
import { startChat } from "./kit/start-chat.ts";

/** Texts with less contrast than WCAG 2.2 AA asks for, buttons that are too small to touch, and text that is cut off. */
const measure = `(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = channels(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const isSolid = (colour) => (channels(colour)[3] ?? 1) === 1;
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (isSolid(backgroundColor)) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const faults = [];
  let measured = 0;
  for (const element of document.querySelectorAll("body *")) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim() !== "");
    const isField = element.tagName === "TEXTAREA";
    if (!element.checkVisibility({ visibilityProperty: true }) || (texts.length === 0 && !isField)) continue;
    const style = getComputedStyle(element, isField ? "::placeholder" : null);
    const [fore, back] = [light(style.color), light(behind(element))].toSorted((a, b) => b - a);
    const ratio = (fore + 0.05) / (back + 0.05);
    measured += 1;
    if (ratio < 4.5) faults.push(element.outerHTML.slice(0, 80) + " has a contrast of " + ratio.toFixed(2));
    const { right, left } = element.getBoundingClientRect();
    if (left < 0 || right > innerWidth) faults.push(element.outerHTML.slice(0, 80) + " is cut off");
  }
  for (const button of document.querySelectorAll("button")) {
    const { width, height } = button.getBoundingClientRect();
    if (button.checkVisibility() && Math.min(width, height) < 24) faults.push(button.outerHTML + " is too small");
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page scrolls sideways");
  return { faults, measured };
})()`;

const schemes = ["light", "dark"] as const;

/** All that is wrong with what the tab shows now, at both widths and in both colour schemes. */
async function look(tab: Page, what: string): Promise<number> {
  let texts = 0;
  for (const width of [390, 1_280])
    for (const colorScheme of schemes) {
      await tab.setViewportSize({ width, height: 844 });
      await tab.emulateMedia({ colorScheme });
      const { faults, measured } = await tab.evaluate<{ faults: string[]; measured: number }>(
        measure,
      );
      expect(faults, `${what}, ${colorScheme}, ${width} px`).toEqual([]);
      texts += measured;
    }
  return texts;
}

it(
  "on a phone and on a desk, in light and dark, all text is legible, nothing scrolls sideways and every button can be hit",
  { timeout: patience },
  async () => {
    await using chat = await startChat();
    await using browser = await openBrowser();
    const tab = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await tab.goto(chat.url);
    await tab.locator(".hello").waitFor();
    let texts = await look(tab, "a new session");

    await say(tab, "What should I pack?");
    await tab.locator(".tool.running").waitFor();
    texts += await look(tab, "a tool that runs");
    await tab.locator("form .go").waitFor();
    await say(tab, `${"W".repeat(3_000)} please: two days in Oslo.`);
    await tab.locator("article.model p.live").waitFor();
    await say(tab, "And the day after?");
    await tab.locator(".queued").waitFor();
    texts += await look(tab, "a reply, and an input that waits");
    await tab.keyboard.press("Escape");
    await tab.locator(".note").waitFor();
    await say(tab, "Book a room near the station.");
    await tab.locator("section.ask").waitFor();
    texts += await look(tab, "a question");
    await tab.setViewportSize({ width: 390, height: 844 });
    await tab.locator(".burger").click();
    texts += await look(tab, "the list of sessions");
    await tab.setViewportSize({ width: 390, height: 844 });
    await tab.locator(".shade").click({ position: { x: 380, y: 400 } });
    expect(await tab.locator("nav").isVisible()).toBe(false);
    console.log(`count: texts of the chat at two widths in two colour schemes, ${texts} legible`);
  },
);
