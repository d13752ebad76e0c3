/**
 * From a vendor's byte to the program of a page, and to its screen: ours beside `useChat` on its own server,
 * in one run. Vendor and both servers are processes of their own; both pages are in one Chromium and get
 * their replies at the same time, by turns.
 *
 *     npm run latency:browser
 *     npm run latency:browser -- --seconds 60 --at-most 1.5
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { openBrowser, openPage } from "../../tests/browser/kit/browser.ts";
import { retryWhenNoisy } from "../../tests/kit/retry-when-noisy.ts";
import { until } from "../../tests/kit/until.ts";
import type { Noted } from "./probe.ts";
import { nowMs, Vendor } from "./vendor.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "30" },
    /** The first deltas run code that is not compiled yet. */
    "warm-up": { type: "string", default: "3" },
    /** Fails if a median of ours is more than so many times theirs, or a 99th percentile twice that. Left out: never. */
    "at-most": { type: "string" },
  },
});
const perSecond = 50;
const names = ["millrace", "use-chat"] as const;

/** Milliseconds from a vendor's byte. */
interface Delays {
  readonly p50: number;
  readonly p99: number;
}

/** What one page had: when its program was told, and when the frame was finished. */
interface Figures {
  readonly called: Delays;
  readonly shown: Delays;
}

type Run = Readonly<Record<(typeof names)[number], Figures>>;

async function startServer(name: string, vendor: string): Promise<Server> {
  const program = fileURLToPath(new URL("server.ts", import.meta.url));
  const flags = ["--conditions=@millrace/source", "--no-warnings"];
  const child = spawn(process.execPath, [...flags, program, name, vendor], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}

interface Server extends AsyncDisposable {
  readonly url: string;
}

/** What is added to a page's time to have ours: by the question that was answered fastest. */
async function offsetOf(page: Page): Promise<{ readonly ms: number; readonly within: number }> {
  let best = { ms: 0, within: Infinity };
  for (let count = 0; count < 100; count += 1) {
    const before = nowMs();
    const there = await page.evaluate<number>("nowMs()");
    const within = (nowMs() - before) / 2;
    if (within < best.within) best = { ms: before + within - there, within };
  }
  return best;
}

function delaysOf(written: readonly number[], noted: readonly number[], offset: number): Delays {
  const first = Number(values["warm-up"]) * perSecond;
  if (noted.length !== written.length)
    throw new Error(`${noted.length} of ${written.length} deltas came to the page`);
  const delays = noted
    .map((time, at) => time + offset - (written[at] ?? NaN))
    .slice(first)
    .toSorted((left, right) => left - right);
  const part = (share: number): number => delays[Math.floor((delays.length - 1) * share)] ?? NaN;
  return { p50: part(0.5), p99: part(0.99) };
}

async function measure(): Promise<Run> {
  const vendor = new Vendor();
  await using open = new AsyncDisposableStack();
  open.defer(() => vendor.close());
  const address = await vendor.listen();
  const browser = open.use(await openBrowser());
  const pages: Page[] = [];
  for (const name of names) {
    const { url } = open.use(await startServer(name, address));
    pages.push(await openPage(browser, { url }));
  }
  for (const page of pages) await page.evaluate("start()");
  await until(() => vendor.isAsked(names.length), "both servers ask the vendor");
  await sleep(500);
  const deltas = (Number(values.seconds) + Number(values["warm-up"])) * perSecond;
  await vendor.write(deltas);
  for (const page of pages) {
    const isShown = async (): Promise<boolean> =>
      (await page.evaluate<number>("noted().shown.length")) === deltas;
    await until(isShown, "the page shows all", { everyMs: 200 });
  }
  const figures: [string, Figures][] = [];
  for (const [at, page] of pages.entries()) {
    const name = names[at] ?? "";
    const { called, shown } = await page.evaluate<Noted>("noted()");
    const { ms, within } = await offsetOf(page);
    const written = vendor.writtenAt(name);
    const of = (noted: readonly number[]): Delays => delaysOf(written, noted, ms);
    figures.push([name, { called: of(called), shown: of(shown) }]);
    console.log(`${name}: the clock of its page is known to ${within.toFixed(2)} ms`);
  }
  return Object.fromEntries(figures) as Run; // it has both names
}

/** Our figures as ratios to theirs. */
function ratiosOf(run: Run): readonly number[] {
  const all = names.map((name) => {
    const { called, shown } = run[name];
    return [called.p50, called.p99, shown.p50, shown.p99];
  });
  return (all[0] ?? []).map((ms, at) => ms / (all[1]?.[at] ?? NaN));
}

/** Of a few hundred deltas the 99th percentile is one pause of the machine. */
function isWithin(each: Run): boolean {
  const most = Number(values["at-most"] ?? Infinity);
  return ratiosOf(each).every((ratio, at) => ratio <= (at % 2 === 0 ? most : 2 * most));
}

const run = await retryWhenNoisy(measure, isWithin);
console.log("\n| from the vendor's byte, ms | callback p50 | p99 | shown p50 | p99 |");
console.log("| --- | --- | --- | --- | --- |");
for (const name of names) {
  const { called, shown } = run[name];
  const cells = [called.p50, called.p99, shown.p50, shown.p99].map((ms) => ms.toFixed(1));
  console.log(`| ${name} | ${cells.join(" | ")} |`);
}
const ratios = ratiosOf(run).map((ratio) => ratio.toFixed(2));
console.log(`| ratio | ${ratios.join(" | ")} |`);
process.exitCode = isWithin(run) ? 0 : 1;
