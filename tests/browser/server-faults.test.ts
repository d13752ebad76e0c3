// What happens to the processes behind a page while they write a reply: each fault at random moments of
// several replies at once, with the page of `examples/chat` in a real browser.
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { patience } from "../kit/patience.ts";
import type { Random } from "../kit/random.ts";
import { Fleet } from "../web/kit/fleet.ts";
import { openBrowser } from "./kit/browser.ts";
import { firstTab, openProfiles, promptOf } from "./kit/chat-fleet.ts";
import type { Profile } from "./kit/chat-fleet.ts";
import { beginSession, bundleChat, say, untilShown } from "./kit/chat-tab.ts";
import { conclude, judge, usual } from "./kit/happening.ts";
import type { Judged } from "./kit/happening.ts";
import { groupsOfMoments, momentsAtOnce } from "./kit/moments.ts";
import type { Moment } from "./kit/moments.ts";

/** Long enough that none is over before the others have begun. */
const length = usual * 2;
const chunkMs = 35;
/** What a letter takes, about: a chunk has three and a half. */
const letterMs = chunkMs / 3.5;
/** The last sends before the fault. */
const sendMs = 80;

const resources = new AsyncDisposableStack();
let page: string;
let browser: Browser;
let people: readonly Profile[];
beforeAll(async () => {
  [page, browser] = await Promise.all([bundleChat(), openBrowser()]);
  resources.use(browser);
  people = await openProfiles(browser, "http://127.0.0.1", momentsAtOnce);
}, patience);
afterAll(() => resources.disposeAsync());

interface Talk {
  readonly moment: Moment;
  readonly tab: Page;
  /** A tab of the same person, in which a prompt is typed and not sent yet. */
  readonly sender: Page;
}

/** Begins a reply for each moment, so that all are at their moments together. */
async function beginTalks(group: readonly Moment[], url: string): Promise<readonly Talk[]> {
  const talks = await Promise.all(
    group.map(async (moment, at): Promise<Talk> => {
      const profile = people[at] as Profile; // as many as a group has moments
      const tab = await firstTab(profile, url, moment.session);
      const sender = await profile.context.newPage();
      await beginSession(sender, url, `${moment.session}-sent`);
      await sender.getByLabel("Message").fill(promptOf(moment.session, 40));
      return { moment, tab, sender };
    }),
  );
  const latest = Math.max(...group.map(({ share }) => share));
  await Promise.all(
    talks.map(async ({ tab, moment: { session, share } }) => {
      await sleep((latest - share) * usual * letterMs);
      await say(tab, promptOf(session, length));
      await untilShown(tab, Math.floor(share * usual));
    }),
  );
  return talks;
}

/** Lets a fault happen to a fleet, with the last sends just before it, and judges all tabs. */
async function afterFault(
  name: string,
  fleet: Fleet,
  happen: (random: Random) => Promise<void>,
): Promise<void> {
  const { url } = fleet.node(0);
  const judged: Judged[] = [];
  for (const group of groupsOfMoments(name)) {
    const talks = await beginTalks(group, url);
    const [{ random }] = group as [Moment];
    const sends = talks.map(async ({ sender, moment }) => {
      await sleep(moment.random.below(sendMs));
      await sender.keyboard.press("Enter");
    });
    await Promise.all([...sends, sleep(sendMs).then(() => happen(random))]);
    const all = talks.flatMap(({ tab, sender, moment: { session: key } }) => [
      judge(fleet, [tab], { session: key, prompts: [{ key, length }], restarts: 1 }),
      judge(fleet, [sender], {
        session: `${key}-sent`,
        prompts: [{ key, length: 40 }],
        restarts: 1,
      }),
    ]);
    judged.push(...(await Promise.all(all)));
  }
  conclude(`${name}, the page of a reply and the page of a last send`, judged, people);
  expect(fleet.strays).toEqual([]);
}

it(
  "a server that is killed or rolled in mid-reply: all tabs go on, each letter is there once, and so is a send just before",
  { timeout: patience * 2 },
  async () => {
    await using fleet = await Fleet.start({
      nodes: 1,
      drive: true,
      chunkMs,
      drainSeconds: 1,
      page,
    });
    const { process } = fleet.node(0);
    await afterFault("a server that is killed", fleet, async (random) => {
      await process.kill();
      await sleep(random.below(1_000));
      await process.start();
    });
    await afterFault("a server that is rolled", fleet, async () => {
      await process.terminate();
      await process.start();
    });
  },
);

it(
  "a worker that is killed in mid-reply: another one goes on, each letter is there once, and so is a send just before",
  { timeout: patience * 2 },
  async () => {
    const workers = 2;
    await using fleet = await Fleet.start({
      nodes: 1,
      workers,
      drive: false,
      chunkMs,
      drainSeconds: 1,
      page,
    });
    await fleet.workers[0]?.start();
    let works = 0;
    await afterFault("a worker that is killed", fleet, async () => {
      const [killed, next] = [fleet.workers[works], fleet.workers[1 - works]];
      works = 1 - works;
      await next?.start();
      await killed?.kill();
    });
  },
);
