// A coding agent with one tool. Its session is a file.
import { defineAgent, defineTool } from "@millrace/agent";
import { createNarrator } from "@millrace/agent/terminal";
import type { Agent, Session } from "@millrace/agent";
import type { Model, Narration } from "@millrace/core";
import { z } from "zod";
import { agentEvent, messageOf } from "./events.ts";
import type { AgentEvent, AssistantMessage, EventStream } from "./events.ts";

const read = defineTool({
  name: "read",
  description: "Reads a file of the project",
  input: z.object({ path: z.string() }),
  effect: "pure",
  run: ({ path }) => `export const port = 3000; // ${path}`,
});

/** `listen` is called with each event at once, before anything else happens. */
export function codingAgent(model: Model, listen: (event: AgentEvent) => void): Agent {
  const narrate = createNarrator();
  const emit = (narration: Narration): void => {
    const event = agentEvent(narration);
    if (event !== undefined) listen(event);
  };
  const observers = [(event: Parameters<typeof narrate>[0]) => narrate(event).forEach(emit)];
  return defineAgent({ model, tools: [read], observers });
}

// #region submit
/** Hands the agent a task. A screen iterates the events, the program awaits the last message. */
export function submit(
  session: Session,
  task: string,
): EventStream<AgentEvent, AssistantMessage> & { readonly stop: () => void } {
  const run = session.send(task);
  const events = async function* events(): AsyncGenerator<AgentEvent> {
    for await (const narration of run.narrate()) {
      const event = agentEvent(narration);
      if (event !== undefined) yield event;
    }
  };
  const last = async (): Promise<AssistantMessage> => {
    await run.result;
    const item = session.transcript.findLast(({ author }) => author === "model");
    return item === undefined ? messageOf(undefined, "aborted") : messageOf(item, item.stop);
  };
  return { events: events(), result: last(), stop: () => void run.abort() };
}
// #endregion
