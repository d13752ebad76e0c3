import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Fleet } from "../../web/kit/fleet.ts";
import { faultsOfTab, firstTab, promptOf } from "./chat-fleet.ts";
import type { Expected, Profile } from "./chat-fleet.ts";
import { recordedOf, say, untilShown } from "./chat-tab.ts";
import { groupsOfMoments } from "./moments.ts";
import type { Moment } from "./moments.ts";
import type { Recorded } from "./recorder.ts";

/** Characters of a usual reply, which takes about three seconds. */
export const usual = 300;

/** A moment in the life of a tab. */
export interface Happening {
  readonly profile: Profile;
  readonly tab: Page;
  readonly moment: Moment;
}

/** What came of it: what was wrong, and how much was looked at. */
export interface Judged {
  readonly faults: readonly string[];
  readonly texts: number;
  readonly restarts: number;
  readonly revivals: number;
}

/** Waits until all tabs are at rest, and compares them with what is stored. */
export async function judge(
  fleet: Fleet,
  tabs: readonly Page[],
  expected: Expected,
): Promise<Judged> {
  const faults = await Promise.all(tabs.map((tab) => faultsOfTab(fleet, tab, expected)));
  const recorded = await Promise.all(tabs.map((tab) => recordedOf(tab)));
  const sum = (of: (tab: Recorded) => number): number =>
    recorded.reduce((total, tab) => total + of(tab), 0);
  return {
    faults: faults.flat(),
    texts: sum(({ changes }) => changes),
    restarts: sum(({ restarts }) => restarts),
    revivals: sum(({ revivals }) => revivals),
  };
}

/** Expects nothing wrong, and prints how much there was. */
export function conclude(
  name: string,
  judged: readonly Judged[],
  profiles: readonly Profile[],
): void {
  expect(judged.flatMap(({ faults }) => faults)).toEqual([]);
  expect(profiles.flatMap(({ errors }) => errors)).toEqual([]);
  const sum = (of: (each: Judged) => number): number =>
    judged.reduce((total, each) => total + of(each), 0);
  const [texts, restarts] = [sum((each) => each.texts), sum((each) => each.restarts)];
  const revived = sum(({ revivals }) => revivals);
  const more = [
    ...(restarts > 0 ? [`${restarts} replies begun again`] : []),
    ...(revived > 0 ? [`${revived} times from the back/forward cache`] : []),
  ].map((what) => `, ${what}`);
  console.log(
    `count: ${name}, ${judged.length} moments, ${texts} texts shown${more.join("")}, 0 wrong`,
  );
}

/** Lets a fault happen at each of its moments, those of a group side by side, each to its own person. */
export async function atMoments(
  name: string,
  { people, url }: { readonly people: readonly Profile[]; readonly url: string },
  happen: (happening: Happening) => Promise<Judged>,
): Promise<readonly Judged[]> {
  const judged: Judged[] = [];
  for (const group of groupsOfMoments(name)) {
    const all = group.map(async (moment, at) => {
      const profile = people[at] as Profile; // as many as a group has moments
      const tab = await firstTab(profile, url, moment.session);
      return await happen({ profile, tab, moment });
    });
    judged.push(...(await Promise.all(all)));
  }
  return judged;
}

/** Asks for a reply, and waits for the moment. A reply that is longer than usual goes on for a while. */
export async function ask({ tab, moment }: Happening, length: number = usual): Promise<Expected> {
  const { session, share } = moment;
  await say(tab, promptOf(session, length));
  await untilShown(tab, Math.floor(share * usual));
  return { session, prompts: [{ key: session, length }], restarts: 0 };
}
