// Hands a model's stream over and gets the finished item back. The session begins it, shows its deltas,
// folds them, and commits it with the usage and the ending that the vendor gave.
import { defineAgent } from "@millrace/agent";
import type { Item } from "@millrace/core";
import { say, scriptedModel } from "@millrace/core/testing";
import { chatMessages } from "./vendor.ts";

const model = scriptedModel([[say("Take a warm coat.")]]);
const state: Item[] = [];

// #region agent
const agent = defineAgent({
  async respond(run) {
    const item = await run.write(model.stream(run.request));
    state.push(item); // whole and stored: ready for the agent's own use
    if (item.stop === "length") await run.write("I had to stop here.");
  },
});
// #endregion

const run = agent.run("What should I wear in Oslo?");
for await (const event of run.narrate()) {
  if (event.type === "assistant_text_delta") process.stdout.write(event.text);
}
console.log();
console.log(chatMessages(state));
