import { defineAgent } from "@millrace/agent";
import { call, say } from "@millrace/core/testing";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser, openPage } from "../browser/kit/browser.ts";
import { createHolds } from "../kit/holds.ts";
import { until } from "../kit/until.ts";
import type { PageWindow } from "./browser/chat-page.ts";
import { openSite } from "./browser/site.ts";
import type { Site } from "./browser/site.ts";
import { byPrompt } from "./kit/by-prompt.ts";
import type { Scripts } from "./kit/by-prompt.ts";
import { apiOf, stored, versions } from "./kit/chat.ts";
import type { HeldMessage, Version } from "./kit/chat.ts";
import { pay, place } from "./kit/tools.ts";

const words = Array.from({ length: 60 }, (_, at) => `word${at} `);
const scripts: Scripts = {
  tell: [[say(words.join(""))]],
  short: [[say("One "), say("two "), say("three.")]],
  pay: [[call("pay", { cents: 9 })], [say("So it is.")]],
  place: [[call("place", {})], [say("You are in Oslo.")]],
};

const holds = createHolds();
let browser: Browser;
let site: Site;
let sessions = 0;

beforeAll(async () => {
  browser = await openBrowser();
  const entries = versions.map((version) => [
    `/v${version}`,
    new URL(`browser/entry-${version}.ts`, import.meta.url),
  ]);
  site = await openSite(
    defineAgent({ model: holds.holdable(byPrompt(scripts)), tools: [pay, place] }),
    Object.fromEntries(entries) as Readonly<Record<string, URL>>,
  );
}, 120_000);
afterAll(async () => {
  await browser.close();
  await site[Symbol.asyncDispose]();
});

interface Shown extends Omit<PageWindow["shown"], "messages"> {
  readonly messages: readonly HeldMessage[];
}

/** A tab with a chat that is not there yet. */
class Tab {
  readonly #page: Page;
  readonly #version: Version;
  readonly id: string;

  constructor(page: Page, version: Version, id: string) {
    this.#page = page;
    this.#version = version;
    this.id = id;
  }

  static async open(version: Version): Promise<Tab> {
    const id = `chat-${(sessions += 1)}`;
    const page = await openPage(browser, { url: `${site.url}/v${version}#${id}` });
    const tab = new Tab(page, version, id);
    await tab.untilLoaded();
    return tab;
  }

  async shown(): Promise<Shown | undefined> {
    return await this.#page.evaluate<Shown | undefined>("globalThis.shown").catch(() => undefined);
  }

  async until(is: (shown: Shown) => boolean, what: string): Promise<Shown> {
    let last: Shown | undefined;
    const isSo = async (): Promise<boolean> => {
      last = await this.shown();
      return last !== undefined && is(last);
    };
    await until(isSo, `${what} of version ${this.#version}`, { everyMs: 20, limitMs: 20_000 });
    return last as Shown;
  }

  act(code: string): Promise<void> {
    return this.#page.evaluate(`void (${code})`);
  }

  async send(text: string): Promise<void> {
    await this.act(`chat.sendMessage({ text: ${JSON.stringify(text)} })`);
  }

  async reload(): Promise<void> {
    await this.#page.reload();
    await this.untilLoaded();
  }

  /** The page has its messages, and has asked whether one is being written: the answer changes its status. */
  async untilLoaded(): Promise<void> {
    const asked = `performance.getEntriesByType("resource").some(({ name }) => name.endsWith("/stream"))`;
    const isAsked = async (): Promise<boolean> =>
      await this.#page.evaluate<boolean>(`globalThis.shown?.status === "streaming" || ${asked}`);
    await until(isAsked, "the page has asked", { everyMs: 10, limitMs: 20_000 });
  }

  /** The page at rest holds what the history has. */
  async isAtRest(): Promise<readonly HeldMessage[]> {
    const { messages } = await this.until(
      ({ status, messages: held }) => status === "ready" && textOf(held).endsWith("."),
      "the end",
    );
    expect(stored(messages)).toEqual(await this.history());
    return messages;
  }

  async history(): Promise<unknown> {
    const answer = await fetch(
      `${site.url}/agent${new URL(apiOf[this.#version]).pathname}/${this.id}`,
    );
    return ((await answer.json()) as { readonly messages: unknown }).messages;
  }

  async close(): Promise<void> {
    await this.#page.context().close();
  }
}

/** The text of a message's parts. */
function textsOf(message: HeldMessage | undefined): readonly string[] {
  return (message?.parts ?? []).map(({ text }) => (typeof text === "string" ? text : ""));
}

/** The last part of the last message, if it is text. */
function textOf(messages: readonly HeldMessage[]): string {
  return textsOf(messages.at(-1)).at(-1)?.trimEnd() ?? "";
}

describe.each(versions)("useChat of AI SDK %i in Chromium", (version) => {
  test("a refresh in mid-word shows the words again, and they go on; Stop stops them", async () => {
    const tab = await Tab.open(version);
    const goOn = holds.holdAt("word1"); // in mid-word
    holds.holdAt("word40"); // the stop ends it
    await tab.send("tell");
    await tab.until(({ messages }) => textOf(messages).includes("word0"), "some words");
    await tab.reload();
    await tab.until(({ messages }) => textOf(messages).includes("word0"), "the words again");
    goOn();
    const { messages } = await tab.until(
      (shown) => textOf(shown.messages).includes("word39"),
      "more words",
    );
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    await tab.act("chat.stop()");
    await tab.act(`fetch("/agent/v1/sessions/${tab.id}/abort", { method: "POST" })`);
    const isStopped = async (): Promise<boolean> =>
      JSON.stringify(await tab.history()).includes('"outcome":"aborted"');
    await until(isStopped, "the stop");
    await tab.reload();
    const after = await tab.until((shown) => shown.messages.length === 2, "the history");
    expect(stored(after.messages)).toEqual(await tab.history());
    const said = textsOf(after.messages.at(-1)).join("");
    expect(words.join("").startsWith(said)).toBe(true);
    expect(said).toContain("word39");
    await tab.close();
  });

  test("a tool of the page is answered by it, and the same message goes on", async () => {
    const tab = await Tab.open(version);
    await tab.send("place");
    const [, message] = await tab.isAtRest();
    expect(message?.parts[1]).toMatchObject({
      state: "output-available",
      output: { city: "Oslo" },
    });
    await tab.close();
  });

  test("a stream that is cut at any event is made whole by coming back", async () => {
    let cuts = 0;
    const tab = await Tab.open(version);
    for (let events = 1; events <= 12; events += 1) {
      // All of its text may be there while the page was not told the end, which stands in the metadata.
      const isWhole = ({ status, messages }: Shown): boolean =>
        status === "ready" &&
        messages.length === 2 * events &&
        messages.at(-1)?.metadata !== undefined;
      site.cutAfter(events);
      await tab.send("short");
      const { status } = await tab.until(
        (shown) => shown.status === "error" || isWhole(shown),
        "a cut or the end",
      );
      if (status === "error") {
        cuts += 1;
        // Pages of 5, and of early 6, add a replay to what they hold, so they load anew.
        if (version < 7) await tab.reload();
        else await tab.act("chat.resumeStream()");
        const isBack = async (): Promise<boolean> => {
          const shown = await tab.shown();
          if (shown !== undefined && isWhole(shown)) return true;
          // The run may have ended before the page came back: then its messages are in the history.
          if (shown?.status === "ready") await tab.reload();
          return false;
        };
        await until(isBack, "the way back", { everyMs: 50, limitMs: 20_000 });
      }
      await tab.isAtRest();
    }
    await tab.close();
    console.log(`count: AI SDK ${version} in Chromium, cut at ${cuts} events, 0 differences`);
    expect(cuts).toBe(12); // the shortest stream has thirteen events
  });
});

test.each([6, 7] as const)("a question is answered in a page of AI SDK %i", async (version) => {
  const tab = await Tab.open(version);
  await tab.send("pay");
  const { messages } = await tab.until(
    (shown) => shown.status === "ready" && JSON.stringify(shown).includes("approval-requested"),
    "the question",
  );
  expect(stored(messages)).toEqual(await tab.history());
  const asked = messages.at(-1)?.parts[1]?.["approval"] as { readonly id: string } | undefined;
  await tab.act(`chat.addToolApprovalResponse({ id: "${asked?.id}", approved: true })`);
  const done = await tab.until(({ messages: held }) => textOf(held) === "So it is.", "the reply");
  expect(done.messages.at(-1)?.parts[1]).toMatchObject({
    state: "output-available",
    output: "paid 9",
  });
  await tab.close();
});
