// What happens to a page while a reply is written: each fault at random moments, with the page of
// `examples/chat` in a real browser and a server process over PostgreSQL and Redis.
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";
import { Fleet } from "../web/kit/fleet.ts";
import { openBrowser } from "./kit/browser.ts";
import { firstTab, openProfiles, promptOf } from "./kit/chat-fleet.ts";
import type { Expected, Profile } from "./kit/chat-fleet.ts";
import { bundleChat, openTab, say, untilShown } from "./kit/chat-tab.ts";
import { ask, atMoments, conclude, judge, usual } from "./kit/happening.ts";
import type { Happening, Judged } from "./kit/happening.ts";
import { groupsOfMoments, momentsAtOnce } from "./kit/moments.ts";

/** As long as a tunnel. */
const offlineMs = 20_000;

const resources = new AsyncDisposableStack();
let fleet: Fleet;
let url: string;
let browser: Browser;
let people: readonly Profile[];
beforeAll(async () => {
  const page = await bundleChat();
  [fleet, browser] = await Promise.all([
    Fleet.start({ nodes: 1, drive: true, chunkMs: 35, drainSeconds: 1, page }),
    openBrowser({ backForwardCache: true }),
  ]);
  resources.use(fleet);
  resources.use(browser);
  ({ url } = fleet.node(0));
  people = await openProfiles(browser, url, momentsAtOnce);
}, patience);
afterAll(() => resources.disposeAsync());

const pageFaults: Readonly<Record<string, (happening: Happening) => Promise<unknown>>> = {
  "a refresh": ({ tab }) => tab.reload(),
  "a second tab": ({ profile: { context }, moment: { session } }) => openTab(context, url, session),
  "a second tab, and the first one closed": async ({ profile, tab, moment }) => {
    await openTab(profile.context, url, moment.session);
    await tab.close();
  },
  "back and forward": async ({ tab, moment: { random } }) => {
    // A page of the back/forward cache is not loaded: there is nothing to wait for.
    const waitUntil = "commit";
    await tab.goto(`${url}/agent/v1/ready`);
    await sleep(random.below(1_000));
    await tab.goBack({ waitUntil });
    await tab.goForward({ waitUntil });
    await tab.goBack({ waitUntil });
  },
};

describe("at random moments of a reply each letter is shown once, nothing stops, and what is shown is what is stored", () => {
  it.concurrent(
    "after a refresh, in a second tab, back and forward, and a send is there once",
    { timeout: patience * 2 },
    async () => {
      for (const [name, fault] of Object.entries(pageFaults)) {
        const judged = await atMoments(name, { people, url }, async (happening) => {
          const expected = await ask(happening);
          await fault(happening);
          return await judge(fleet, happening.profile.context.pages(), expected);
        });
        conclude(name, judged, people);
        if (name === "back and forward")
          expect(judged.some(({ revivals }) => revivals > 0)).toBe(true);
      }
      const name = "a refresh just after a send";
      const sent = await atMoments(name, { people, url }, async ({ tab, moment }) => {
        const { session, random } = moment;
        await say(tab, promptOf(session, 40));
        await sleep(random.below(60));
        await tab.reload();
        const prompts = [{ key: session, length: 40 }];
        return await judge(fleet, [tab], { session, prompts, restarts: 0 });
      });
      conclude(name, sent, people);
    },
  );

  it.concurrent("after 20 seconds offline", { timeout: patience * 2 }, async () => {
    const travellers = await openProfiles(browser, url, momentsAtOnce, "traveller");
    const name = "offline for 20 s";
    const judged = await atMoments(name, { people: travellers, url }, async (happening) => {
      const { profile, tab, moment } = happening;
      // Some are over by then, some go on.
      const expected = await ask(happening, moment.random.chance(0.5) ? usual : usual * 8);
      await profile.context.setOffline(true);
      await tab.locator("header", { hasText: "Offline" }).waitFor();
      await sleep(offlineMs);
      await profile.context.setOffline(false);
      return await judge(fleet, [tab], expected);
    });
    conclude(name, judged, travellers);
    await Promise.all(travellers.map(({ context }) => context.close()));
  });
});

it(
  "seven tabs on HTTP/1.1 show all of it by one stream, whichever of them is closed or refreshed",
  { timeout: patience * 2 },
  async () => {
    const [profile] = people as [Profile];
    const { context } = profile;
    const streams = new Set<Request>();
    context.on("request", (request) => {
      if (request.url().endsWith("/v1/events")) streams.add(request);
    });
    // Of a tab that was closed nothing more is reported.
    const open = (): number =>
      [...streams].filter((request) => !request.frame().page().isClosed()).length;
    context.on("requestfinished", (request) => streams.delete(request));
    context.on("requestfailed", (request) => streams.delete(request));
    const [session, prompts] = ["seven-tabs", [] as Expected["prompts"][number][]];
    const first = await firstTab(profile, url, session);
    const tabs = [first];
    const openOne = async (): Promise<number> => tabs.push(await openTab(context, url, session));
    while (tabs.length < 7) await openOne();
    const judged: Judged[] = [];
    for (const { share, random } of groupsOfMoments("seven tabs").flat()) {
      const key = `prompt-${prompts.length}`;
      prompts.push({ key, length: 100 });
      const asker = random.pick(tabs);
      await say(asker, promptOf(key, 100));
      await asker
        .locator("article.user")
        .nth(prompts.length - 1)
        .waitFor();
      await untilShown(asker, Math.floor(share * 100));
      const at = random.below(tabs.length);
      const [other = first] = random.chance(0.5) ? tabs.splice(at, 1) : [tabs[at]];
      if (tabs.includes(other)) await other.reload();
      else {
        await other.close();
        await openOne();
      }
      judged.push(await judge(fleet, tabs, { session, prompts, restarts: 0 }));
      expect(tabs).toHaveLength(7);
      await until(() => open() === 1, "one stream for all", { limitMs: 10_000 });
    }
    conclude("a tab of seven that is closed or refreshed", judged, people);
  },
);
