import type { ResponseEvent } from "../../../packages/dialects/src/openai/encode/response-writer.ts";
import type { Random } from "../../kit/random.ts";
import { liveCompletion, storedCompletion } from "./completions.ts";
import { liveEvents, storedResponse } from "./responses.ts";
import { startOf } from "./segments.ts";
import type { WatchedSegment } from "./segments.ts";
import type { WatchedRun, WatchedSession } from "./sessions.ts";

/** What a reader holds of a response by each of the vendor's ways to read it. */
interface HeldTexts {
  /** Of the deltas, by `output_index`. */
  readonly deltas: readonly string[];
  /** Of the events that carry a text whole. */
  readonly done: readonly string[];
  /** Of the response in the last event. */
  readonly output: readonly string[];
}

/** What a reader went through on its way. */
export interface CutReading {
  readonly cuts: number;
  readonly anew: number;
  readonly spliced: number;
}

/** One that reads. `isSpliced` is asked of all that it shows. */
export interface CutReader {
  readonly session: WatchedSession;
  readonly run: WatchedRun;
  readonly random: Random;
  readonly isSpliced: (text: string) => boolean;
}

/** Where a reader that was cut at a place comes back: at once, later, or after the end. */
function placeAfter(random: Random, cut: number, last: number): number {
  const later = cut + random.below(last + 2 - cut);
  return random.pick([cut, later, later, last + 1]);
}

/** A reader of Responses that is cut up to three times, and goes on with `starting_after`. */
export function readCutResponse(
  { session, run, random, isSpliced }: CutReader,
  watched: WatchedSegment,
): CutReading & { readonly held: HeldTexts; readonly stored: HeldTexts } {
  const count = { cuts: 0, anew: 0, spliced: 0 };
  let held = new HeldResponse();
  let place = startOf(session, run, watched);
  for (let cutsLeft = random.below(4); ; cutsLeft -= 1) {
    const isCut = cutsLeft > 0;
    const until = isCut ? place + random.below(run.last + 2 - place) : run.last + 1;
    const lag = Math.min(random.pick([0, 0, random.below(4)]), place);
    const hasSnapshot = random.chance(0.2);
    const way = { from: place, until, after: held.last, lag, hasSnapshot };
    const sent = liveEvents(session, run, watched, way);
    for (const event of isCut ? sent.slice(0, random.below(sent.length + 1)) : sent)
      held.take(event);
    const { deltas, done, output } = held.texts;
    if ([deltas, done, output].some((texts) => isSpliced(texts.join("")))) count.spliced += 1;
    if (held.error === undefined && !isCut) break;
    count.cuts += isCut ? 1 : 0;
    if (held.error === "begun_again") {
      held = new HeldResponse();
      count.anew += 1;
    } else if (held.error !== undefined) held.error = undefined;
    place = isCut ? placeAfter(random, until, run.last) : run.last + 1;
  }
  const all = new HeldResponse();
  for (const event of storedResponse(watched).events) all.take(event);
  return { ...count, held: held.texts, stored: all.texts };
}

/** What a reader holds of a response: its texts by their place in the output, whatever the items' ids are. */
export class HeldResponse {
  readonly #deltas = new Map<unknown, string>();
  readonly #done = new Map<unknown, string>();
  #output: readonly string[] = [];
  last: number | undefined;
  error: unknown;

  take(event: ResponseEvent): void {
    const { type, output_index: at, delta, text, response } = event;
    this.last = event.sequence_number;
    if (type === "error") this.error = event["code"];
    if (/^response\.(?:output_text|reasoning_summary_text)\.delta$/.test(type))
      this.#deltas.set(at, (this.#deltas.get(at) ?? "") + String(delta));
    if (/^response\.(?:output_text|reasoning_summary_text)\.done$/.test(type))
      this.#done.set(at, String(text));
    if (/^response\.(?:completed|failed|incomplete)$/.test(type))
      this.#output = outputTexts(response);
  }

  get texts(): HeldTexts {
    const [deltas, done] = [[...this.#deltas.values()], [...this.#done.values()]];
    return { deltas, done, output: this.#output };
  }
}

function outputTexts(response: unknown): readonly string[] {
  const { output } = response as { readonly output: readonly HeldItem[] }; // as the encoder makes it
  return output.flatMap(({ content, summary }) =>
    [...(content ?? []), ...(summary ?? [])].map(({ text }) => text),
  );
}

interface HeldItem {
  readonly content?: readonly { readonly text: string }[];
  readonly summary?: readonly { readonly text: string }[];
}

/** A reader of chat completions that is cut, and sends its request again: each answer is a message of its own. */
export function readCutCompletion(
  { session, run, random, isSpliced }: CutReader,
  watched: WatchedSegment,
): CutReading & { readonly held: string; readonly stored: string } {
  const count = { cuts: 0, anew: 0, spliced: 0 };
  const read = (place: number, isCut: boolean): HeldCompletion => {
    const stream = liveCompletion(session, run, watched, place).split("\n\n");
    const held = heldIn(isCut ? stream.slice(0, random.below(stream.length + 1)) : stream);
    count.spliced += isSpliced(held.text) ? 1 : 0;
    count.cuts += isCut ? 1 : 0;
    count.anew += held.error === "begun_again" ? 1 : 0;
    return held;
  };
  const start = startOf(session, run, watched);
  read(start, true);
  let held = read(placeAfter(random, start, run.last), false);
  if (held.error === "begun_again") held = read(run.last + 1, false);
  const stored = heldIn(storedCompletion(watched).stream.split("\n\n"));
  return { ...count, held: held.text, stored: stored.text };
}

function shown({ content, reasoning_content: reasoning }: Shown): string {
  return `${reasoning ?? ""}|${content ?? ""}`;
}

interface Shown {
  readonly content?: string | null;
  readonly reasoning_content?: string;
}

interface HeldCompletion {
  readonly text: string;
  readonly error: string | undefined;
}

function heldIn(events: readonly string[]): HeldCompletion {
  let [content, reasoning] = ["", ""];
  let code: string | undefined;
  for (const event of events) {
    if (!event.startsWith("data: {")) continue;
    const { choices = [], error } = JSON.parse(event.slice(6)) as Chunk; // as the encoder makes it
    code = error?.code ?? code;
    content += choices[0]?.delta.content ?? "";
    reasoning += choices[0]?.delta.reasoning_content ?? "";
  }
  return { text: shown({ content, reasoning_content: reasoning }), error: code };
}

interface Chunk {
  readonly choices?: readonly { readonly delta: Shown }[];
  readonly error?: { readonly code: string };
}
