// Drives the session: begins its run, or continues one that another worker left. Each worker has
// its own sentence, so that you can see which one writes.
import { defineAgent } from "@millrace/agent";
import { say, scriptedModel } from "@millrace/core/testing";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";

const sentence = process.argv[2] ?? "";
const model = scriptedModel([[say(sentence)]], { delayMs: 25 });

// #region open
await using store = postgresStore(); // DATABASE_URL
await using log = redisLog(); // REDIS_URL
await using session = await defineAgent({ model }).open({ id: "a long answer", store, log });
// #endregion

const run = session.run ?? session.send("Tell me everything.");
await run.result;
