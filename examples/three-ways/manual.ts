// Writes its own chunks: it changes each of them, counts them, and sends them to a second place.
// Returning from the function commits the item; throwing would end it as failed with what came.
import { defineAgent } from "@millrace/agent";
import { trace } from "@millrace/core/testing";
import type { ChatMessage } from "./vendor.ts";
import { chatMessages, chatStream } from "./vendor.ts";

const copy: string[] = [];
const counts = { chunks: 0, characters: 0 };
const conversation: ChatMessage[] = [];

// #region agent
const agent = defineAgent({
  async respond(run) {
    let full = "";
    await run.write(async (item) => {
      for await (const chunk of chatStream(chatMessages(run.transcript))) {
        const content = chunk.choices[0]?.delta.content;
        if (!content) continue;
        full += content;
        const loud = content.toUpperCase();
        item.append(loud); // to everyone who watches the session
        copy.push(loud); // to another place
        counts.chunks += 1;
        counts.characters += loud.length;
      }
      item.annotate(counts);
    });
    conversation.push({ role: "assistant", content: full });
  },
});
// #endregion

await using session = await agent.open();
const run = session.send("What should I wear in Oslo?");
for await (const event of run.narrate()) {
  if (event.type === "assistant_text_delta") process.stdout.write(event.text);
}
console.log(`\n${copy.join("|")}`);
console.log(trace(session.transcript.slice(1)));
console.log(conversation);
