// Watches an agent in three ways at once, and steps in before each request. Spans go to whatever
// OpenTelemetry SDK is set up, and nowhere without one.
import { defineAgent, defineTool, narrateTo } from "@millrace/agent";
import { openTelemetry } from "@millrace/agent/opentelemetry";
import type { Transcript } from "@millrace/core";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "Current weather in a city",
  input: z.object({ city: z.string() }),
  effect: "pure",
  run: ({ city }) => ({ city, celsius: 4 }),
});
const tools = [weather];
const model = scriptedModel([
  [call("weather", { city: "Oslo" })],
  ({ transcript }) => {
    const asked = transcript[0]?.parts.map((part) =>
      part.kind === "text" ? part.text : part.kind,
    );
    return [say(`Take a coat. (I was asked: ${asked?.join(" ")})`)];
  },
]);

const counts = new Map<string, number>();
const metrics = {
  count: (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1),
};

/** Removes card numbers from the model's request. The session keeps the original text. */
function redact(transcript: Transcript): Transcript {
  return transcript.map((item) => ({
    ...item,
    parts: item.parts.map((part) =>
      part.kind === "text" ? { ...part, text: part.text.replaceAll(/\d{16}/g, "(a card)") } : part,
    ),
  }));
}

// #region watch
const watched = defineAgent({
  model,
  tools,
  observers: [narrateTo(process.stdout), openTelemetry(), (event) => metrics.count(event.type)],
});
const guarded = watched.with({
  hooks: {
    beforeReply: (request) => ({ ...request, transcript: redact(request.transcript) }),
  },
});
// #endregion

await guarded.run("My card is 4111111111111111. What do I wear in Oslo?").result;
console.log(
  counts.get("run_started"),
  counts.get("tool_execution_finished"),
  counts.get("run_finished"),
);
