// A guide with three tools: one that takes its time, one that asks, and one that the page runs. Its model plays a
// script, so no key is needed; put a real one in its place, and the rest stays as it is.
import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { call, say, scriptedModel, think } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "The weather of a city, today",
  input: z.object({ city: z.string() }),
  effect: "pure",
  run: async ({ city }, { progress, signal }) => {
    progress({ message: `asking the station of ${city}` });
    await sleep(500, undefined, { signal });
    return { city, celsius: 4, sky: "light rain" };
  },
});

const book = defineTool({
  name: "book",
  description: "Books a room and pays for it",
  input: z.object({ hotel: z.string(), euros: z.int() }),
  approve: () => "ask",
  run: ({ hotel }) => ({ reference: "OSL-4711", hotel }),
});

const place = defineTool({
  name: "place",
  description: "Where the person is, by their own word",
  input: z.object({}),
  output: z.object({ city: z.string() }),
  run: "client",
});

const trip = `Oslo in two days, without a car. Begin at the opera, whose roof is a square that slopes into the fjord: go up early, before the buses come. From there it is ten minutes on foot to the Munch museum, thirteen floors of one painter.

In the afternoon take the tram to Frogner. The park is open all night and costs nothing. Eat where the trams turn, at Grünerløkka.`;

function replyTo({ transcript }: Parameters<Model["stream"]>[0]): readonly ScriptedPart[] {
  const parts = transcript.at(-1)?.parts ?? [];
  const result = parts.find((part) => part.kind === "tool_result");
  if (result !== undefined) {
    if (result.status !== "ok") return [say("Then I leave it. Nothing was done.")];
    if (result.tool === "book") return [say("It is booked. The reference is OSL-4711.")];
    if (result.tool === "place") return [say("Then you are there already. Take the tram.")];
    return [say("Four degrees and light rain: take a raincoat.")];
  }
  const text = parts.map((part) => (part.kind === "text" ? part.text : "")).join(" ");
  if (/book|room/i.test(text))
    return [say("This one is near the station."), call("book", { hotel: "Grand", euros: 318 })];
  if (/where/i.test(text)) return [call("place", {})];
  if (/weather|pack/i.test(text))
    return [
      think("They ask about clothes, so I need the weather."),
      call("weather", { city: "Oslo" }),
    ];
  return [say(trip)];
}

/** Plays the script, at the pace of a real model unless another one is given. */
export function guideModel(delayMs = 25): Model {
  const options = { delayMs, chunk: [3, 6, 2, 5] };
  return {
    id: "scripted/guide",
    stream: (request) => scriptedModel([replyTo], options).stream(request),
  };
}

/** The guide, with a model. */
export function guideWith(model: Model): Agent {
  return defineAgent({ name: "guide", model, tools: [weather, book, place] });
}
