// Agents that write their items by themselves, in the three ways that there are.
import { defineAgent } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Model, Transcript } from "@millrace/core";

/** Any async iterable or generator of deltas. */
export function yielding(model: Model): Agent {
  // #region yield
  return defineAgent({ respond: (run) => model.stream(run.request) });
  // #endregion
}

/** Items that are begun, streamed and committed for it, and one that it writes by hand. */
export function reporting(model: Model): Agent {
  // #region write
  return defineAgent({
    async respond(run) {
      const item = await run.write(model.stream(run.request)); // auto: begun, streamed, committed, returned
      if (item.stop === "length") await run.write("I had to stop here.");
      await run.write(async (report) => {
        for await (const chunk of summarise(run.transcript)) report.append(chunk.toUpperCase());
        report.annotate({ sources: 3 });
      });
    },
  });
  // #endregion
}

/** One that breaks off in the middle of an item. */
export function breaking(): Agent {
  return defineAgent({
    async respond(run) {
      await run.write(async (item) => {
        item.append("I had just ");
        throw new Error("the printer is on fire");
      });
    },
  });
}

async function* summarise(transcript: Transcript): AsyncGenerator<string> {
  for (const { author, parts } of transcript) yield `${author} ${parts.length} `;
}
