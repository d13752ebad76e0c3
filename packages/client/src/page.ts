import type { ConnectionEvent } from "./connection/machine.ts";

/** What of a page's globals is listened to. */
export interface PageTarget {
  readonly addEventListener: (type: string, listener: (event: unknown) => void) => void;
  readonly removeEventListener: (type: string, listener: (event: unknown) => void) => void;
}

/** A page, as far as a connection depends on it. */
export interface Page {
  readonly window: PageTarget;
  readonly document: PageTarget & { readonly visibilityState: string };
  readonly onLine: () => boolean;
}

type Signal = Extract<ConnectionEvent["type"], "online" | "offline" | "freeze" | "thaw" | "shown">;

/** The page of this program, if it has one. Node, Bun, Deno and workers have none. */
export function currentPage(): Page | undefined {
  const { window, document, navigator } = globalThis as Partial<typeof globalThis>;
  if (window === undefined || document === undefined) return undefined;
  return { window, document, onLine: () => navigator?.onLine !== false };
}

/**
 * Passes on what a page goes through. The stream is closed in the back/forward cache and while frozen, so
 * that the page stays fit for them, and opened after. The result ends it.
 */
export function followPage(page: Page, pass: (signal: Signal) => void): () => void {
  const { window, document } = page;
  const rows: readonly (readonly [PageTarget, string, Signal])[] = [
    [window, "online", "online"],
    [window, "offline", "offline"],
    [window, "pagehide", "freeze"],
    [window, "pageshow", "thaw"],
    [document, "freeze", "freeze"],
    [document, "resume", "thaw"],
    [document, "visibilitychange", "shown"],
  ];
  const left = rows.map(([target, type, signal]) => {
    const listener = (): void => {
      if (signal !== "shown" || document.visibilityState === "visible") pass(signal);
    };
    target.addEventListener(type, listener);
    return () => target.removeEventListener(type, listener);
  });
  if (!page.onLine()) pass("offline");
  return () => {
    for (const leave of left) leave();
  };
}
