import { setTimeout as sleep } from "node:timers/promises";

/** Waits until a condition holds. Throws after the time limit. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  what: string,
  { limitMs = 60_000, everyMs = 10 }: { readonly limitMs?: number; readonly everyMs?: number } = {},
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(everyMs);
  }
}
