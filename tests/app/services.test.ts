// The reference app as people start it, with Redis and PostgreSQL: its server is killed in mid-reply and started anew.
import { expect, it } from "vitest";
import { ideas } from "../../apps/chat/src/shared.ts";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import { openBrowser } from "../browser/kit/browser.ts";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";
import { buildPage, say, untilIdle } from "./kit/app.ts";
import { startProcess } from "./kit/processes.ts";

it(
  "with Redis and PostgreSQL a server that is killed in mid-reply loses nothing: the page waits, and the reply is completed",
  { timeout: 2 * patience }, // the next server waits until the first one is surely gone
  async () => {
    await using postgres = await sharedPostgres();
    const { url: redis } = await sharedRedis();
    using page = await buildPage();
    const env = { DATABASE_URL: postgres.url, REDIS_URL: redis, CHAT_PAGE: page.path };
    await using first = await startProcess("main", { ...env, PORT: "0" });
    expect(first.lines).toContain("with PostgreSQL, Redis");
    await using browser = await openBrowser();
    const tab = await browser.newPage();
    await tab.goto(first.url);
    await tab.locator(".hello").waitFor();
    await say(tab, ideas.explain.prompt);
    await until(
      async () => (await tab.locator(".md").allTextContents()).join("").length > 200,
      "it talks",
    );

    await first.kill();
    await tab.locator('[data-part="connection"] button').waitFor();
    await using second = await startProcess("main", { ...env, PORT: new URL(first.url).port });
    expect(second.url).toBe(first.url);
    await tab.getByText("press ? for the keys").waitFor({ timeout: patience });
    await untilIdle(tab);

    expect(await tab.locator(".md h1").allTextContents()).toEqual(["How text reaches this page"]);
    expect(await tab.locator("nav .session bdi").allTextContents()).toEqual([ideas.explain.prompt]);
  },
);
