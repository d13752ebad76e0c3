import type { Model } from "@millrace/core";
import { defineAgent } from "@millrace/agent";
import { say, scriptedModel } from "@millrace/core/testing";
import { createElement } from "react";
import { renderToReadableStream, renderToString } from "react-dom/server";
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";
import { startMemoryServer } from "../web/kit/memory-server.ts";
import type { MemoryServer } from "../web/kit/memory-server.ts";
import { openBrowser } from "./kit/browser.ts";
import { bundleForPage, htmlOf } from "./kit/bundle.ts";
import { App, PlainApp } from "./kit/react-page.tsx";

const words = Array.from({ length: 300 }, (_, at) => `word ${at}`).join(", ");
const model: Model = {
  id: "talker",
  stream: (request) => scriptedModel([[say(words)]], { delayMs: 2, chunk: [4] }).stream(request),
};

/** What React and the browser complain about, on the server and in the page. */
const complaints: string[] = [];

beforeEach(() => {
  complaints.length = 0;
  const note = (...words: unknown[]): void => void complaints.push(words.join(" "));
  vi.spyOn(console, "error").mockImplementation(note);
  vi.spyOn(console, "warn").mockImplementation(note);
});

afterEach(() => void vi.restoreAllMocks());

async function renderOnServer(): Promise<string> {
  const stream = await renderToReadableStream(createElement(App));
  await stream.allReady;
  return await new Response(stream).text();
}

async function serve(rendered: Readonly<Record<string, string>>): Promise<MemoryServer> {
  const program = await bundleForPage(new URL("kit/react-entry.tsx", import.meta.url));
  const pages = Object.fromEntries(
    Object.entries(rendered).map(([path, html]) => [path, htmlOf(program, html)] as const),
  );
  const agent = defineAgent({ name: "talker", model });
  return await startMemoryServer({ pages, agent });
}

async function openWatched(context: BrowserContext, url: string): Promise<Page> {
  await context.addCookies([{ name: "user", value: "ann", url }]);
  const page = await context.newPage();
  page.on("console", (message) => {
    // A session that is not there yet is a 404 to the browser, and none to the page.
    if (["error", "warning"].includes(message.type()) && !message.text().includes("404"))
      complaints.push(message.text());
  });
  page.on("pageerror", ({ message }) => complaints.push(message));
  await page.goto(url);
  return page;
}

const send = (page: Page, text: string): Promise<unknown> =>
  page.evaluate(`client.session("talk").send(${JSON.stringify(text)}).accepted`);

const isIdle = async (page: Page, replies: number): Promise<boolean> =>
  (await page.locator("article.model").count()) === replies &&
  (await page.locator("main[aria-busy=false]").count()) === 1;

it(
  "React takes over a server's page, renders a reply frame by frame, and never renders what is settled again",
  { timeout: patience },
  async () => {
    const rendered = await renderOnServer();
    expect(rendered).toContain("reading");
    expect(rendered).toContain('data-loading="true"');
    await using server = await serve({ "/": rendered });
    await using browser = await openBrowser();
    const page = await openWatched(await browser.newContext(), server.url);
    const counts = (): Promise<Record<string, number>> =>
      page.evaluate("Object.fromEntries(renders)");

    expect(await send(page, "One?")).toEqual({ accepted: true });
    await until(() => isIdle(page, 1), "the first reply is there");
    const settled = await counts();
    expect(await send(page, "Two?")).toEqual({ accepted: true });
    await page.locator("main[aria-busy=true]").waitFor();
    await page.locator("nav", { hasText: "talk running" }).waitFor();
    await until(() => isIdle(page, 2), "the second reply is there");
    const after = await counts();
    await page.locator("nav", { hasText: "talk idle" }).waitFor();

    expect(await page.locator("article.model").allTextContents()).toEqual([words, words]);
    const { talk: before = 0, ...parts } = settled;
    expect(Object.keys(parts)).toHaveLength(2); // a prompt and its reply
    expect(Object.fromEntries(Object.keys(parts).map((name) => [name, after[name]]))).toEqual(
      parts,
    );
    const renders = (after["talk"] ?? 0) / 2 - before / 2; // StrictMode renders twice
    expect(renders).toBeGreaterThan(10); // it is shown as it comes
    expect(complaints).toEqual([]);
    console.log(
      `count: renders of a component for ${Math.ceil(words.length / 4)} deltas, ${renders}; of settled parts, 0`,
    );
  },
);

it(
  "a boundary that waits in the middle of a reply shows all of it afterwards, on the same stream",
  { timeout: patience },
  async () => {
    await using server = await serve({ "/": await renderOnServer() });
    await using browser = await openBrowser();
    const page = await openWatched(await browser.newContext(), server.url);
    const streams: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/v1/events")) streams.push(request.url());
    });
    await send(page, "One?");
    await page.locator("article.model").waitFor();
    await until(async () => streams.length > 0, "the session is watched");
    const before = streams.length;
    await page.locator("button").click();
    await page.getByText("one moment").waitFor();
    await until(() => isIdle(page, 1), "the reply is there");

    await page.locator("button").waitFor({ state: "visible" });
    expect(await page.locator("article.model").allTextContents()).toEqual([words]);
    expect(streams).toHaveLength(before);
    expect(complaints).toEqual([]);
  },
);

it(
  "a page that a server rendered in one go is taken over without a complaint",
  { timeout: patience },
  async () => {
    const rendered = renderToString(createElement(PlainApp));
    expect(rendered).toContain('data-loading="true"');
    await using server = await serve({ "/plain": rendered });
    await using browser = await openBrowser();
    const context = await browser.newContext();
    const first = await openWatched(context, `${server.url}/plain`);
    await send(first, "One?");
    await until(() => isIdle(first, 1), "the reply is there");
    // What the server rendered is nothing yet, and the client has a session already.
    const second = await openWatched(context, `${server.url}/plain`);
    await until(() => isIdle(second, 1), "the second page shows it too");

    expect(await second.locator("article.model").allTextContents()).toEqual([words]);
    expect(complaints).toEqual([]);
  },
);
