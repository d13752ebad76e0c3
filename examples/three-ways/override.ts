// Streams an answer, then replaces it by one with its sources. Viewers see the text as it comes; what is
// stored is the replacement, at once. The item is complete then: what still comes for it is ignored.
import { defineAgent } from "@millrace/agent";
import { trace } from "@millrace/core/testing";
import { chatMessages, chatStream } from "./vendor.ts";

// #region agent
const agent = defineAgent({
  async *respond(run) {
    let answer = "";
    for await (const chunk of chatStream(chatMessages(run.transcript))) {
      const content = chunk.choices[0]?.delta.content;
      if (!content) continue;
      answer += content;
      yield { op: "append_text", partId: "answer", chunk: content };
    }
    const sources = await citationsFor(answer);
    yield {
      op: "replace_item",
      content: `${answer}\n\n## Sources\n${sources.join("\n")}`,
      metadata: { sources: sources.length },
    };
  },
});
// #endregion

async function citationsFor(answer: string): Promise<readonly string[]> {
  return answer.includes("coat") ? ["- Norwegian Meteorological Institute"] : [];
}

await using session = await agent.open();
const run = session.send("What should I wear in Oslo?");
for await (const event of run.narrate()) {
  if (event.type === "assistant_text_delta") process.stdout.write(event.text);
  if (event.type === "item_replaced") console.log("\nreplaced");
}
console.log(trace(session.transcript.slice(1)));
console.log((await run.result).outcome);
