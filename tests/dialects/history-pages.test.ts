import type { Fact, SessionState } from "@millrace/core";
import { emptyState, replay } from "@millrace/core/reading";
import { expect, test } from "vitest";
import { turnsOf } from "../../packages/dialects/src/shared/encode/turns.ts";
import { Served } from "./kit/served.ts";
import { Random } from "../kit/random.ts";
import { runs } from "../kit/runs.ts";
import { recordAll } from "../positions/record-all.ts";
import { LongSession } from "./kit/long-session.ts";
import { watchedSession } from "./kit/sessions.ts";

interface Page {
  readonly messages: readonly { readonly id: string }[];
  readonly next?: string;
}

async function pageOf(served: Served, path: string): Promise<Page> {
  const answer = await served.request(path);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Page;
}

/** All messages, read by pages of so many. */
async function readByPages(served: Served, path: string, limit: number): Promise<Page["messages"]> {
  const messages: Page["messages"][number][] = [];
  for (let before = ""; ;) {
    const page = await pageOf(served, `${path}?limit=${limit}${before}`);
    expect(page.messages.length).toBeLessThanOrEqual(limit);
    messages.unshift(...page.messages);
    if (page.next === undefined) return messages;
    before = `&before=${encodeURIComponent(page.next)}`;
  }
}

test.each(["/ai-sdk/s", "/ag-ui/s"])("the pages of %s are the session's messages", async (path) => {
  for (const afterCheckpoint of [0, 3, 60]) {
    const { store } = await LongSession.of(40, { afterCheckpoint });
    await using served = new Served(undefined, { store: () => store });
    const whole = await pageOf(served, path);

    expect(whole.messages).toHaveLength(80);
    expect(whole.next).toBeUndefined();
    for (const limit of [1, 7, 79, 80, 81])
      expect(await readByPages(served, path, limit)).toEqual(whole.messages);
    expect(await pageOf(served, `${path}?before=none`)).toEqual({ messages: [] });
  }
});

test("messages of one id, such as an edited one, are each in one page", async () => {
  await using served = new Served();
  for (const [at, text] of ["one", "two", "three"].entries()) {
    const message = { id: "m-1", role: "user", parts: [{ type: "text", text }] };
    const edited = at === 0 ? {} : { messageId: "m-1" };
    await (
      await served.request("/ai-sdk", { body: { id: "s", messages: [message], ...edited } })
    ).text();
  }
  const { messages } = await pageOf(served, "/ai-sdk/s");

  expect(messages.filter(({ id }) => id === "m-1")).toHaveLength(3);
  for (const limit of [1, 2, 3, 4])
    expect(await readByPages(served, "/ai-sdk/s", limit)).toEqual(messages);
});

/** The same session, which an operator has set back once: what was undone happens again. */
function withReset(facts: readonly Fact[], random: Random): readonly Fact[] {
  const at = 1 + random.below(facts.length);
  const to = random.below(at);
  const undone = facts.slice(to, at);
  const [first] = facts;
  const reset = { ...first, type: "session_claimed", incarnation: 99, to } as Fact;
  // What people sent is not undone.
  const again = undone.filter(({ type }) => !/^(input_accepted|queue_updated)$/.test(type));
  return [...facts.slice(0, at), reset, ...again, ...facts.slice(at)].map((fact, index) => ({
    ...fact,
    n: index + 1,
  }));
}

test("the last facts of a session give its last turns, wherever they begin", async () => {
  const random = new Random(29);
  let cuts = 0;
  let resets = 0;
  for (const recording of await recordAll(runs(60, 2_000))) {
    const { uid, sessionId, facts } = await watchedSession(recording);
    for (const all of [
      facts,
      withReset(facts, random),
      withReset(withReset(facts, random), random),
    ]) {
      const state: SessionState = replay(emptyState(uid, sessionId), all);
      const turns = turnsOf(all, state);
      let before = turns.length;
      for (let from = 1; from < all.length; from += 1) {
        const last = turnsOf(all.slice(from), state);
        expect(last.length).toBeLessThanOrEqual(before);
        expect(last, `session ${recording.seed} from ${from}`).toEqual(
          turns.slice(turns.length - last.length),
        );
        before = last.length;
        cuts += 1;
      }
      resets += all.length - facts.length > 0 ? 1 : 0;
    }
  }
  console.log(`count: turns, ${cuts} beginnings, ${resets} sessions set back, 0 differences`);
}, 3_600_000);
