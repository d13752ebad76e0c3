import type { BrowserContext } from "playwright-core";

/**
 * Notes all that goes out of the pages of a context and all that runs in them, and gives what was noted so far.
 * `own`: the scheme by which a page reads bytes of its own.
 */
export async function watchActs(
  context: BrowserContext,
  url: string,
  own: "blob:" | "data:",
): Promise<() => Promise<readonly string[]>> {
  const seen: string[] = [];
  context.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== own && origin !== url) seen.push(`request ${request.url()}`);
  });
  context.on("dialog", (dialog) => {
    seen.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("weberror", (error) => seen.push(`error ${error.error().message}`));
  context.on("page", (page) => {
    page.on("popup", () => seen.push("popup"));
    page.on("framenavigated", (frame) => {
      if (new URL(frame.url()).origin !== url) seen.push(`navigated ${frame.url()}`);
    });
  });
  await context.addInitScript(`globalThis.tripped = [];
    globalThis.tripwire = () => tripped.push("script");
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => tripped.push(violatedDirective + " " + blockedURI));`);
  return async () => {
    const tripped = context.pages().map((page) => page.evaluate<string[]>("tripped"));
    return [...seen, ...(await Promise.all(tripped)).flat()];
  };
}
