// Each thing that the reference app can do, driven in Chromium on its demo: streams, cards, questions and control.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ideas } from "../../apps/chat/src/shared.ts";
import type { ServedChat } from "../../apps/chat/src/server/serve.ts";
import { openBrowser } from "../browser/kit/browser.ts";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";
import { buildPage, newSession, openTab, say, sessionOf, startApp, untilIdle } from "./kit/app.ts";
import { flashes, watchMarkdown } from "./kit/flashes.ts";
import { createHeldDemo } from "./kit/held-demo.ts";

const opened = new AsyncDisposableStack();
const { agent, holds } = createHeldDemo();
let app: ServedChat;
let browser: Browser;
let context: BrowserContext;
let tab: Page;
const complaints: string[] = [];

beforeAll(async () => {
  app = opened.use(await startApp(opened.use(await buildPage()), { agent }));
  browser = opened.use(await openBrowser());
  context = await browser.newContext({ viewport: { width: 1_280, height: 844 } });
  context.on("weberror", (error) => complaints.push(error.error().message));
  context.on("console", (message) => {
    // A session that is not there yet is a 404 to the browser, and none to the page.
    if (message.type() === "error" && !/404|ERR_INTERNET/.test(message.text()))
      complaints.push(message.text());
  });
  tab = await openTab(context, app);
}, patience);

afterAll(() => opened.disposeAsync());

it("Markdown is written without a flash of raw marks, and finished blocks are left alone", async () => {
  await newSession(tab);
  await tab.evaluate(watchMarkdown);
  // A slow page gets its text slowly, so that it is seen while it is written.
  let seen = 0;
  holds.afterText = async ({ length }) => {
    if (length < seen + 32) return;
    seen = length;
    await tab.evaluate(twoFrames);
  };
  await say(tab, ideas.explain.prompt);
  await tab.getByText("press ? for the keys").waitFor();
  await untilIdle(tab);
  holds.afterText = undefined;

  const found = await flashes(tab);
  expect(found.raw).toEqual([]);
  expect(found.replaced).toEqual([]);
  expect(found.texts).toBeGreaterThan(20); // it was seen while it was written
  expect(await tab.locator(".md table tr").count()).toBe(4);
  expect(await tab.locator("figure.code .t-word").first().textContent()).toBe("export");
});

it("reasoning is open while it is written, then folds itself away with its time, and opens again", async () => {
  await newSession(tab);
  const goOn = holds.holdAt("I should line up the deploys");
  await say(tab, ideas.investigate.prompt);
  const thought = tab.locator(".think").first();
  await thought.locator("div").waitFor();
  expect(await thought.getByRole("button").textContent()).toContain("Thinking");
  goOn();
  await thought.locator("div").waitFor({ state: "detached" });

  const fold = thought.getByRole("button");
  expect(await fold.textContent()).toMatch(/^Thought for \d/);
  await fold.click();
  expect(await thought.locator("div").textContent()).toContain("line up the deploys");
  await tab.getByRole("button", { name: "Run once" }).waitFor(); // its tools are done: the next test holds its own
});

it("a tool card shows its progress, its failure and its output, and asks with the exact input", async () => {
  await newSession(tab);
  const first = holds.holdAt("slow_queries");
  const second = holds.holdAt("slow_queries");
  await say(tab, ideas.investigate.prompt);
  const share = `Number(document.querySelector('[role="progressbar"]')?.ariaValueNow ?? 101)`;
  await tab.getByRole("progressbar", { name: "slow_queries" }).waitFor();
  const before = await tab.evaluate<number>(share);
  first();
  await until(async () => (await tab.evaluate<number>(share)) > before, "it goes on");
  second();
  const failed = tab.locator('[data-part="tool-card"][data-state="failed"]');
  await failed.waitFor();
  expect(await failed.textContent()).toContain("timed out after 30 s");

  const ask = tab.getByRole("region", { name: "Approve run_sql" });
  await ask.waitFor();
  expect(await ask.locator('[data-part="input"]').textContent()).toBe(
    '{"database":"production","sql":"create index concurrently orders_customer_id_idx on orders (customer_id);"}',
  );
  const card = tab.getByRole("region", { name: "slow_queries, done" });
  await card.getByRole("button").click();
  expect(await card.locator('[data-part="block"]').allTextContents()).toEqual([
    '{"from":"14:00","to":"15:00"}',
    expect.stringContaining("10000 lines read") as string,
  ]);

  // Another tab of the same person answers, and both go on.
  const other = await openTab(context, app, sessionOf(tab));
  await other.getByRole("button", { name: "Run once" }).click();
  await tab.getByText("2.4 s became 12 ms").waitFor();
  await other.getByText("2.4 s became 12 ms").waitFor();
  await untilIdle(tab);
  await untilIdle(other);
  expect(await ask.count()).toBe(0);
  expect(await textOf(other)).toEqual(await textOf(tab));
  await other.close();
});

it("a question shows how long it waits, and is denied with a reason, which reaches the model", async () => {
  await newSession(tab);
  await say(tab, ideas.investigate.prompt);
  const left = tab.getByRole("region", { name: "Approve run_sql" }).locator('[data-part="time"]');
  await left.getByText(/^(?:59|60) min left$/).waitFor();
  // An hour later by this device's clock; the question is the server's, which still takes the answer.
  await tab.evaluate("globalThis.now = Date.now; Date.now = () => now() + 3_600_000");
  await left.getByText("its time is up").waitFor();
  await tab.evaluate("Date.now = now");
  await tab.getByLabel("Reason, if you like").fill("not today");
  await tab.getByRole("button", { name: "Deny" }).click();
  const denied = tab.getByRole("region", { name: "run_sql, denied" });
  await denied.waitFor();

  expect(await denied.textContent()).toContain("not today");
  await tab.getByText("Then I leave the table as it is").waitFor();
  await untilIdle(tab);
});

it("a sub-agent works in view inside its call, and is opened again after a reload", async () => {
  await newSession(tab);
  const goOn = holds.holdAt("read_runbook");
  await say(tab, ideas.delegate.prompt);
  const card = tab.getByRole("region", { name: /^colleague/ });
  await card
    .getByRole("group", { name: "Sub-agent" })
    .getByRole("region", { name: /^read_runbook/ })
    .waitFor();
  goOn();
  await untilIdle(tab);
  await tab.reload();
  await card.getByRole("button").first().click();

  await card.getByRole("group", { name: "Sub-agent" }).getByText("watch the lag").waitFor();
});

it("a reply that fails says why and is tried again", async () => {
  await newSession(tab);
  await say(tab, ideas.fail.prompt);
  const failure = tab.getByRole("alert");
  await failure.waitFor();
  expect(await failure.textContent()).toContain("gave up after 3 attempts");
  expect(await failure.textContent()).toContain("overloaded");
  await failure.getByRole("button", { name: "Try again" }).click();

  await until(async () => (await tab.locator("article.user").count()) === 2, "it is sent again");
  await failure.waitFor();
});

it("the page scrolls with new content, stops at an upward scroll, and offers a button to the end", async () => {
  await newSession(tab);
  const goOn = holds.holdAt("| 20 | 200 |");
  await say(tab, ideas.explain.prompt);
  const rest = `(() => { const { scrollHeight, scrollTop, clientHeight } = document.querySelector(".scroll"); return scrollHeight - scrollTop - clientHeight; })()`;
  const latest = tab.getByRole("button", { name: "↓ Latest" });
  await tab.locator(".md.live table").waitFor();
  await until(async () => (await tab.evaluate<number>(rest)) < 48, "it follows");
  expect(await latest.count()).toBe(0);
  await tab.locator(".scroll").hover();
  await tab.mouse.wheel(0, -400);
  await latest.waitFor();
  goOn();
  await untilIdle(tab);
  expect(await tab.evaluate<number>(rest)).toBeGreaterThan(200);
  await latest.click();
  await until(async () => (await tab.evaluate<number>(rest)) < 48, "it is at the end");
  expect(await latest.count()).toBe(0);
});

it("Stop and Escape keep what came, marked as stopped", async () => {
  for (const stop of ["button", "key"]) {
    await newSession(tab);
    holds.holdAt("so that **two tabs"); // the stop ends it
    await say(tab, ideas.explain.prompt);
    await tab.locator(".md.live").waitFor();
    await until(
      async () => ((await tab.locator(".md").textContent()) ?? "").length > 100,
      "it talks",
    );
    if (stop === "key") await tab.keyboard.press("Escape");
    else await tab.getByRole("button", { name: "Stop" }).click();
    await tab.locator(".note", { hasText: "stopped" }).waitFor();
    await untilIdle(tab);
    expect((await tab.locator(".md").textContent())?.length).toBeGreaterThan(100);
  }
});

it("a message while a run is on steers it or is queued, is taken back, edited and taken up", async () => {
  await newSession(tab);
  await say(tab, ideas.investigate.prompt);
  // While it waits for a person, all that is sent waits too.
  await tab.getByRole("button", { name: "Run once" }).waitFor();
  await say(tab, "then write it up", "Alt+Enter");
  await say(tab, "look at orders");
  const waiting = tab.getByRole("list", { name: "Waiting to be taken up" }).getByRole("listitem");
  await until(async () => (await waiting.count()) === 2, "both wait");
  expect(await waiting.allTextContents()).toEqual([
    expect.stringMatching(/^nextthen write it up/) as string,
    expect.stringMatching(/^steerslook at orders/) as string,
  ]);
  expect(await tab.locator(".latest").count()).toBe(0); // the end is still in sight
  await tab.keyboard.press("Alt+ArrowUp");
  const field = tab.getByLabel("Message", { exact: true });
  await until(async () => (await field.inputValue()) === "look at orders", "it is taken back");
  await until(async () => (await waiting.count()) === 1, "one is left");
  await tab.getByRole("button", { name: "Take back: then write it up" }).click();
  await until(async () => (await waiting.count()) === 0, "none is left");
  await say(tab, "mind the carts");
  await until(async () => (await waiting.count()) === 1, "it waits");
  await tab.getByRole("button", { name: "Run once" }).click();
  await tab.getByText("Noted: mind the carts").waitFor();
  await untilIdle(tab);
});

it("what waits is in step in both tabs, and the context, tokens and cost are shown", async () => {
  const other = await openTab(context, app, sessionOf(tab));
  const texts = await textOf(tab);
  await until(async () => (await textOf(other)).length === texts.length, "it is shown");
  expect(await textOf(other)).toEqual(texts);
  const ring = tab.getByRole("img", { name: /^Context: / });
  expect(await ring.getAttribute("aria-label")).toMatch(
    /^Context: [\d,]+ of 200,000 tokens, [1-9]\d* %$/,
  );
  expect(await tab.locator(".meters").textContent()).toMatch(
    /[\d.]+k in · \d+(?:\.\dk)? out.*\$0\.\d\d/,
  );
  await other.close();
});

it("nothing went wrong in any page, and no policy was violated", () => {
  expect(complaints).toEqual([]);
  expect(app.policyReports()).toBe(0);
});

const twoFrames = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`;

async function textOf(page: Page): Promise<readonly string[]> {
  return await page.locator("article .md, article.user p").allTextContents();
}
