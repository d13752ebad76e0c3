import { defineAgent } from "@millrace/agent";
import { createClient, memoryOutbox } from "@millrace/client";
import type { Client, ClientOptions, OutboxPost } from "@millrace/client";
import { say, scriptedModel } from "@millrace/core/testing";
import { afterEach, expect, it, vi } from "vitest";
import { until } from "../kit/until.ts";
import { lossyNetwork } from "./kit/lossy.ts";
import { serve } from "./kit/served.ts";
import { textOf } from "./kit/text-of.ts";

const agent = (): ReturnType<typeof defineAgent> =>
  defineAgent({ model: scriptedModel(Array.from({ length: 9 }, () => [say("Yes.")])) });

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** What is loaded from an outbox once it has so many posts. */
async function kept(outbox: ReturnType<typeof memoryOutbox>, count: number): Promise<OutboxPost[]> {
  await until(async () => (await outbox.load()).length === count, `${count} are kept`);
  return [...(await outbox.load())];
}

/** A page that is opened without a network, in which a person sends something. */
async function offlinePage(
  options: Omit<ClientOptions, "fetch">,
  outbox: ReturnType<typeof memoryOutbox>,
): Promise<Client> {
  const network = lossyNetwork();
  network.isAway = true;
  const page = createClient({ ...options, outbox, fetch: network.fetch });
  void page.session("cold").send("First");
  void page.session("cold").send("Second");
  await kept(outbox, 2);
  return page;
}

/** What a user has of the session on the server. */
async function shownTo(url: string, token: string): Promise<string> {
  using client = createClient({ url, token, outbox: memoryOutbox() });
  const session = client.session("cold");
  session.subscribe(() => undefined);
  await until(() => !session.loading, "it is shown");
  await until(() => session.status === "idle" && session.queue.length === 0, "it rests");
  return textOf(session);
}

it("what a page sends before the server has ever answered is sent by the next page with the same token, in order and once", async () => {
  await using served = await serve(agent());
  const outbox = memoryOutbox();
  const options = { url: served.url, token: "ann" };
  const page = await offlinePage(options, outbox);
  page.close(); // the page is gone
  expect(JSON.stringify(await outbox.load())).not.toContain("ann");

  using next = createClient({ ...options, outbox });
  await next.sessions();
  await kept(outbox, 0);
  expect(await shownTo(served.url, "ann")).toBe("First|Yes.|Second|Yes.");
});

it("what was sent with another token, or to another server, is never sent, and stays for its user", async () => {
  await using served = await serve(agent());
  await using elsewhere = await serve(agent());
  const outbox = memoryOutbox();
  const page = await offlinePage({ url: served.url, token: "ann" }, outbox);
  page.close();

  using eve = createClient({ url: served.url, token: "eve", outbox });
  using other = createClient({ url: elsewhere.url, token: "ann", outbox });
  await Promise.all([eve.sessions(), other.sessions()]);
  await new Promise((resolve) => void setTimeout(resolve, 100));
  expect(await outbox.load()).toHaveLength(2);
  for (const { requests } of [served, elsewhere])
    expect(requests.filter((line) => line.startsWith("POST"))).toEqual([]);

  using ann = createClient({ url: served.url, token: () => "ann", outbox });
  await ann.sessions();
  await kept(outbox, 0);
});

/** The globals of a page that is loaded in a tab: `reload` or `navigate`. */
function loadPage(tab: Map<string, string>, type: string): void {
  vi.stubGlobal("document", { visibilityState: "visible" });
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => tab.get(name) ?? null,
    setItem: (name: string, value: string) => void tab.set(name, value),
    removeItem: (name: string) => void tab.delete(name),
  });
  vi.spyOn(performance, "getEntriesByType").mockReturnValue([{ type } as never]);
}

/** What a browser does that sends a cookie with each request. */
const signedIn =
  (user: string): typeof fetch =>
  (input, init) => {
    const headers = { ...(init?.headers as object), authorization: `Bearer ${user}` };
    return fetch(input, { ...init, headers });
  };

it("with a cookie alone it is sent after a reload of the page, and by no other page, tab or client after a sign-out", async () => {
  await using served = await serve(agent());
  const { url } = served;
  const outbox = memoryOutbox();
  const tab = new Map<string, string>();
  loadPage(tab, "navigate");
  const pages = [await offlinePage({ url, shareTabs: false }, outbox)];

  /** Opens a page online, and returns how much is still kept. It is not closed: a browser closes none. */
  const open = async (user: string): Promise<number> => {
    const page = createClient({ url, outbox, shareTabs: false, fetch: signedIn(user) });
    pages.push(page);
    await page.sessions();
    await new Promise((resolve) => void setTimeout(resolve, 100));
    return (await outbox.load()).length;
  };
  loadPage(new Map(), "reload"); // another tab
  expect(await open("eve")).toBe(2);
  const before = new Map(tab);
  loadPage(tab, "navigate"); // a sign-in led here
  expect(await open("eve")).toBe(2);
  loadPage(tab, "reload");
  expect(await open("eve")).toBe(2);

  loadPage(before, "reload");
  const signedOut = createClient({ url, outbox, shareTabs: false, fetch: signedIn("ann") });
  signedOut.close(); // before it was answered
  expect(await open("eve")).toBe(2);
  for (const page of pages) page.close();
});

it("with a cookie alone the reloaded page of the same person sends it once", async () => {
  await using served = await serve(agent());
  const { url } = served;
  const outbox = memoryOutbox();
  const tab = new Map<string, string>();
  loadPage(tab, "navigate");
  const crashed = await offlinePage({ url, shareTabs: false }, outbox);
  loadPage(tab, "reload");
  using page = createClient({ url, outbox, shareTabs: false, fetch: signedIn("ann") });
  await page.sessions();
  await kept(outbox, 0);
  crashed.close();
  vi.unstubAllGlobals();
  expect(await shownTo(url, "ann")).toBe("First|Yes.|Second|Yes.");
});
