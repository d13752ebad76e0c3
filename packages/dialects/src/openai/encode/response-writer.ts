import {
  approvalRequest,
  functionCall,
  outputText,
  partItem,
  serverCall,
} from "./response-items.ts";
import type { OutputItem } from "./response-items.ts";
import type { ResponseJson } from "./response-json.ts";
import type { CallResult, RunCall, RunEvent, TextPart } from "./run-events.ts";
import { errorNumberAfter, markAfter, noMark, numberOf, placeOf } from "./sequence-number.ts";
import type { ReaderPlace } from "./sequence-number.ts";

/** An event of a response's stream. */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [name: string]: unknown;
}

/**
 * Writes a segment as events, and holds the output so far. A position counts the events before it and the
 * characters of the texts before it. So it says exactly what a reader has, whatever the pieces were in which a
 * text reached it, and a reader that comes back is sent the rest to the letter. The number of an event also
 * marks the attempts that wrote what is before it. A reader whose mark is another one at its own position has
 * read what is no longer there: it is sent nothing.
 */
export class ResponseWriter {
  /** What a reader has: events up to this position are not written. */
  readonly #after: ReaderPlace;
  readonly #output: OutputItem[] = [];
  /** The places of items that are not done. */
  readonly #places = new Map<string, number>();
  readonly #attempts = new Set<number>();
  /** The number of the last event that the reader has. */
  #last: number;
  #position = 0;
  #mark = noMark;
  #base: "unknown" | "reached" | "stale" = "unknown";
  #events: ResponseEvent[] = [];

  /** `after`: the number of the last event that the reader has. 0: none. */
  constructor(after: number) {
    this.#last = after;
    this.#after = placeOf(after);
    if (after === 0) this.#base = "reached";
  }

  get output(): readonly OutputItem[] {
    return this.#output;
  }

  /**
   * Where the reader stands: `unknown` until the response has got as far. `stale`: at its position, the
   * response has something else than what the reader was sent.
   */
  get base(): "unknown" | "reached" | "stale" {
    return this.#base;
  }

  /** Whether what this attempt is about to write can be what the reader was sent last. */
  isAfter(attempt: number): boolean {
    return this.#markWith(attempt) === this.#after.mark;
  }

  /** The events that were written since the last call. */
  taken(): readonly ResponseEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** An event about the whole response. */
  writeResponse(type: string, response: ResponseJson): void {
    this.#write(type, { response });
  }

  /** The last event of a stream that could not be written to its end. Every reader gets it. */
  writeError(code: string, message: string): void {
    this.#last = errorNumberAfter(this.#last);
    this.#events.push({ type: "error", sequence_number: this.#last, code, message, param: null });
  }

  write(event: RunEvent): void {
    const { by } = "part" in event ? event.part : "call" in event ? event.call : { by: undefined };
    if (by !== undefined) {
      this.#mark = this.#markWith(by);
      this.#attempts.add(by);
    }
    switch (event.type) {
      case "part_begun":
        return this.#beginPart(event.part);
      case "part_grown":
        return this.#growPart(event.part, event.text);
      case "part_ended":
        return this.#endPart(event.part, event.text);
      case "asked_client":
        return this.#writeFunctionCall(event.call);
      case "asked_person": {
        const item = approvalRequest(event.call, event.approvalId);
        this.#add(item);
        return this.#done(item);
      }
      case "call_begun":
        return this.#beginCall(event.call);
      case "call_ended":
        return this.#endCall(event.call, event.result);
      case "started":
      case "broken":
        return;
      default:
        event satisfies never;
    }
  }

  #beginPart(part: TextPart): void {
    const item = partItem(part, "in_progress");
    const place = this.#add(item);
    if (part.kind === "text")
      this.#write("response.content_part.added", {
        ...place,
        content_index: 0,
        part: outputText(""),
      });
    else
      this.#write("response.reasoning_summary_part.added", {
        ...place,
        summary_index: 0,
        part: { type: "summary_text", text: "" },
      });
  }

  #growPart(part: TextPart, text: string): void {
    const place = this.#positionOf(partItem(part, "in_progress").id);
    if (part.kind === "text")
      this.#grow("response.output_text.delta", text, { ...place, content_index: 0, logprobs: [] });
    else this.#grow("response.reasoning_summary_text.delta", text, { ...place, summary_index: 0 });
  }

  #endPart(part: TextPart, text: string): void {
    const item = partItem(part, "completed", text);
    const place = this.#positionOf(item.id);
    if (part.kind === "text") {
      const at = { ...place, content_index: 0 };
      this.#write("response.output_text.done", { ...at, text, logprobs: [] });
      this.#write("response.content_part.done", { ...at, part: outputText(text) });
    } else {
      const at = { ...place, summary_index: 0 };
      this.#write("response.reasoning_summary_text.done", { ...at, text });
      this.#write("response.reasoning_summary_part.done", {
        ...at,
        part: { type: "summary_text", text },
      });
    }
    this.#done(item);
  }

  #writeFunctionCall(call: RunCall): void {
    const item = functionCall(call, false);
    const place = this.#add(functionCall(call, true));
    const given = { ...place, name: call.tool, arguments: call.input };
    this.#grow("response.function_call_arguments.delta", call.input, place);
    this.#write("response.function_call_arguments.done", given);
    this.#done(item);
  }

  #beginCall(call: RunCall): void {
    const place = this.#add(serverCall(call, "empty"));
    this.#write("response.mcp_call.in_progress", place);
    this.#grow("response.mcp_call_arguments.delta", call.input, place);
    this.#write("response.mcp_call_arguments.done", { ...place, arguments: call.input });
  }

  #endCall(call: RunCall, result: CallResult | undefined): void {
    const item = serverCall(call, "ended", result);
    const place = this.#positionOf(item.id);
    const end = result?.status === "ok" ? "completed" : "failed";
    if (result !== undefined) this.#write(`response.mcp_call.${end}`, place);
    this.#done(item);
  }

  #add(item: OutputItem): ItemPosition {
    const at = this.#output.push(item) - 1;
    this.#places.set(item.id, at);
    this.#write("response.output_item.added", { output_index: at, item });
    return { item_id: item.id, output_index: at };
  }

  #done(item: OutputItem): void {
    const { output_index: at } = this.#positionOf(item.id);
    this.#output[at] = item;
    this.#places.delete(item.id);
    this.#write("response.output_item.done", { output_index: at, item });
  }

  #positionOf(id: string): ItemPosition {
    return { item_id: id, output_index: this.#places.get(id) ?? -1 };
  }

  #markWith(attempt: number): number {
    return this.#attempts.has(attempt) ? this.#mark : markAfter(this.#mark, attempt);
  }

  #write(type: string, fields: object): void {
    this.#advance(1);
    if (this.#base === "reached" && this.#position > this.#after.position) this.#push(type, fields);
  }

  /** A piece of a text. Its number is that of its last character. */
  #grow(type: string, text: string, fields: object): void {
    if (text === "") return;
    const first = this.#position + 1;
    this.#advance(text.length);
    if (this.#base !== "reached" || this.#position <= this.#after.position) return;
    const known = Math.max(0, this.#after.position - first + 1);
    // No number that was given out is inside a character.
    const from = isLow(text.charCodeAt(known)) && known > 0 ? known - 1 : known;
    this.#push(type, { ...fields, delta: text.slice(from) });
  }

  #push(type: string, fields: object): void {
    this.#last = numberOf({ position: this.#position, mark: this.#mark });
    this.#events.push({ type, sequence_number: this.#last, ...fields });
  }

  /** Counts, and finds out at the reader's position whether it is at the same place of the same attempts. */
  #advance(size: number): void {
    const before = this.#position;
    this.#position += size;
    const { position, mark } = this.#after;
    if (this.#base !== "unknown" || this.#position < position) return;
    this.#base = before < position && this.#mark === mark ? "reached" : "stale";
  }
}

interface ItemPosition {
  readonly item_id: string;
  readonly output_index: number;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** An event as the stream has it. */
export function eventText(event: ResponseEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
