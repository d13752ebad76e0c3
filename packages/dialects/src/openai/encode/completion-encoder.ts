import type { Fact } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import type { DialectStream, DialectEncoder } from "../../shared/encode/dialect-encoding.ts";
import { interruption } from "../../shared/encode/interruption.ts";
import { addDelta, completionUsage, finishReason } from "./completion-json.ts";
import type {
  CompletionChunk,
  CompletionDelta,
  CompletionJson,
  CompletionMessage,
  FinishReason,
} from "./completion-json.ts";
import { SegmentClock } from "./segment-clock.ts";
import { callNameOf, nameOf } from "./response-id.ts";
import { modelName } from "./response-json.ts";
import type { SegmentEnd } from "./response-json.ts";
import { asStored, RunEventBuilder } from "./run-event-builder.ts";
import type { FollowedSegment } from "./run-event-builder.ts";
import type { RunCall, RunEvent, TextPart } from "./run-events.ts";

/** One completion for one reader. */
export interface CompletionOptions {
  readonly segment: FollowedSegment;
  /** What is stored of the run, from the fact on that accepted its prompt. */
  readonly facts: readonly Fact[];
  /** Whether a last chunk says what was used. */
  readonly usage?: boolean | undefined;
}

/** The last event of each stream. */
const done = "data: [DONE]\n\n";

/** A segment of a run as one reader of a chat completion gets it. */
export class CompletionEncoder implements DialectEncoder {
  readonly #segment: FollowedSegment;
  readonly #id: string;
  readonly #builder: RunEventBuilder;
  readonly #clock: SegmentClock;
  readonly #usage: boolean;
  readonly #message: CompletionMessage = { role: "assistant", content: null, refusal: null };
  #events: string[] = [];
  #calls = 0;
  #isBegun = false;
  #end: SegmentEnd | undefined;
  #finish: FinishReason = "stop";

  constructor({ segment, facts, usage = false }: CompletionOptions) {
    this.#segment = segment;
    this.#id = nameOf("chatcmpl-", segment);
    this.#usage = usage;
    this.#builder = new RunEventBuilder(segment, facts);
    this.#clock = new SegmentClock(segment);
    for (const fact of asStored(facts)) this.#take(fact);
  }

  isOver = (): boolean => this.#builder.isOver;

  /** The text of the events since the last call, with those that a message adds. */
  encode(message?: Followed["message"]): string {
    if (message !== undefined) this.#take(message);
    const text = this.#events.join("");
    this.#events = [];
    return text;
  }

  /** How the segment ended, once it is over. */
  get end(): SegmentEnd | undefined {
    return this.#end;
  }

  json(): CompletionJson {
    const { usage } = this.#clock;
    const choice = { index: 0, message: this.#message, logprobs: null } as const;
    return {
      ...this.#head("chat.completion"),
      choices: [{ ...choice, finish_reason: this.#finish }],
      usage: completionUsage(usage),
    };
  }

  /** The last text of a stream, by why it ended. */
  endText(reason: string): string {
    if (reason !== "finished")
      this.#fail(reason, interruption(reason, "Send it again.", "session"));
    return this.encode() + done;
  }

  #head<Kind extends string>(
    object: Kind,
  ): Omit<CompletionChunk, "choices" | "object"> & { readonly object: Kind } {
    return { id: this.#id, object, created: this.#clock.created, model: modelName };
  }

  #take(message: Followed["message"]): void {
    if (this.isOver()) return;
    const { head } = this.#builder.state;
    const events = this.#builder.take(message);
    if ("n" in message && message.n > head) this.#clock.note(message);
    if (!this.#isBegun && this.#builder.state.head > this.#segment.from) {
      this.#isBegun = true;
      this.#send({ role: "assistant", content: "" });
    }
    for (const each of events) {
      if (each.type === "broken") return this.#break(each.why);
      this.#add(each);
    }
    if (this.isOver()) this.#close();
  }

  #add(event: RunEvent): void {
    switch (event.type) {
      case "part_begun":
        return this.#separate(event.part);
      case "part_grown":
        return this.#send(textDelta(event.part, event.text));
      case "asked_client":
        return this.#sendCall(event.call);
      case "asked_person":
        return this.#send({ refusal: question(event.call, this.#segment.sessionId) });
      case "started":
      case "part_ended":
      case "call_begun":
      case "call_ended":
      case "broken":
        return;
      default:
        event satisfies never;
    }
  }

  /** A run has several texts, and a completion one: a blank line stands between them. */
  #separate(part: TextPart): void {
    const { content, reasoning_content: reasoning } = this.#message;
    const before = part.kind === "text" ? content : reasoning;
    if (before !== null && before !== undefined && before !== "")
      this.#send(textDelta(part, "\n\n"));
  }

  #sendCall({ callId, tool, input }: RunCall): void {
    const index = this.#calls;
    this.#calls += 1;
    const { sessionId, runId, from } = this.#segment;
    const id = callNameOf({ sessionId, runId, from, callId });
    const named = { index, id, type: "function", function: { name: tool, arguments: "" } } as const;
    this.#send({ tool_calls: [named] });
    this.#send({ tool_calls: [{ index, function: { arguments: input } }] });
  }

  #close(): void {
    const end = this.#clock.end(this.#builder.state);
    this.#end = end;
    if (end.error !== null) return this.#fail(end.error.code, end.error.message);
    this.#finish = finishReason(end, this.#calls);
    this.#write({}, this.#finish);
    if (!this.#usage) return;
    const usage = completionUsage(this.#clock.usage);
    this.#push({ ...this.#head("chat.completion.chunk"), choices: [], usage });
  }

  #send(delta: CompletionDelta): void {
    addDelta(this.#message, delta);
    this.#write(delta, null);
  }

  #write(delta: CompletionDelta, finish: FinishReason | null): void {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finish } as const;
    const usage = this.#usage ? { usage: null } : {};
    this.#push({ ...this.#head("chat.completion.chunk"), choices: [choice], ...usage });
  }

  #push(chunk: CompletionChunk): void {
    this.#events.push(`data: ${JSON.stringify(chunk)}\n\n`);
  }

  #break(why: "again" | "behind"): void {
    if (why === "again") this.#fail("begun_again", begunAgain);
    else this.#fail(why, interruption(why, "Send it again.", "session"));
  }

  #fail(code: string, message: string): void {
    const error = { message, type: "server_error", code, param: null };
    this.#events.push(`data: ${JSON.stringify({ error })}\n\n`);
  }
}

const begunAgain = "This reply was begun again, and what you have of it is not what is stored.";

function textDelta({ kind }: TextPart, text: string): CompletionDelta {
  return kind === "text" ? { content: text } : { reasoning_content: text };
}

/** The format has no question: its reader gets a sentence that names who can answer it. */
function question({ tool, input }: RunCall, sessionId: string): string {
  return `${tool} waits for a person's decision about ${input}. It is decided at /v1/sessions/${encodeURIComponent(sessionId)}/approvals.`;
}

/** The stream of a completion that goes on. What is stored of it is sent with the first message. */
export function completionStream(options: CompletionOptions): DialectStream {
  let encoder: CompletionEncoder | undefined;
  const { segment, usage = false } = options;
  return {
    name: `openai chat ${segment.runId} ${segment.from} ${usage}`,
    open: () => (encoder = new CompletionEncoder(options)),
    end: (reason) => encoder?.endText(reason) ?? done,
  };
}
