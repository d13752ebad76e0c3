// A program that knows secrets and fails in every way that a process shows by itself: a warning of
// content, one of a failure that nothing read, a rejection that nothing handles, an error that nothing
// catches. Started as a process, never imported.
import { registerSecret } from "@millrace/core/secrets";
import { fail, say, scriptedModel } from "@millrace/core/testing";
import { defineAgent } from "@millrace/agent";
import { secretsOf, wordsWith } from "./kit.ts";

const [how = "", seed = "1", count = "1"] = process.argv.slice(2);
const secrets = secretsOf(Number(seed), Number(count));
for (const [at, value] of secrets.entries()) registerSecret({ name: `secret ${at}`, value });
const words = wordsWith(secrets);

if (how === "warning") {
  const model = scriptedModel([[say(words)]], { chunk: [1_000] });
  const session = await defineAgent({ model }).open();
  await session.send("go").result;
  await session.close();
} else {
  const model = scriptedModel([[fail("bad_request", words, { evidence: { words } })]]);
  const session = await defineAgent({ model }).open();
  const run = session.send("go");
  if (how === "rejection") {
    void run.text();
    await new Promise((resolve) => setTimeout(resolve, 10_000));
  }
  const result = await run.result;
  if (how !== "unread" && result.outcome === "failed") throw result.error;
}
