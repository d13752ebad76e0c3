// The reference app on Redis, PostgreSQL and Temporal: the worker that drives a reply is killed in the middle of it.
import { expect, it } from "vitest";
import { ideas } from "../../apps/chat/src/shared.ts";
import { startPostgres } from "../../scripts/services/postgres.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import { startTemporal } from "../../scripts/services/temporal.ts";
import { buildPage, say, untilIdle } from "../app/kit/app.ts";
import { startProcess } from "../app/kit/processes.ts";
import { openBrowser } from "../browser/kit/browser.ts";
import { until } from "../kit/until.ts";

it("with Temporal a worker that is killed in mid-reply is replaced by another one, and the page goes on by itself", async () => {
  await using postgres = await startPostgres();
  await using redis = await startRedis();
  await using temporal = await startTemporal();
  using page = await buildPage();
  const env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    TEMPORAL_ADDRESS: temporal.url,
    CHAT_PAGE: page.path,
    PORT: "0",
    WORKER: "0",
  };
  await using server = await startProcess("main", env);
  expect(server.lines).toContain("with PostgreSQL, Redis, Temporal");
  await using first = await startProcess("worker", { ...env, WORKER: "1" });
  await using browser = await openBrowser();
  const tab = await browser.newPage();
  await tab.goto(server.url);
  await tab.locator(".hello").waitFor();
  await say(tab, ideas.explain.prompt);
  const shown = async (): Promise<number> =>
    (await tab.locator(".md").allTextContents()).join("").length;
  await until(async () => (await shown()) > 200, "it talks");

  await first.kill();
  await using _second = await startProcess("worker", { ...env, WORKER: "1" });
  await tab.getByText("press ? for the keys").waitFor({ timeout: 120_000 });
  await untilIdle(tab);

  expect(await tab.locator(".md h1").allTextContents()).toEqual(["How text reaches this page"]);
  expect(await tab.locator('[data-part="connection"]').textContent()).toBe("");
});
