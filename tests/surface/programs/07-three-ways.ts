// Three ways to stream.
import { defineAgent } from "@millrace/agent";
import type { Model, Transcript } from "@millrace/core";

declare const model: Model;
declare function summarise(transcript: Transcript): AsyncIterable<string>;

export const yielding = defineAgent({ respond: (run) => model.stream(run.request) }); // any async iterable of deltas

export const writing = defineAgent({
  async respond(run) {
    const item = await run.write(model.stream(run.request)); // auto: begun, streamed, committed, returned
    if (item.stop === "length") await run.write("I had to stop here.");
    await run.write(async (report) => {
      for await (const chunk of summarise(run.transcript)) report.append(chunk.toUpperCase());
      report.annotate({ sources: 3 });
    });
  },
});
