import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { call, say, scriptedModel, stall, think } from "@millrace/core/testing";
import { z } from "zod";

/** Strings that are found nowhere else, and the list of all that were made. */
export class Markers {
  readonly all: string[] = [];

  /** So many of them, as one text. */
  plant(count: number): string {
    const random = (): string => crypto.randomUUID().replaceAll("-", "").slice(0, 16);
    const made = Array.from({ length: count }, () => `zq${random()}`);
    this.all.push(...made);
    return made.join(" ");
  }
}

/**
 * An agent with sub-agents two deep. Its first run ends. Its second one goes on for ever: a tool streams
 * output and waits, and the innermost agent streams text and stalls. All of it holds markers.
 */
export function markedAgent(markers: Markers): Agent {
  const text = (count: number): string => markers.plant(count);
  const input = z.object({ text: z.string() });
  const note = defineTool({
    name: "note",
    input,
    effect: "pure",
    run: (_, { append }) => {
      append(text(10));
      return undefined;
    },
  });
  const wait = defineTool({
    name: "wait",
    input,
    effect: "pure",
    run: async (_, { append, signal }) => {
      append(text(10));
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return "stopped";
    },
  });
  const inner = defineAgent({
    name: "inner",
    model: scriptedModel([
      [think(text(10)), say(text(10))],
      [think(text(10)), say(text(10)), stall()],
    ]),
  });
  const asked = (): ReturnType<typeof call> => call("inner", { prompt: text(10) });
  const helper = defineAgent({
    name: "helper",
    model: scriptedModel([[say(text(10)), asked()], [say(text(10))], [say(text(10)), asked()]]),
    tools: [inner.asTool({ name: "inner", description: "Helps the helper" })],
  });
  const help = (): ReturnType<typeof call> => call("helper", { prompt: text(10) });
  return defineAgent({
    model: scriptedModel([
      [think(text(10)), say(text(10)), call("note", { text: text(10) }), help()],
      [say(text(10))],
      [say(text(10)), call("wait", { text: text(10) }), help()],
    ]),
    tools: [note, wait, helper.asTool({ name: "helper", description: "Helps" })],
  });
}
