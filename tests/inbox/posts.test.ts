import { createInbox } from "@millrace/core";
import { sessionId } from "@millrace/core/writing";
import type { Fact, Inbox, Posted, Refused } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { expect, it } from "vitest";
import { openProxy, isCommitted } from "../../packages/stores/src/testing/proxy.ts";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import { patience } from "../kit/patience.ts";
import { runs } from "../kit/runs.ts";

const posts = runs(5_000, 250_000, 1_000);
const sessions = 5;
const clientsOfEach = 2;

const kinds = ["send", "steer", "followUp"] as const;

/** Posts until there is an answer, as a client does that keeps its key. */
async function postUntilAnswered(inbox: Inbox, at: number): Promise<Posted> {
  for (;;) {
    const post = inbox[kinds[at % kinds.length] ?? "send"];
    const answer: Posted | Refused = await post(`text ${at}`, { key: `post-${at}` });
    if (answer.accepted) return answer;
    if (answer.reason !== "failed") throw answer.error;
  }
}

function idOf(fact: Fact | undefined): string | undefined {
  return fact?.type === "input_accepted" ? fact.inputId : undefined;
}

function never(): never {
  throw new Error("there is no such session");
}

it(
  "each post is stored once, though half of the answers are lost and repeated by key",
  async () => {
    await using database = await sharedPostgres();
    const { url: redisUrl, prefix } = await sharedRedis();
    const address = new URL(database.url);
    await using proxy = await openProxy(Number(address.port));
    address.port = `${proxy.port}`;
    await using store = postgresStore({ url: address.href });
    await using log = redisLog({ url: redisUrl, prefix });
    await store.migrate();
    const names = Array.from({ length: sessions }, (_, at) => sessionId(`posts ${at}`));
    const records = await Promise.all(names.map((name) => store.create({ sessionId: name })));
    // One word of PostgreSQL in a hundred is cut off after the commit: the store finds its own facts again.
    let commits = 0;
    proxy.decide = (message) => {
      if (!isCommitted(message)) return "pass";
      commits += 1;
      return commits % 100 === 0 ? "cut" : "pass";
    };
    // Every second answer of the store is lost on its way to the poster.
    let [answers, lost] = [0, 0];
    const accept: SessionStore["accept"] = async (...given) => {
      const outcome = await store.accept(...given);
      answers += 1;
      if (answers % 2 === 0) return outcome;
      lost += 1;
      throw new Error("the answer was lost");
    };

    const answered: (readonly [session: number, Posted])[] = [];
    let next = 0;
    const client = async (_: unknown, number: number): Promise<void> => {
      const session = number % sessions;
      const { uid } = records[session] ?? never();
      const inbox = createInbox({ store: { accept, read: store.read, key: store.key }, log, uid });
      for (let at = next++; at < posts; at = next++) {
        answered.push([session, await postUntilAnswered(inbox, at)]);
      }
      await inbox.announced();
    };
    await Promise.all(Array.from({ length: sessions * clientsOfEach }, client));

    const stored = await Promise.all(records.map(({ uid }) => store.read(uid)));
    expect(stored.flat()).toHaveLength(posts);
    expect(new Set(stored.flat().map(idOf)).size).toBe(posts);
    expect(answered).toHaveLength(posts);
    // Each answer names the fact that holds its input.
    const wrong = answered.filter(
      ([session, { inputId, n }]) => idOf(stored[session]?.[n - 1]) !== inputId,
    );
    expect(wrong).toEqual([]);
    expect(lost).toBeGreaterThanOrEqual(posts / 2);
    expect(answered.filter(([, { replayed }]) => replayed).length).toBeGreaterThanOrEqual(
      posts / 3,
    );
    for (const name of names) {
      expect((await store.find(name))?.incarnation).toBe(0);
      expect(await store.verify(name)).toMatchObject({ ok: true });
    }
    console.log(
      `${lost} answers lost after the store's, ${proxy.cuts()} connections cut after a commit`,
    );
    console.log(`count: posts with lost answers are stored once, ${posts}, 0 failures`);
  },
  patience * 3,
);
