// The reference app in this process: its page as it is built for people, its server on a free port.
import "./demo-pace.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "@millrace/agent";
import type { BrowserContext, Page } from "playwright-core";
import { build } from "vite";
import { demoAgent, subAgents } from "../../../apps/chat/src/demo/agent.ts";
import { serveChat } from "../../../apps/chat/src/server/serve.ts";
import type { ServedChat, ServeOptions } from "../../../apps/chat/src/server/serve.ts";

const root = new URL("../../../apps/chat/", import.meta.url).pathname;

/** A built page, in a folder of its own. */
export interface BuiltPage extends Disposable {
  readonly path: string;
}

/** Builds the page as `npm start -w apps/chat` does. */
export async function buildPage(): Promise<BuiltPage> {
  const path = mkdtempSync(join(tmpdir(), "millrace-chat-"));
  // As for people: the runner's own environment would bring React's checks along.
  const { NODE_ENV } = process.env;
  process.env["NODE_ENV"] = "production";
  const out = { outDir: path, emptyOutDir: true };
  await build({ root, configFile: join(root, "vite.config.ts"), logLevel: "error", build: out });
  process.env["NODE_ENV"] = NODE_ENV;
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const wide = {
  requestsPerUser: 1e6,
  inputsPerUser: 1e6,
  inputsPerSession: 1e6,
  creationsPerUser: 1e6,
  notFoundPerUser: 1e6,
};

/** Starts the app with an agent; without one, with the demo. Limits are wide: tests are faster than people. */
export async function startApp(
  page: BuiltPage,
  options: { readonly agent?: Agent; readonly services?: ServeOptions["services"] } = {},
): Promise<ServedChat> {
  return await serveChat({
    agent: () => options.agent ?? demoAgent,
    config: { models: [{ id: "demo", name: "demo script", window: 200_000 }], subAgents },
    page: page.path,
    port: 0,
    services: { limits: wide, ...options.services },
  });
}

/** Opens the app in a tab, at a session; without one, at a new one. Waits until it can be written in. */
export async function openTab(
  context: BrowserContext,
  { url }: ServedChat,
  session?: string,
): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(session === undefined ? url : `${url}/#${session}`);
  await tab.getByLabel("Message", { exact: true }).waitFor();
  if (session === undefined) await tab.locator(".hello").waitFor();
  return tab;
}

/** Types a message and presses a key: Enter, unless another one is named. */
export async function say(tab: Page, text: string, key = "Enter"): Promise<void> {
  await tab.getByLabel("Message", { exact: true }).fill(text);
  await tab.keyboard.press(key);
}

/** Waits until nothing runs. */
export async function untilIdle(tab: Page): Promise<void> {
  await tab.locator("main[data-status=idle] .send").waitFor();
}

/** Opens a new session in the same tab. */
export async function newSession(tab: Page): Promise<void> {
  await tab.keyboard.press("Control+Shift+O");
  await tab.locator(".hello").waitFor();
}

/** The id of the session that a tab shows. */
export function sessionOf(tab: Page): string {
  return decodeURIComponent(new URL(tab.url()).hash.slice(1));
}
