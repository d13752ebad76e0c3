import { readFileSync } from "node:fs";
import type { Fact } from "@millrace/core";
import type { BrowserContext, Page } from "playwright-core";
import { textOfItem } from "../../kit/deployment/paced-agent.ts";
import { bundleForPage } from "./bundle.ts";
import type { Recorded } from "./recorder.ts";

/** The page of `examples/chat`: its HTML, and the program that it loads from `/page.tsx`. */
export async function chatFiles(): Promise<{ readonly html: string; readonly program: string }> {
  const folder = new URL("../../../examples/chat/", import.meta.url);
  const program = await bundleForPage(new URL("page.tsx", folder), "production");
  return { html: readFileSync(new URL("index.html", folder), "utf8"), program };
}

/** The page of `examples/chat` in one file, as any server can serve it. */
export async function bundleChat(): Promise<string> {
  const { html, program } = await chatFiles();
  const script = `<script type="module">${program.replaceAll("</script", String.raw`<\/script`)}</script>`;
  return html.replace('<script type="module" src="/page.tsx"></script>', () => script);
}

/** Shows a session that is not there yet in a tab, and records it from its beginning. */
export async function beginSession(tab: Page, url: string, session: string): Promise<void> {
  // A page of the back/forward cache never loads, so far as its driver knows.
  await tab.goto(`${url}/#${session}`, { waitUntil: "commit" });
  await tab.locator(".hello").waitFor();
  await tab.evaluate("recordAnew()");
}

/** Opens a session in another tab. */
export async function openTab(
  context: BrowserContext,
  url: string,
  session: string,
): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(`${url}/#${session}`);
  await tab.getByLabel("Message").waitFor();
  return tab;
}

/** Types a text and presses Enter. */
export async function say(tab: Page, text: string): Promise<void> {
  await tab.getByLabel("Message").fill(text);
  await tab.keyboard.press("Enter");
}

/** What the tab has shown so far. */
export function recordedOf(tab: Page): Promise<Recorded> {
  return tab.evaluate<Recorded>("recorded");
}

/** Waits until the last reply has so many characters, or more. */
export async function untilShown(tab: Page, length: number): Promise<void> {
  const shown = `(globalThis.recorded?.texts.at(-1) ?? "").length >= ${length}`;
  await tab.waitForFunction(shown, undefined, { polling: 10, timeout: 60_000 });
}

/** What a tab shows at rest, and what is stored. */
interface Compared {
  readonly shown: readonly string[];
  readonly stored: readonly string[];
}

/** All items as `author: text`, in the tab and in the store. */
export async function compare(tab: Page, facts: readonly Fact[]): Promise<Compared> {
  const shown = await tab.evaluate<string[]>(
    `[...document.querySelectorAll("article")].map((item) =>
      item.className + ": " + [...item.querySelectorAll("p")].map((text) => text.textContent).join(""))`,
  );
  const stored = facts.flatMap((fact) =>
    fact.type === "item_committed" && fact.item.parts.length > 0
      ? [`${fact.item.author}: ${textOfItem(fact.item)}`]
      : [],
  );
  return { shown, stored };
}

/** Waits until the tab shows that nothing runs, and as many items as are stored. */
export async function untilAtRest(tab: Page, items: number): Promise<void> {
  const isAtRest = `document.querySelector("form .go") !== null && document.querySelector(".away") === null &&
    document.querySelectorAll("article").length >= ${items}`;
  await tab.waitForFunction(isAtRest, undefined, { polling: 20, timeout: 60_000 });
}
