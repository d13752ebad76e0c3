// assistant-ui, unmodified, on sessions of ours: the example's pages in Chromium.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guideModel, guideWith } from "../../examples/assistant-ui/agent.ts";
import { openBrowser } from "../browser/kit/browser.ts";
import { openSite } from "../dialects/browser/site.ts";
import type { Site } from "../dialects/browser/site.ts";
import { createHolds } from "../kit/holds.ts";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";

const opened = new AsyncDisposableStack();
const holds = createHolds();
let site: Site;
let browser: Browser;
let sessions = 0;
const complaints: string[] = [];

const example = (file: string): URL =>
  new URL(`../../examples/assistant-ui/${file}`, import.meta.url);
const entries = { "/own": example("page.tsx"), "/ai-sdk": example("page-ai-sdk.tsx") };
type Path = keyof typeof entries;

beforeAll(async () => {
  site = opened.use(await openSite(guideWith(holds.holdable(guideModel(1))), entries));
  browser = opened.use(await openBrowser());
}, patience);

afterAll(() => opened.disposeAsync());

/** A tab of a new session, or of one that another tab shows. */
async function openTab(path: Path, session = `aui-${(sessions += 1)}`): Promise<Page> {
  const page = await browser.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // A session that is not there yet, and a line that is cut, are errors to the browser, and none to the page.
    if (message.type() === "error" && !/404|ERR_/.test(message.text()))
      complaints.push(message.text());
  });
  await page.goto(`${site.url}${path}#${session}`);
  await page.getByLabel("Message").waitFor();
  return page;
}

const sessionOf = (tab: Page): string => new URL(tab.url()).hash.slice(1);

async function say(tab: Page, text: string): Promise<void> {
  await tab.getByLabel("Message").fill(text);
  await tab.getByRole("button", { name: "Send" }).click();
}

/** Pastes a file into the composer. */
const pasteFile = `(() => {
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File(["coat"], "list.txt", { type: "text/plain" }));
  const paste = new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData });
  document.querySelector("textarea").dispatchEvent(paste);
})()`;

const replies = (tab: Page): Promise<readonly string[]> =>
  tab.locator(".assistant").allTextContents();
const prompts = (tab: Page): Promise<readonly string[]> => tab.locator(".user").allTextContents();
const stop = (tab: Page): ReturnType<Page["getByRole"]> =>
  tab.getByRole("button", { name: "Stop" });
const untilIdle = (tab: Page): Promise<void> => stop(tab).waitFor({ state: "detached" });

describe.each(["/own", "/ai-sdk"] as const)("assistant-ui at %s", (path) => {
  it("a refresh in mid-word shows the words again, and they go on", async () => {
    const tab = await openTab(path);
    const goOn = holds.holdAt("whose ro");
    await say(tab, "Tell me");
    await tab.getByText("whose ro").waitFor();
    await tab.reload();
    await tab.getByText("whose ro").waitFor();
    expect((await replies(tab)).join("")).not.toContain("whose roof is");
    goOn();
    await tab.getByText("at Grünerløkka.").waitFor();
    await untilIdle(tab);

    expect(await replies(tab)).toHaveLength(1);
    expect(await prompts(tab)).toEqual(["Tell me"]);
    await tab.close();
  });

  it("Stop stops the run, and what came stays", async () => {
    const tab = await openTab(path);
    holds.holdAt("whose roof"); // the stop ends it
    await say(tab, "Tell me");
    await tab.getByText("whose roof").waitFor();
    await stop(tab).click();
    await untilIdle(tab);
    await tab.reload();
    await tab.getByText("whose roof").waitFor();
    expect(await stop(tab).count()).toBe(0);
    expect((await replies(tab)).join("")).not.toContain("Munch");
    await tab.close();
  });

  it("a question waits through a refresh, shows the exact input, and is allowed or denied", async () => {
    const tab = await openTab(path);
    await say(tab, "Book a room");
    await tab.getByRole("button", { name: "Allow" }).waitFor();
    await tab.reload();
    const call = tab.getByRole("region", { name: "book" });
    await call.getByRole("button", { name: "Allow" }).waitFor();
    expect(await call.locator("code").textContent()).toMatch(/"hotel": ?"Grand", ?"euros": ?318/);
    await call.getByRole("button", { name: "Allow" }).click();
    await tab.getByText("The reference is OSL-4711.").waitFor();
    await untilIdle(tab);
    await say(tab, "Book another room");
    await tab.getByRole("button", { name: "Deny" }).click();
    await tab.getByText("Nothing was done.").waitFor();
    await untilIdle(tab);
    await tab.close();
  });

  it("a tool of the page is answered by the person, and the run goes on", async () => {
    const tab = await openTab(path);
    await say(tab, "Where am I?");
    await tab.getByRole("button", { name: "I am in Oslo" }).click();
    await tab.getByText("Then you are there already.").waitFor();
    expect(await tab.getByRole("region", { name: "place" }).locator("pre").textContent()).toBe(
      '{"city":"Oslo"}',
    );
    await untilIdle(tab);
    await tab.close();
  });
});

it("a line that is cut in mid-word is made whole without a word to the person", async () => {
  const tab = await openTab("/own");
  const places = ["Os", "whose ro", "at Grün"];
  for (const [at, place] of places.entries()) {
    const goOn = holds.holdAt(place);
    await say(tab, "Tell me");
    await tab.locator(".assistant").nth(at).getByText(place).waitFor();
    site.cutAll();
    goOn();
    await tab.locator(".assistant").nth(at).getByText("at Grünerløkka.").waitFor();
    await untilIdle(tab);
  }
  const said = await replies(tab);
  expect(said).toHaveLength(places.length);
  expect(new Set(said).size).toBe(1); // all of them whole, with nothing twice
  await tab.reload();
  await until(async () => (await replies(tab)).length === places.length, "all of them again");
  expect(await replies(tab)).toEqual(said);
  await tab.close();
});

it("a message while a run is on steers it, waits in both tabs, is taken back or taken up; a file goes with a message", async () => {
  const tab = await openTab("/own");
  const goOn = holds.holdAt("whose roof");
  await say(tab, "Tell me");
  await tab.getByText("whose roof").waitFor();
  await say(tab, "by tram");
  await say(tab, "on foot");
  const waiting = tab.locator(".waiting");
  await until(async () => (await waiting.count()) === 2, "both wait");
  const other = await openTab("/own", sessionOf(tab));
  await until(async () => (await other.locator(".waiting").count()) === 2, "they wait there too");
  await other.locator(".waiting", { hasText: "by tram" }).getByRole("button").click();
  await until(async () => (await waiting.count()) === 1, "one is taken back");
  goOn();
  await until(async () => (await prompts(tab)).length === 2, "the other is taken up");
  await untilIdle(tab);
  expect(await prompts(tab)).toEqual(["Tell me", "on foot"]);

  await tab.evaluate(pasteFile);
  await tab.locator(".attached").waitFor();
  await say(tab, "What to pack?");
  await tab.locator(".user .data", { hasText: "list.txt" }).waitFor();
  await tab.getByText("take a raincoat").waitFor();
  await untilIdle(tab);
  await untilIdle(other);
  await until(async () => (await replies(other)).length === (await replies(tab)).length, "in step");
  expect(await replies(other)).toEqual(await replies(tab));
  await tab.close();
  await other.close();
});

it("nothing went wrong in any page", () => {
  expect(complaints).toEqual([]);
});
