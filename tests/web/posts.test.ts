import { expect, it } from "vitest";
import { inParallel } from "../kit/in-parallel.ts";
import { patience } from "../kit/patience.ts";
import { runs } from "../kit/runs.ts";
import { openFaultProxy } from "./kit/fault-proxy.ts";
import { Fleet } from "./kit/fleet.ts";
import { createSession, postUntilAnswered } from "./kit/person.ts";
import type { HttpAnswer } from "./kit/person.ts";

const posts = runs(300, 20_000, 120);
const postsOfEach = 60;
const kinds = ["prompt", "steer", "follow_up"] as const;

it(
  "posts of which half of the answers are lost are stored once each, and the repeat has the same answer",
  { timeout: patience * 2 },
  async () => {
    // Posts go to two nodes by turns: the repeat is answered by the other one as well.
    await using fleet = await Fleet.start({ nodes: 2, drive: false, chunkMs: 1, drainSeconds: 1 });
    const lost = new Map<string, string[]>();
    let [requests, answers] = [0, 0];
    await using proxy = await openFaultProxy({
      to: () => fleet.node(requests++ % 2).url,
      decide: () => (answers++ % 2 === 0 ? 0 : "pass"),
      onLost: (key, body) => lost.set(key, [...(lost.get(key) ?? []), body]),
    });
    const sessions = Array.from(
      { length: Math.ceil(posts / postsOfEach) },
      (_, at) => `posts-${at}`,
    );
    for (const session of sessions) await createSession(fleet.node(0).url, session);
    const given = Array.from({ length: posts }, (_, at) => ({
      session: sessions[at % sessions.length] ?? "",
      key: `post-number-${at}`.padEnd(20, "x"),
      kind: kinds[at % kinds.length],
      text: `text ${at}`,
    }));

    const answered = await inParallel<HttpAnswer>(
      given.map(({ session, key, kind, text }) => () => {
        const path = `/v1/sessions/${session}/inputs`;
        return postUntilAnswered(proxy.url, { path, key, body: { kind, text } });
      }),
      8,
    );

    const facts = await Promise.all(sessions.map((session) => fleet.facts(session)));
    expect(facts.flat()).toHaveLength(posts);
    const inputs = facts.flatMap((all, at) =>
      all.map((fact) => ({ fact, session: sessions[at] ?? "" })),
    );
    const byId = new Map(
      inputs.map(({ fact, session }) => [
        fact.type === "input_accepted" ? fact.inputId : "",
        { n: fact.n, session },
      ]),
    );
    expect(byId.size).toBe(posts);
    const wrong = given.filter(({ key, session }, at) => {
      const answer = answered[at];
      const { inputId, n } = JSON.parse(answer?.body ?? "{}") as { inputId: string; n: number };
      const stored = byId.get(`input_${key}`);
      const isSame = (lost.get(key) ?? []).every((body) => body === answer?.body);
      const isReplayed = answer?.replayed === lost.has(key);
      const isStored = stored?.n === n && stored.session === session;
      return (
        answer?.status !== 202 || inputId !== `input_${key}` || !(isSame && isReplayed && isStored)
      );
    });
    expect(wrong).toEqual([]);
    expect(proxy.cuts()).toBeGreaterThanOrEqual(posts / 2);
    expect(fleet.strays).toEqual([]);
    console.log(`${proxy.cuts()} answers lost of ${lost.size} posts after the commit`);
    console.log(`count: posts over HTTP with lost answers are stored once, ${posts}, 0 failures`);
  },
);
