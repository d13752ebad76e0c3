// A message that can't be shown, by its own text or by a fault of the page, takes nothing else with it.
import { defineAgent } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { say as reply, scriptedModel } from "@millrace/core/testing";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openBrowser } from "../browser/kit/browser.ts";
import { patience } from "../kit/patience.ts";
import { buildPage, openTab, say, startApp, untilIdle } from "./kit/app.ts";
import type { ServedChat } from "../../apps/chat/src/server/serve.ts";

/** An agent that answers with what it was sent. */
function echo(): Agent {
  const stream: Model["stream"] = (request) =>
    scriptedModel([
      ({ transcript }) => {
        const [part] = transcript.findLast(({ author }) => author === "user")?.parts ?? [];
        return [reply(part?.kind === "text" ? part.text : "")];
      },
    ]).stream(request);
  return defineAgent({ name: "echo", model: { id: "echo", stream } });
}

const opened = new AsyncDisposableStack();
let app: ServedChat;
let browser: Browser;

beforeAll(async () => {
  app = opened.use(await startApp(opened.use(await buildPage()), { agent: echo() }));
  browser = opened.use(await openBrowser());
}, patience);

afterAll(() => opened.disposeAsync());

it.each(["<mailto:%ff>", "[x](mailto:%E0%A4)", "[x](mailto:%)", "see <mailto:%c3%28> and go on"])(
  "a reply of %s is shown, now and after a reload",
  { timeout: patience },
  async (text) => {
    const context = await browser.newContext();
    const faults: string[] = [];
    context.on("weberror", (error) => faults.push(error.error().message));
    const tab = await openTab(context, app);
    await say(tab, text);
    await untilIdle(tab);
    const shown = tab.locator("article.model .md");
    expect(await shown.innerText()).toContain("%");
    await tab.reload();
    await shown.waitFor();
    expect(faults).toEqual([]);
    await context.close();
  },
);

it(
  "a message that the page fails to show is there as plain text, beside all others, and the session goes on",
  { timeout: patience },
  async () => {
    const context = await browser.newContext();
    // A fault of the page in what shows links, for one address alone.
    await context.addInitScript(`{
      const { canParse } = URL;
      URL.canParse = (text, base) => {
        if (String(text).includes("fault.example")) throw new Error("planted");
        return canParse.call(URL, text, base);
      };
    }`);
    const tab = await openTab(context, app);
    await say(tab, "first");
    await untilIdle(tab);
    await say(tab, "**look** at https://fault.example/ please");
    const plain = tab.locator("article.model p", { hasText: "**look** at https://fault.example/" });
    await plain.waitFor();
    await untilIdle(tab);
    await say(tab, "third");
    await tab.locator("article.model", { hasText: "third" }).waitFor();
    const replies = tab.locator("article.model");
    expect(await replies.count()).toBe(3);
    expect(await replies.nth(1).getByText("can't be shown as it should be").count()).toBe(1);
    await tab.reload();
    await plain.waitFor();
    expect(await replies.count()).toBe(3);
    await context.close();
  },
);
