/** A process that opens the session of a store of files, sends its prompt, and prints how the run ended. */
import { parseJsonText } from "@millrace/core/wire";
import { fileStore } from "@millrace/stores/file";
import { poisonAgent } from "./poison-agent.ts";
import type { Poison } from "./poison-agent.ts";

export interface InlineConfig extends Poison {
  readonly folder: string;
  readonly prompt: string;
  /** The same for each process that is started for one prompt. */
  readonly key: string;
}

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as InlineConfig;
const { folder, prompt, key } = config;
const store = fileStore(folder, { fsync: "never" });
const session = await poisonAgent(config).open({ id: "poison", store });
const { outcome, ...rest } = await session.send(prompt, { key }).result;
const cause = "cause" in rest ? rest.cause : undefined;
console.log(JSON.stringify({ outcome, limit: "limit" in rest ? rest.limit : undefined, cause }));
await session.close();
await store.close();
