import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { findChromium, missing } from "../../../scripts/services/programs.ts";

/**
 * Starts a Chromium without a window. All names are this machine: a page of `app.example` or
 * `evil.example` is served by whatever listens on its port here, and nothing else is reached. End it
 * with `await using`. The back/forward cache is off, as it is for drivers of browsers, unless it is asked for.
 */
export async function openBrowser(
  options: { readonly backForwardCache?: boolean } = {},
): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw missing("Chromium");
  return await chromium.launch({
    executablePath,
    // Its own sandbox does not work for root, as whom tests run in containers.
    chromiumSandbox: process.getuid?.() !== 0,
    ...(options.backForwardCache === true && {
      ignoreDefaultArgs: ["--disable-back-forward-cache"],
    }),
    args: ["--host-resolver-rules=MAP * 127.0.0.1"],
  });
}

/**
 * Opens a page in a profile of its own, as another person's browser is: cookies and storage are shared with
 * no other page. With a user it has the cookie by which a server of these tests knows them.
 */
export async function openPage(
  browser: Browser,
  options: { readonly url: string; readonly user?: string | undefined },
): Promise<Page> {
  const context = await browser.newContext();
  const { url, user } = options;
  const { origin } = new URL(url);
  if (user !== undefined)
    await context.addCookies([{ name: "user", value: user, url: origin, httpOnly: true }]);
  const page = await context.newPage();
  await page.goto(url);
  return page;
}
