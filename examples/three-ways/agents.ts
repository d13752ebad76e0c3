// Agents that write their own items, in each of the three ways.
import { defineAgent } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Model, Transcript } from "@millrace/core";

/** Any async iterable or generator of deltas. */
export function yielding(model: Model): Agent {
  // #region yield
  return defineAgent({ respond: (run) => model.stream(run.request) });
  // #endregion
}

/** Items that the session begins, streams and commits, and one that the agent writes itself. */
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

/** An agent that fails in the middle of an item. */
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
