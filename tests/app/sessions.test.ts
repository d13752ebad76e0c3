// The reference app's sessions, files, keys and continuity, driven in Chromium on its demo.
import { readFileSync } from "node:fs";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ideas } from "../../apps/chat/src/shared.ts";
import type { ServedChat } from "../../apps/chat/src/server/serve.ts";
import { openBrowser } from "../browser/kit/browser.ts";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";
import { buildPage, newSession, openTab, say, sessionOf, startApp, untilIdle } from "./kit/app.ts";
import { createHeldDemo } from "./kit/held-demo.ts";

const opened = new AsyncDisposableStack();
const { agent, holds } = createHeldDemo();
let app: ServedChat;
let browser: Browser;
let context: BrowserContext;
let tab: Page;

beforeAll(async () => {
  app = opened.use(await startApp(opened.use(await buildPage()), { agent }));
  browser = opened.use(await openBrowser());
  context = await browser.newContext({ viewport: { width: 1_280, height: 844 } });
  tab = await openTab(context, app);
}, patience);

afterAll(() => opened.disposeAsync());

const rows = (page: Page): ReturnType<Page["locator"]> => page.locator("nav .session");
const menu = async (name: string): Promise<void> => {
  await tab.getByRole("button", { name: "Session menu" }).click();
  await tab.getByRole("button", { name }).click();
};

it("a message is edited and sent again in a new session, and the old one stays as it is", async () => {
  await newSession(tab);
  await say(tab, "first words");
  await tab.getByText("You wrote: “first words”").waitFor();
  await untilIdle(tab);
  await say(tab, "second words");
  await tab.getByText("You wrote: “second words”").waitFor();
  await untilIdle(tab);
  const trunk = sessionOf(tab);
  const second = tab.locator("article.user", { hasText: "second words" });
  await second.hover();
  await second.getByRole("button", { name: "Edit" }).click();
  await tab.getByLabel("Edit the message").fill("better words");
  await tab.getByRole("button", { name: "Resend" }).click();
  await tab.getByText("You wrote: “better words”").waitFor();

  expect(sessionOf(tab)).not.toBe(trunk);
  expect(await tab.locator("article.user p").allTextContents()).toEqual([
    "first words",
    "better words",
  ]);
  await tab.goto(`${app.url}/#${trunk}`);
  await tab.locator("article.user", { hasText: "second words" }).waitFor();
  expect(await tab.locator("article.user p").allTextContents()).toEqual([
    "first words",
    "second words",
  ]);
});

it("a session is forked from any message", async () => {
  const trunk = sessionOf(tab);
  const reply = tab.locator("article.model", { hasText: "first words" });
  await reply.hover();
  await reply.getByRole("button", { name: "Fork" }).click();
  await until(() => Promise.resolve(sessionOf(tab) !== trunk), "the fork is opened");
  await tab.locator("article.model", { hasText: "first words" }).waitFor();

  expect(await tab.locator("article.user p").allTextContents()).toEqual(["first words"]);
  await tab.locator("h1", { hasText: "first words (fork)" }).waitFor();
});

it("what is refused is told with its reason, until the person has read it", async () => {
  const refusal = { code: "forbidden", detail: "this session is only for reading" };
  await tab.route("**/forks", (route) => route.fulfill({ status: 403, json: refusal }));
  const reply = tab.locator("article.model", { hasText: "first words" });
  await reply.hover();
  await reply.getByRole("button", { name: "Fork" }).click();
  const notice = tab.getByText("The session was not forked.");
  await notice.waitFor();
  await tab.unroute("**/forks");

  expect(await tab.locator(".notice").textContent()).toContain("only for reading");
  await tab.getByRole("button", { name: "Close: The session was not forked." }).click();
  await notice.waitFor({ state: "detached" });
});

it("sessions are renamed, found by their name, exported in three formats and deleted for good", async () => {
  await menu("Rename");
  await tab.getByLabel("Name of the session").fill("A branch of mine");
  await tab.keyboard.press("Enter");
  await tab.locator("h1", { hasText: "A branch of mine" }).waitFor();
  await tab.keyboard.press("Control+K");
  await tab.keyboard.type("of mine");
  await until(async () => (await rows(tab).count()) === 1, "one is found");
  expect(await rows(tab).allTextContents()).toEqual(["A branch of mine"]);
  await tab.getByLabel("Search sessions").fill("");
  await until(async () => (await rows(tab).count()) === 3, "all are shown");

  const formats = { Markdown: "first words", JSONL: '"item_committed"', HTML: "<!doctype html>" };
  for (const [format, content] of Object.entries(formats)) {
    const download = tab.waitForEvent("download");
    await menu(`Export as ${format}`);
    const file = await download;
    expect(file.suggestedFilename()).toMatch(/^A-branch-of-mine\.(?:md|jsonl|html)$/);
    expect(readFileSync(await file.path(), "utf8")).toContain(content);
  }

  const gone = sessionOf(tab);
  await menu("Delete");
  await tab.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await tab.locator(".hello").waitFor();
  await until(async () => (await rows(tab).count()) === 2, "it is gone from the list");
  const other = await openTab(context, app, gone);
  await other.locator(".hello").waitFor(); // nothing of it is left to be shown
  await other.close();
  const answer = await tab.evaluate<number>(
    `fetch("/agent/v1/sessions/${gone}").then(({ status }) => status)`,
  );
  expect([404, 410]).toContain(answer);
});

it("what finishes while somebody looks elsewhere is marked unread, and what waits for a person is marked too", async () => {
  await newSession(tab);
  const goOn = holds.holdAt("You wrote");
  await say(tab, "something short");
  await tab.locator(".md").waitFor();
  await newSession(tab);
  goOn();
  const row = rows(tab).filter({ hasText: "something short" });
  const unread = row.getByRole("img", { name: "finished while you were away" });
  await unread.waitFor();
  await row.click();
  await tab.getByText("You wrote: “something short”").waitFor();
  await untilIdle(tab);
  await newSession(tab);
  expect(await row.count()).toBe(1);
  expect(await unread.count()).toBe(0);

  await say(tab, ideas.investigate.prompt);
  await newSession(tab);
  await tab.getByRole("img", { name: "waits for you" }).waitFor({ timeout: 30_000 });
});

it("files come by drop, paste and picker, are shown as chips, and a picture is shown in the message", async () => {
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAAAAAElFTkSuQmCC";
  await newSession(tab);
  await tab.evaluate(`(() => {
    const bytes = Uint8Array.from(atob("${png}"), (letter) => letter.charCodeAt(0));
    const data = (name, type, parts) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(parts, name, { type }));
      return transfer;
    };
    const drop = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data("dot.png", "image/png", [bytes]) });
    document.querySelector("main").dispatchEvent(drop);
    globalThis.paste = () => {
      const clipboardData = data("notes.txt", "text/plain", ["one, two"]);
      document.querySelector("#composer").dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData }));
    };
  })()`);
  const chips = tab.getByRole("list", { name: "Attached files" }).getByRole("listitem");
  await until(async () => (await chips.count()) === 1, "it was dropped");
  await tab.evaluate("paste()");
  await until(async () => (await chips.count()) === 2, "it was pasted");
  await tab.locator("input[type=file]").setInputFiles({
    name: "wrong.csv",
    mimeType: "text/csv",
    buffer: Buffer.from("a,b"),
  });
  await tab.getByRole("button", { name: "Remove wrong.csv" }).click();
  await until(async () => (await chips.count()) === 2, "it was taken out");
  await say(tab, "Look at these");
  await tab.getByText("I got 2 files").waitFor();

  const picture = tab.locator("article.user img.picture");
  await picture.waitFor();
  const decoded = `document.querySelector("img.picture").decode().then(() => document.querySelector("img.picture").naturalWidth)`;
  expect(await tab.evaluate<number>(decoded)).toBe(10);
  expect(await picture.getAttribute("src")).toMatch(/^blob:/);
  expect(await tab.locator("article.user a.file").getAttribute("download")).toBe("notes.txt");
  await untilIdle(tab);

  // Edited and sent again, it has its files still.
  const before = sessionOf(tab);
  await tab.locator("article.user").getByRole("button", { name: "Edit" }).click();
  await tab.getByRole("button", { name: "Resend" }).click();
  await until(() => Promise.resolve(sessionOf(tab) !== before), "it goes on elsewhere");
  await tab.getByText("I got 2 files").waitFor();
  expect(await tab.locator("article.user img.picture, article.user a.file").count()).toBe(2);
  await untilIdle(tab);
});

it("a break is said after a second, and the reply goes on where it was, with nothing twice", async () => {
  await newSession(tab);
  const goOn = holds.holdAt("## The heart of it");
  await say(tab, ideas.explain.prompt);
  await tab.locator(".md.live h2").first().waitFor();
  await context.setOffline(true);
  const banner = tab.locator('[data-part="connection"]');
  await banner.getByText(/Offline|Reconnecting/).waitFor();
  goOn();
  await context.setOffline(false);
  await until(async () => (await banner.textContent()) === "", "it is back");
  await tab.getByText("press ? for the keys").waitFor();
  await untilIdle(tab);
  expect(await tab.locator(".md h1").allTextContents()).toEqual(["How text reaches this page"]);

  const shown = await tab.locator(".md").textContent();
  await tab.reload();
  await tab.getByText("press ? for the keys").waitFor();
  expect(await tab.locator(".md").textContent()).toBe(shown);
});

it("all of it is done by keys: skip, send, approve, menus and dialogs, and the focus is always seen", async () => {
  await newSession(tab);
  await tab.reload();
  await tab.locator(".hello").waitFor();
  const skip = tab.getByRole("link", { name: "Skip to the message" });
  await skip.focus();
  expect((await skip.boundingBox())?.y).toBeGreaterThan(0); // it is seen while it has the focus
  await tab.keyboard.press("Enter");
  expect(await focused(tab)).toBe("Message");
  await tab.keyboard.type(ideas.investigate.prompt);
  await tab.keyboard.press("Enter");
  await tab.getByRole("button", { name: "Run once" }).waitFor();
  for (let steps = 0; (await focused(tab)) !== "Run once" && steps < 40; steps += 1)
    await tab.keyboard.press("Shift+Tab");
  expect(await tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
  await tab.keyboard.press("Enter");
  await tab.getByText("2.4 s became 12 ms").waitFor();
  await untilIdle(tab);
  await tab.evaluate("document.activeElement.blur()");
  await tab.keyboard.press("?");
  await tab.getByRole("dialog", { name: "Keys" }).waitFor();
  await tab.keyboard.press("Escape");
  await tab.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
});

it("a screen reader is told that a run began and what it came to, not each word", async () => {
  await newSession(tab);
  await tab.evaluate(`(() => {
    globalThis.said = [];
    const region = document.querySelector("#announcer");
    new MutationObserver(() => said.push(region.textContent)).observe(region, { subtree: true, childList: true, characterData: true });
  })()`);
  await say(tab, ideas.explain.prompt);
  await until(
    async () => (await tab.evaluate<string[]>("said")).some((text) => text.includes("Answer:")),
    "it is said",
  );

  const said = await tab.evaluate<string[]>("said");
  expect(said.length).toBeLessThanOrEqual(2);
  expect(said.join(" ")).toContain("Answering.");
  expect(said.at(-1)).toContain("Answer: # How text reaches this page");
  expect(await tab.getByRole("log").getAttribute("aria-live")).toBe("off");
});

it("nothing moves for those who ask for none", async () => {
  await newSession(tab);
  await tab.emulateMedia({ reducedMotion: "reduce" });
  holds.holdAt("slow_queries"); // the stop ends it
  await say(tab, ideas.investigate.prompt);
  await tab.getByRole("progressbar", { name: "slow_queries" }).waitFor();
  expect(await tab.evaluate("document.getAnimations().length")).toBe(0);
  await tab.emulateMedia({ reducedMotion: "no-preference" });
  await until(
    async () => (await tab.evaluate<number>("document.getAnimations().length")) > 0,
    "it moves",
  );
  await tab.keyboard.press("Escape");
  await untilIdle(tab);
});

function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    `document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent`,
  );
}
