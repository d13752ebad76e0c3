import type { Browser, BrowserContext, Page } from "playwright-core";
import { textOfDirective } from "../../kit/deployment/directive.ts";
import { isRunOver } from "../../kit/deployment/is-run-over.ts";
import { isSealed } from "../../kit/deployment/paced-agent.ts";
import { until } from "../../kit/until.ts";
import type { Fleet } from "../../web/kit/fleet.ts";
import { beginSession, compare, recordedOf, untilAtRest } from "./chat-tab.ts";
import { recorder } from "./recorder.ts";

/** A browser of one user. */
export interface Profile {
  readonly context: BrowserContext;
  /** Errors that a page left to nobody. */
  readonly errors: readonly string[];
}

/** Browsers of so many users, whose tabs are recorded. They end with the browser. */
export async function openProfiles(
  browser: Browser,
  url: string,
  count: number,
  name = "person",
): Promise<readonly Profile[]> {
  return await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const user = `${name}-${at}`;
      const context = await browser.newContext();
      const errors: string[] = [];
      context.on("weberror", (error) => errors.push(error.error().message));
      await context.addCookies([{ name: "user", value: user, url, httpOnly: true }]);
      await context.addInitScript(recorder);
      await context.newPage();
      return { context, errors };
    }),
  );
}

/** The first tab of a profile, with a session that is not there yet. Its other tabs are closed. */
export async function firstTab({ context }: Profile, url: string, session: string): Promise<Page> {
  const [tab = await context.newPage(), ...others] = context.pages();
  await Promise.all(others.map((other) => other.close()));
  await beginSession(tab, url, session);
  return tab;
}

/** A prompt that is answered with so many characters, and about the time that this takes. */
export const promptOf = (key: string, length: number): string =>
  textOfDirective({ key, mode: "plain", length });

export interface Expected {
  readonly session: string;
  /** What was asked, each once, in this order. */
  readonly prompts: readonly { readonly key: string; readonly length: number }[];
  /** How many replies were begun again, at most. */
  readonly restarts: number;
}

/** Waits until all is answered and shown. Gives what is wrong with what the tab shows, and showed before. */
export async function faultsOfTab(
  fleet: Fleet,
  tab: Page,
  { session, prompts, restarts }: Expected,
): Promise<readonly string[]> {
  const isAnswered = async (): Promise<boolean> => {
    if ((await fleet.store.find(session)) === undefined) return false;
    const facts = await fleet.facts(session);
    const runs = facts.filter(({ type }) => type === "run_finished").length;
    return runs >= prompts.length && isRunOver(facts);
  };
  await until(isAnswered, `${session} is answered`, { everyMs: 100, limitMs: 60_000 });
  const facts = await fleet.facts(session);
  const items = facts.filter(
    (fact) => fact.type === "item_committed" && fact.item.parts.length > 0,
  ).length;
  await untilAtRest(tab, items);
  const [{ shown, stored }, recorded] = await Promise.all([compare(tab, facts), recordedOf(tab)]);
  const faults = [...recorded.faults];
  if (JSON.stringify(shown) !== JSON.stringify(stored))
    faults.push(`shows ${JSON.stringify(shown)} of ${JSON.stringify(stored)}`);
  if (recorded.restarts > restarts) faults.push(`${recorded.restarts} replies began again`);
  const questions = stored.filter((text) => text.startsWith("user: "));
  const asked = prompts.map(({ key, length }) => `user: ${promptOf(key, length)}`);
  if (questions.join("|") !== asked.join("|")) faults.push(`stored ${questions.join("|")}`);
  for (const { key } of prompts) {
    const own = stored.filter((text) => text.startsWith(`model: answer to ${key},`));
    if (own.length !== 1 || !isSealed(own[0]?.slice("model: ".length) ?? ""))
      faults.push(`${own.length} replies to ${key}`);
  }
  return faults.map((fault) => `${session}: ${fault}`);
}
