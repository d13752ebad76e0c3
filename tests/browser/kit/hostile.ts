import { readFileSync } from "node:fs";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Model, Part, PartId } from "@millrace/core";
import { call, say, scriptedModel, think } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { z } from "zod";

/** A text of the corpus, as `corpus/hostile.json` has it: whole, or a unit and how often it is repeated. */
type Entry =
  | { readonly row: string; readonly text: string }
  | { readonly row: string; readonly unit: string; readonly times: number };

const entries = JSON.parse(
  readFileSync(new URL("../corpus/hostile.json", import.meta.url), "utf8"),
) as readonly Entry[]; // written by hand

const textOf = (entry: Entry): string =>
  "text" in entry ? entry.text : entry.unit.repeat(entry.times);

/** All texts. */
export const hostileTexts: readonly string[] = entries.map(textOf).filter((text) => text !== "");

/** Those that are short enough to be in every place at once. */
export const shortTexts: readonly string[] = hostileTexts.filter((text) => text.length < 2_000);

/** Ask for the hostile replies: parts that the page does not know, and all others. The rest is answered with `ok`. */
export const [othersPrompt, goPrompt] = ["others", "go"] as const;

/** Texts for every place, and those of them that are short. */
interface HostileTexts {
  readonly all: readonly string[];
  readonly short: readonly string[];
}

/**
 * An agent whose model, tools and questions are of the corpus, or of other texts, with the names of the
 * example's tools.
 */
export function hostileAgent(
  texts: HostileTexts = { all: hostileTexts, short: shortTexts },
): Agent {
  const input = z.object({ city: z.string() });
  const weather = defineTool({
    name: "weather",
    input,
    effect: "pure",
    run: ({ city }, { progress }) => {
      progress({ message: city });
      if (city.startsWith("fail ")) throw new Error(city.slice("fail ".length));
      return { city, celsius: 4, sky: city };
    },
  });
  const book = defineTool({
    name: "book",
    input,
    approve: () => "ask",
    run: () => ({ reference: "", nights: 1 }),
  });
  const model: Model = {
    id: "hostile",
    stream: (request) =>
      scriptedModel([({ transcript }) => replyTo(transcript, texts)], { chunk: [1_000] }).stream(
        request,
      ),
  };
  const limits = { repeats: 10_000, turns: 100 };
  return defineAgent({ name: "hostile", model, tools: [weather, book], limits });
}

function replyTo(
  transcript: Parameters<Model["stream"]>[0]["transcript"],
  { all, short }: HostileTexts,
): readonly ScriptedPart[] {
  const [part] = transcript.at(-1)?.parts ?? [];
  if (part?.kind !== "text") return [say("ok")];
  if (part.text === othersPrompt) return short.flatMap((text, at) => otherParts(text, at));
  if (part.text !== goPrompt) return [say("ok")];
  return [
    ...all.map((text) => say(text)),
    ...all.map((text) => think(text)),
    ...short.map((text) => call("weather", { city: text })),
    ...short.map((text) => call("weather", { city: `fail ${text}` })),
    ...short.map((text) => call("book", { city: text })),
    call("<img src=x onerror=tripwire()>", {}),
  ];
}

/** Parts that the page has no rendering for. */
function otherParts(text: string, at: number): readonly ScriptedPart[] {
  const id = (kind: string): PartId => `${kind}-${at}` as PartId; // unique in the reply
  const url = "http://evil.example:9/picture";
  const parts: readonly Part[] = [
    { kind: "custom", id: id("custom"), name: text, value: { html: text } },
    { kind: "structured", id: id("structured"), value: { html: text } },
    { kind: "file", id: id("file"), name: text, mediaType: "text/html", url },
    { kind: "media", id: id("media"), mediaType: "image/svg+xml", url },
  ];
  return [{ deltas: parts.map((part) => ({ op: "commit_part", partId: part.id, part })) }];
}

/** How many of them there are for each short text. */
export const othersOfEach = 4;
