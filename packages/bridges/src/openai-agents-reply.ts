import type { Json, PartId } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import { failure } from "@millrace/providers/protocol-kit";
import type { CallIds } from "./call-ids.ts";
import { cutBy } from "./cause.ts";
import type { PartWriter } from "./part-writer.ts";
import { fieldsOf, listOf, plain, textOr } from "./read.ts";
import type { Fields } from "./read.ts";
import { closingOf } from "./tool-call.ts";

interface LiveCall {
  given: string;
  name: string;
  id: PartId | undefined;
  /** Arguments that are not streamed yet. */
  held: string;
  isUnderWay: boolean;
}

/**
 * One reply of a model, as the Agents SDK streams it. Text has events of the SDK; calls and
 * reasoning appear only in the vendor's raw events. The final response is authoritative; streamed
 * deltas only show it earlier.
 */
export class AgentsReply {
  readonly #writer: PartWriter;
  readonly #callIds: CallIds;
  /** Text parts by item id and content index. */
  readonly #texts = new Map<string, PartId>();
  readonly #calls = new Map<string, LiveCall>();
  #reasoning: PartId | undefined;
  #wasThought = false;
  #model: string | undefined;
  /** The vendor's finish reason, once it has arrived. */
  #reason: string | undefined;
  #speaksChat = false;

  constructor(writer: PartWriter, callIds: CallIds) {
    this.#writer = writer;
    this.#callIds = callIds;
  }

  get model(): string | undefined {
    return this.#model;
  }

  take(data: Fields): void {
    switch (data["type"]) {
      case "output_text_delta":
        this.#text(data);
        return;
      case "model":
        this.#raw(fieldsOf(data["event"]));
        return;
      default:
        return;
    }
  }

  /**
   * True if the vendor reported that a limit stopped the reply. The SDK turns that into an error.
   */
  get isShort(): boolean {
    return this.#reason === "length" || this.#reason === "content_filter";
  }

  /** Reads the final response, closes all parts and returns the ending. */
  end(response: Fields): Ending {
    const output = listOf(response["output"]).map(fieldsOf);
    for (const item of output) this.#whole(item);
    // A call that was streamed but is not in the final response does not count.
    this.#writer.closeRest();
    const facts = fieldsOf(response["providerData"]);
    this.#model ??= typeof facts["model"] === "string" ? facts["model"] : undefined;
    const id = plain(response["id"]);
    const calls = output.some(({ type }) => type === "function_call");
    return this.#ending(calls, id === undefined ? {} : { id });
  }

  #ending(calls: boolean, facts: Readonly<Record<string, Json>>): Ending {
    const reason = this.#reason;
    const evidence = { ...facts, ...(reason === undefined ? {} : { finishReason: reason }) };
    if (reason === "length") return { stop: "length", evidence };
    if (reason === "content_filter") return { stop: "filtered", evidence };
    // The SDK treats the end of the bytes as the end of the reply, so a finish reason is required
    // here.
    if (this.#speaksChat && reason === undefined) {
      return cutBy(failure("truncated", "nothing said that the reply was whole", evidence));
    }
    if (reason !== undefined && !whole.has(reason)) {
      const message = `no version of this bridge knows the finish reason ${reason}`;
      return cutBy(failure("unknown_stop", message, evidence));
    }
    return { stop: calls ? "tools" : "end", evidence };
  }

  #text(data: Fields): void {
    const place = fieldsOf(data["providerData"])["content_index"];
    const key = textKey(textOr(data["itemId"], ""), typeof place === "number" ? place : 0);
    let id = this.#texts.get(key);
    if (id === undefined) {
      this.#endReasoning();
      id = this.#writer.begin({ kind: "text" });
      this.#texts.set(key, id);
    }
    this.#writer.append(id, textOr(data["delta"], ""));
  }

  #raw(event: Fields): void {
    switch (event["type"]) {
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#think(event["delta"]);
        return;
      case "response.output_item.added": {
        const item = fieldsOf(event["item"]);
        if (item["type"] !== "function_call") return;
        const call = this.#callAt(event["output_index"]);
        call.given = textOr(item["call_id"], "");
        call.name = textOr(item["name"], "");
        this.#begin(call);
        return;
      }
      case "response.function_call_arguments.delta":
        this.#argue(this.#callAt(event["output_index"]), event["delta"]);
        return;
      case "response.incomplete": {
        const details = fieldsOf(fieldsOf(event["response"])["incomplete_details"]);
        const reason = textOr(details["reason"], "incomplete");
        this.#reason = reason === "max_output_tokens" ? "length" : reason;
        return;
      }
      default:
        if (Array.isArray(event["choices"])) this.#chat(event);
    }
  }

  #chat(chunk: Fields): void {
    this.#speaksChat = true;
    if (typeof chunk["model"] === "string") this.#model ??= chunk["model"];
    const choice = listOf(chunk["choices"])
      .map(fieldsOf)
      .find(({ index }) => index === 0 || index === undefined);
    if (choice === undefined) return;
    if (typeof choice["finish_reason"] === "string") this.#reason = choice["finish_reason"];
    const delta = fieldsOf(choice["delta"]);
    this.#think(delta["reasoning"]);
    for (const [at, piece] of listOf(delta["tool_calls"]).map(fieldsOf).entries()) {
      if (piece["type"] === "custom") continue;
      const call = this.#callAt(piece["index"] ?? at);
      const { name, arguments: text } = fieldsOf(piece["function"]);
      if (call.given === "") call.given = textOr(piece["id"], "");
      if (call.id === undefined) call.name += textOr(name, "");
      this.#argue(call, text);
    }
  }

  #callAt(place: unknown): LiveCall {
    const key = String(place);
    let call = this.#calls.get(key);
    if (call === undefined) {
      call = newCall("", "");
      this.#calls.set(key, call);
    }
    return call;
  }

  #begin(call: LiveCall): void {
    if (call.id !== undefined || call.name === "") return;
    this.#endReasoning();
    const callId = this.#callIds.choose(call.given);
    call.id = this.#writer.begin({ kind: "tool_call", callId, tool: call.name.toWellFormed() });
  }

  #argue(call: LiveCall, text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    this.#begin(call);
    call.held += text;
    if (call.id === undefined) return;
    if (!call.isUnderWay) {
      // Some vendors send an empty object first, which the SDK removes again.
      if (call.held === "{" || call.held === "{}") return;
      if (call.held.startsWith("{}{")) call.held = call.held.slice(2);
      call.isUnderWay = true;
    }
    this.#writer.append(call.id, call.held);
    call.held = "";
  }

  #think(text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    this.#reasoning ??= this.#writer.begin({ kind: "reasoning" });
    this.#wasThought = true;
    this.#writer.append(this.#reasoning, text);
  }

  #endReasoning(): void {
    if (this.#reasoning !== undefined) this.#writer.close(this.#reasoning);
    this.#reasoning = undefined;
  }

  #whole(item: Fields): void {
    switch (item["type"] ?? "message") {
      case "message":
        this.#message(item);
        return;
      case "function_call":
        this.#wholeCall(item);
        return;
      case "reasoning":
        this.#wholeReasoning(item);
        return;
      default:
        // A tool that the vendor ran, or that the SDK runs by other means than a function.
        this.#writer.custom(textOr(item["type"], "item"), plain(item) ?? null);
    }
  }

  #message(item: Fields): void {
    for (const [place, content] of listOf(item["content"]).map(fieldsOf).entries()) {
      const key = textKey(textOr(item["id"], ""), place);
      const isRefusal = content["type"] === "refusal";
      const text = content["text"] ?? content["refusal"];
      if (typeof text !== "string") {
        this.#writer.custom(textOr(content["type"], "content"), plain(content) ?? null);
        continue;
      }
      const streamed = [key, textKey("", place)].find((each) => this.#texts.has(each));
      const known = streamed === undefined || isRefusal ? undefined : this.#texts.get(streamed);
      if (known !== undefined) this.#texts.delete(streamed ?? "");
      const id = known ?? this.#writer.begin({ kind: "text" });
      if (isRefusal) this.#writer.metadata(id, { refusal: true });
      this.#writer.close(id, { whole: text });
    }
  }

  #wholeCall(item: Fields): void {
    const given = textOr(item["callId"], "");
    const entry = [...this.#calls].find(([, call]) => call.given === given);
    const call = entry?.[1] ?? newCall(given, textOr(item["name"], ""));
    if (entry !== undefined) this.#calls.delete(entry[0]);
    this.#begin(call);
    if (call.id === undefined) return;
    const closing = closingOf(this.#writer.streamed(call.id), textOr(item["arguments"], ""));
    const isShort = item["status"] === "incomplete" || this.#reason === "length";
    const isEmpty = textOr(item["arguments"], "").trim() === "";
    this.#writer.close(call.id, isShort && isEmpty ? { fault: { code: "truncated" } } : closing);
  }

  #wholeReasoning(item: Fields): void {
    if (this.#wasThought) return; // already streamed
    const pieces = [...listOf(item["content"]), ...listOf(item["rawContent"])].map(fieldsOf);
    const text = pieces.map((piece) => textOr(piece["text"], "")).join("\n\n");
    if (text === "") return;
    const id = this.#writer.begin({ kind: "reasoning" });
    this.#writer.append(id, text);
    this.#writer.close(id);
  }
}

/** Finish reasons of the chat API for a reply that the model ended itself. */
const whole: ReadonlySet<string> = new Set(["stop", "tool_calls", "function_call"]);

function newCall(given: string, name: string): LiveCall {
  return { given, name, id: undefined, held: "", isUnderWay: false };
}

function textKey(item: string, place: number): string {
  return `${place} ${item}`;
}
