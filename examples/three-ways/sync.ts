// Yields a vendor's chunks as deltas. The session folds, shows and stores them. The part is begun by its
// first delta, and the item is committed when the generator ends: neither needs an update of its own.
import { defineAgent } from "@millrace/agent";
import { chatMessages, chatStream } from "./vendor.ts";

// #region agent
const agent = defineAgent({
  async *respond(run) {
    for await (const chunk of chatStream(chatMessages(run.transcript))) {
      const content = chunk.choices[0]?.delta.content;
      if (content) yield { op: "append_text", partId: "answer", chunk: content };
    }
  },
});
// #endregion

await using session = await agent.open();
const run = session.send("What should I wear in Oslo?");
for await (const event of run.narrate()) {
  if (event.type === "assistant_text_delta") process.stdout.write(event.text);
}
const { outcome } = await run.result;
const item = session.transcript.at(-1);
console.log(`\n${outcome}: ${item?.parts.length} part, ${item?.stop}`);
