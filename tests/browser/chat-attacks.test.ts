// What a page of another origin can do to somebody who has `examples/chat`, or the reference app, open in the same
// browser.
import { createMillrace } from "@millrace/server";
import { defineAgent } from "@millrace/agent";
import { scriptedModel } from "@millrace/core/testing";
import type { BrowserContext, Page } from "playwright-core";
import { expect, it } from "vitest";
import { patience } from "../kit/patience.ts";
import { openAttackSite } from "./kit/attack-page.ts";
import type { Attacked, Target } from "./kit/attack-page.ts";
import { openBrowser } from "./kit/browser.ts";
import { say } from "./kit/chat-tab.ts";
import { startChat } from "./kit/start-chat.ts";
import { buildPage, startApp } from "../app/kit/app.ts";
import { createHeldDemo } from "../app/kit/held-demo.ts";

const secret = "the-word-that-nobody-else-may-read";

/** All routes of the example, for a session of its user, and bodies that they would take. */
async function targetsOf(url: string, session: string): Promise<readonly Target[]> {
  await using any = createMillrace({
    agent: defineAgent({ name: "any", model: scriptedModel([]) }),
    authenticate: () => undefined,
  });
  const body = JSON.stringify({
    id: "made-by-the-attacker",
    kind: "prompt",
    text: "obey the attacker",
    title: "changed",
    decision: "allow",
    sessions: [{ id: session }],
  });
  return any.routes.map(({ method, path }) => ({
    method,
    url: `${url}/agent${path.replace("{id}", session).replaceAll(/\{\w+\}/g, "x")}`,
    body,
  }));
}

/** All that the user has, by their own cookie. */
async function read(tab: Page, session: string): Promise<string> {
  return await tab.evaluate<string>(`Promise.all(
    ["/agent/v1/sessions", "/agent/v1/sessions/${session}/export?format=jsonl"].map(async (path) =>
      (await fetch(path)).text()),
  ).then((texts) => texts.join(""))`);
}

/** Opens the page of an attacker in the browser of the user, and lets it try everything. */
async function attackFrom(
  context: BrowserContext,
  address: string,
  targets: readonly Target[],
): Promise<readonly Attacked[]> {
  const page = await context.newPage();
  await page.goto(address);
  const results = await page.evaluate<readonly Attacked[]>(
    `window.attackAll(${JSON.stringify(targets)})`,
  );
  await page.close();
  return results;
}

/** The reference app, with its page. Its first reply lasts until it is stopped. */
async function startReference(): Promise<AsyncDisposable & { readonly url: string }> {
  await using opened = new AsyncDisposableStack();
  const { agent, holds } = createHeldDemo();
  holds.holdAt("You wrote");
  const { url } = opened.use(await startApp(opened.use(await buildPage()), { agent }));
  const rest = opened.move();
  return { url, [Symbol.asyncDispose]: () => rest.disposeAsync() };
}

const chats = [
  { name: "the example", start: startChat },
  { name: "the reference app", start: startReference },
] as const;

it.each(chats)(
  "a page of another site, of another port, without an origin or by another name neither reads nor changes anything of $name",
  { timeout: patience },
  async ({ name, start }) => {
    await using chat = await start();
    await using browser = await openBrowser();
    await using site = await openAttackSite();
    const context = await browser.newContext();
    const tab = await context.newPage();
    await tab.goto(chat.url);
    await tab.locator(".hello").waitFor();
    const session = new URL(tab.url()).hash.slice(1);
    await say(tab, secret);
    await tab.locator("article.model").waitFor();
    await tab.keyboard.press("Escape");
    await tab.locator(".note").waitFor();
    await tab.locator("h1", { hasText: secret }).waitFor();
    const before = await read(tab, session);
    expect(before).toContain(secret);

    const { port } = new URL(chat.url);
    const own = await targetsOf(chat.url, session);
    const places = {
      "another site": [`http://evil.example:${site.port}/`, own],
      "another port": [`http://127.0.0.1:${site.port}/`, own],
      "no origin": [`http://evil.example:${site.port}/sandboxed`, own],
    } as const;
    let attacks = 0;
    for (const [place, [address, targets]] of Object.entries(places)) {
      const results = await attackFrom(context, address, targets);
      expect(
        results.filter(({ read: text }) => text !== undefined),
        place,
      ).toEqual([]);
      attacks += results.length;
    }
    // A name that is pointed here: whatever a page of that name asks for is refused, cookie or not.
    const pointed = await context.newPage();
    const named = `http://evil.example:${port}`;
    const answer = await pointed.goto(`${named}/`);
    expect([403, 421]).toContain(answer?.status());
    const rebound = await targetsOf(named, session);
    const statuses = await pointed.evaluate<readonly number[]>(`Promise.all(
      ${JSON.stringify(rebound)}.map(async ({ method, url, body }) => {
        const headers = { "content-type": "application/json", "idempotency-key": "attack-0123456789ab" };
        const answer = await fetch(url, { method, headers, ...(method !== "GET" && { body }) });
        return answer.status;
      }),
    )`);
    expect(statuses).toEqual(rebound.map(() => 421));
    attacks += rebound.length;
    expect(await read(tab, session)).toBe(before);
    // Nor can it be framed, so that a click is stolen.
    const frame = await context.newPage();
    await frame.goto(`http://evil.example:${site.port}/`);
    await frame.evaluate(`document.body.innerHTML = '<iframe src="${chat.url}"></iframe>'`);
    await frame.waitForTimeout(500);
    expect(
      await frame
        .frames()[1]
        ?.locator("main")
        .count()
        .catch(() => 0),
    ).toBe(0);
    console.log(`count: attacks of other pages on ${name}, ${attacks}, 0 read, 0 changed`);
  },
);
