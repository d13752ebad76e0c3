/**
 * A process that only posts and reads: it imports core and stores, and no agent. Each line on its
 * input is a call in JSON, `[name, …arguments]`; each line on its output is the answer. The names are
 * those of the inbox, and `until` (waits for a fact of this type after a head) and `modules`.
 */
import { systemClock } from "@millrace/core/memory";
import { registerHooks } from "node:module";
import { createInterface } from "node:readline";

const loaded: string[] = [];
registerHooks({
  load: (url, context, next) => {
    loaded.push(url);
    return next(url, context);
  },
});

// Imported behind the hook, so that each module which they load is seen.
const { createInbox } = await import("@millrace/core");
const { follow } = await import("@millrace/core/reading");
const { sessionId } = await import("@millrace/core/writing");
const { postgresStore } = await import("@millrace/stores/postgres");
const { redisLog } = await import("@millrace/stores/redis");

const [name = "", url = "", redisUrl = "", prefix = ""] = process.argv.slice(2);
await using store = postgresStore({ url });
await using log = redisLog({ url: redisUrl, prefix });
const record = await store.find(sessionId(name));
if (record === undefined) throw new Error(`there is no session ${name}`);
const { uid } = record;
const inbox = createInbox({ store, log, uid, actor: { user: "ann", via: "poster" } });

async function until(type: string, after: number): Promise<unknown> {
  const clock = {
    ...systemClock,
    sleep: async (ms: number): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, ms).unref());
    },
  };
  const cursor = { uid, head: after, lanes: [] };
  for await (const { message } of follow({
    store,
    log,
    clock,
    uid,
    sessionId: sessionId(name),
    cursor,
  })) {
    if ("n" in message && message.n > after && message.type === type) return message;
  }
  throw new Error(`${type} did not come`);
}

type Call = (...given: readonly unknown[]) => Promise<unknown>;
const calls: Readonly<Record<string, Call>> = {
  ...(inbox as unknown as Record<string, Call>), // what a test sends is what the call takes
  until: until as Call,
  modules: async () => loaded,
};

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [call, ...given] = JSON.parse(line) as [string, ...unknown[]];
  console.log(JSON.stringify(await calls[call]?.(...given)));
}
