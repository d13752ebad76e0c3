import { callId, partId } from "@millrace/core/writing";
import type { Narration } from "@millrace/core";
import { memorySessionStore } from "@millrace/core/memory";
import { countingIds, emit, manualClock, say, scriptedModel } from "@millrace/core/testing";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { createNarrator } from "../observe/narrator.ts";
import { defineTool } from "../definition/tool.ts";

vi.setConfig({ testTimeout: patience });

const read = defineTool({
  name: "read",
  input: z.object({ path: z.string() }),
  effect: "pure",
  run: ({ path }) => `export const config = {}; // ${path}`,
});

/** A call whose arguments come in two pieces, as vendors send them. */
function callInPieces(...pieces: readonly string[]) {
  const id = partId("p2");
  const head = { kind: "tool_call", callId: callId("call_1"), tool: "read" } as const;
  const raw = pieces.join("");
  const input = { path: "src/config.ts" };
  return emit(
    { op: "begin_part", partId: id, ...head },
    ...pieces.map((chunk) => ({ op: "append_text", partId: id, chunk }) as const),
    { op: "commit_part", partId: id, part: { ...head, id, raw, input } },
  );
}

/** The run of the coding-agent document, as an inline observer gets it. */
async function observe(): Promise<readonly Narration[]> {
  const story: Narration[] = [];
  const narrate = createNarrator();
  const clock = manualClock();
  const makeId = countingIds();
  const model = scriptedModel(
    [
      [
        say("Let me check the configuration file first."),
        callInPieces('{"path":', '"src/config.ts"}'),
        { end: { stop: "tools", evidence: "tool_use" } },
      ],
      [say("It is empty.")],
    ],
    { chunk: "whole", clock },
  );
  const agent = defineAgent({
    model,
    tools: [read],
    observers: [(event) => story.push(...narrate(event))],
  });
  const store = memorySessionStore({ clock, makeId });
  await using session = await agent.open({ id: "s", store, clock, makeId });
  await session.send("What is configured?").result;
  return story;
}

/** One line for each event, as the document writes them. */
function line(event: Narration): string {
  switch (event.type) {
    case "assistant_text_delta":
      return `${event.type}: ${event.text}`;
    case "tool_call_arguments_delta":
      return `${event.type}: ${event.text}`;
    case "tool_call_ready":
      return `${event.type}: ${event.tool} ${JSON.stringify(event.input)}`;
    case "tool_call_started":
    case "tool_execution_started":
      return `${event.type}: ${event.tool}`;
    case "tool_execution_finished":
      return `${event.type}: ${event.tool} ${event.isError}`;
    case "turn_finished":
      return `${event.type}: stop=${event.stop}`;
    case "run_finished":
      return `${event.type}: ${event.outcome}`;
    case "tool_output_delta":
      return `${event.type}: ${event.text}`;
    case "item_committed":
      return `${event.type}: ${event.item.author}`;
    default:
      return event.type;
  }
}

/** The events that the document's list names. */
const named: readonly Narration["type"][] = [
  "assistant_text_delta",
  "tool_call_started",
  "tool_call_arguments_delta",
  "tool_call_ready",
  "tool_execution_started",
  "tool_execution_finished",
  "turn_finished",
];

describe("the events of a turn that reads a file", () => {
  it("come in the order of the coding-agent document", async () => {
    const story = await observe();

    expect(story.filter(({ type }) => named.includes(type)).map(line)).toStrictEqual([
      "assistant_text_delta: Let me check the configuration file first.",
      "tool_call_started: read",
      'tool_call_arguments_delta: {"path":',
      'tool_call_arguments_delta: "src/config.ts"}',
      'tool_call_ready: read {"path":"src/config.ts"}',
      "tool_execution_started: read",
      "tool_execution_finished: read false",
      "turn_finished: stop=tools",
      "assistant_text_delta: It is empty.",
      "turn_finished: stop=end",
    ]);
  });

  it("match the golden file", async () => {
    const story = await observe();

    await expect(`${story.map(line).join("\n")}\n`).toMatchFileSnapshot(
      "./golden/reads-a-file.txt",
    );
  });

  it("are the same each time, with the same ids", async () => {
    const times = runs(1_000, 1_000, 150);
    const first = JSON.stringify(await observe());
    for (let time = 1; time < times; time += 1) {
      expect(JSON.stringify(await observe())).toBe(first);
    }
    console.log(`count: the order of events, ${times} times the same trace`);
  });

  it("have in their deltas exactly the item's text", async () => {
    const story = await observe();

    const narrated = story.map((event) =>
      event.type === "assistant_text_delta" ? event.text : "",
    );
    const kept = story.flatMap((event) =>
      event.type === "item_committed" && event.item.author === "model"
        ? event.item.parts.map((part) => (part.kind === "text" ? part.text : ""))
        : [],
    );
    expect(narrated.join("")).toBe(kept.join(""));
  });
});
