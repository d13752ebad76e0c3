// #region program
import { emptyDraft, fold } from "@millrace/core";
import { call, say, scriptedModel } from "@millrace/core/testing";

const model = scriptedModel([[say("Let me look outside.\n"), call("weather", { city: "Oslo" })]]);
const stream = model.stream({ transcript: [] });

let draft = emptyDraft();
for await (const delta of stream) {
  draft = fold(draft, delta); // a new value each time: any of them can be shown, kept or compared
  if (delta.op === "append_text") process.stdout.write(delta.chunk);
}

const reply = await stream.result; // always settles, never rejects
for (const part of reply.parts) {
  if (part.kind === "tool_call" && part.input !== undefined) {
    console.log("\n=>", part.tool, part.input["city"], `(${reply.stop})`);
  }
}
// #endregion

if (draft.fault !== undefined || reply.stop !== "tools") throw new Error("the reply is not whole");
