import { decodeBase64 } from "@millrace/core/json";
import type { Json, JsonObject, PartId, ResultStatus } from "@millrace/core";
import { messageOf } from "./cause.ts";
import type { CallIds } from "./call-ids.ts";
import type { Closing, PartWriter } from "./part-writer.ts";
import { fieldsOf, plain, plainObject, textOr } from "./read.ts";
import type { Fields } from "./read.ts";
import { closeRunCall, closingOf } from "./tool-call.ts";

interface OpenPart {
  readonly id: PartId;
  /**
   * Provider metadata merged from all events of the part. The signature arrives last, in an event
   * of its own.
   */
  metadata: JsonObject | undefined;
}

interface OpenCall extends OpenPart {
  /** True if the input deltas are plain text instead of JSON. Such deltas are not streamed. */
  readonly isText: boolean;
}

/**
 * Turns the content of one AI SDK stream into parts. Reads the stream of a model (`doStream`) and
 * that of a step of `streamText`, which differ in a few names. Ids of the SDK are unique within one
 * stream only.
 */
export class AiSdkContent {
  readonly #writer: PartWriter;
  readonly #callIds: CallIds;
  readonly #open = new Map<string, OpenPart>();
  readonly #calls = new Map<string, OpenCall>();
  /**
   * The last call, if its arguments are empty. Held back because only the finish reason shows
   * whether the arguments were cut off.
   */
  #held: (Closing & { readonly id: PartId }) | undefined;
  #callCount = 0;
  /** True for `streamText`, which gives arguments as a value and has run the tools. */
  readonly #isRun: boolean;

  constructor(writer: PartWriter, callIds: CallIds, isRun: boolean) {
    this.#writer = writer;
    this.#callIds = callIds;
    this.#isRun = isRun;
  }

  /** The number of calls that the provider does not run itself. */
  get calls(): number {
    return this.#callCount;
  }

  /** Reads one stream part. Returns false for a type that this version does not know. */
  take(part: Fields): boolean {
    const type = textOr(part["type"], "");
    switch (type) {
      case "text-start":
      case "text-delta":
      case "text-end":
        this.#block("text", type, part);
        return true;
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.#block("reasoning", type, part);
        return true;
      case "tool-input-start":
        if (part["providerExecuted"] !== true) this.#beginCall(textOr(part["id"], ""), part);
        return true;
      case "tool-input-delta":
      case "tool-input-end":
        this.#continueCall(part);
        return true;
      case "tool-call":
        this.#call(part);
        return true;
      case "tool-result":
      case "tool-error":
      case "tool-output-denied":
        this.#result(type, part);
        return true;
      case "file":
        this.#file(part);
        return true;
      case "custom":
        // Repeats the response metadata. The model did not write it.
        if (part["kind"] === "anthropic.message_start") return true;
        this.#custom(textOr(part["kind"], type).toWellFormed(), part);
        return true;
      case "reasoning-file":
      case "source":
      case "tool-approval-request":
      case "tool-approval-response":
        this.#custom(type, part);
        return true;
      default:
        return typesWithoutContent.has(type);
    }
  }

  /** Closes the parts that are still open. `isShort`: a limit stopped the reply. */
  end(isShort: boolean): void {
    for (const [key, open] of this.#open) this.#closeBlock(key, open);
    this.#release(isShort);
    this.#writer.closeRest();
  }

  #block(kind: "text" | "reasoning", type: string, part: Fields): void {
    const key = `${kind} ${textOr(part["id"], "")}`;
    let open = this.#open.get(key);
    if (open !== undefined && type === `${kind}-start`) {
      this.#closeBlock(key, open);
      open = undefined;
    }
    if (open === undefined) {
      if (type === `${kind}-end`) return;
      open = { id: this.#begin({ kind }), metadata: undefined };
      this.#open.set(key, open);
    }
    this.#note(open, part);
    const chunk = part["delta"] ?? part["text"];
    if (typeof chunk === "string" && chunk !== "") this.#writer.append(open.id, chunk);
    if (type === `${kind}-end`) this.#closeBlock(key, open, part["citations"]);
  }

  #closeBlock(key: string, { id, metadata }: OpenPart, cited?: unknown): void {
    this.#open.delete(key);
    if (key.startsWith("reasoning ")) {
      // `opaque` is always set: reasoning without it is not sent back, and some models require the
      // reasoning.
      this.#writer.close(id, { opaque: metadata ?? {} });
      return;
    }
    const citations = Array.isArray(cited) && cited.length > 0 ? plain(cited) : undefined;
    if (metadata !== undefined || citations !== undefined) {
      this.#writer.metadata(id, {
        ...(metadata === undefined ? {} : { providerMetadata: metadata }),
        ...(citations === undefined ? {} : { citations }),
      });
    }
    this.#writer.close(id);
  }

  #beginCall(given: string, part: Fields): OpenCall {
    const tool = textOr(part["toolName"], "").toWellFormed();
    const id = this.#begin({ kind: "tool_call", callId: this.#callIds.choose(given), tool });
    const call = { id, metadata: undefined, isText: part["inputEncoding"] === "text" };
    this.#calls.set(given, call);
    this.#callCount += 1;
    this.#note(call, part);
    return call;
  }

  #continueCall(part: Fields): void {
    const call = this.#calls.get(textOr(part["id"], ""));
    if (call === undefined) return;
    this.#note(call, part);
    const chunk = part["delta"];
    if (typeof chunk === "string" && !call.isText) this.#writer.append(call.id, chunk);
  }

  #call(part: Fields): void {
    if (part["providerExecuted"] === true) {
      this.#custom("tool-call", part);
      return;
    }
    const given = textOr(part["toolCallId"], "");
    const call = this.#calls.get(given) ?? this.#beginCall(given, part);
    this.#calls.delete(given);
    this.#note(call, part);
    const { id, metadata } = call;
    if (this.#isRun) {
      closeRunCall(this.#writer, id, part["input"], metadata);
      return;
    }
    const streamed = this.#writer.streamed(id);
    const opaque = metadata === undefined ? {} : { opaque: metadata };
    const closing = { ...closingOf(streamed, textOr(part["input"], "")), ...opaque };
    if (streamed.trim() === "" && isEmpty(part["input"])) this.#held = { id, ...closing };
    else this.#writer.close(id, closing);
  }

  #result(type: string, part: Fields): void {
    if (part["preliminary"] === true) return;
    // In a model's own stream every result comes from the provider.
    if (part["providerExecuted"] === true || !this.#isRun) {
      this.#custom(type, part);
      return;
    }
    const callId = this.#callIds.answered(textOr(part["toolCallId"], ""));
    const tool = textOr(part["toolName"], "").toWellFormed();
    const id = this.#begin({ kind: "tool_result", callId, tool });
    if (type === "tool-error") this.#writer.append(id, messageOf(part["error"]));
    const output = type === "tool-result" ? plain(part["output"]) : undefined;
    if (type === "tool-result" && output === undefined && part["output"] !== undefined) {
      this.#writer.append(id, "(the result is not plain data)");
    }
    const status = statusOf[type] ?? "ok";
    this.#writer.close(id, { status, ...(output === undefined ? {} : { output }) });
  }

  #file(part: Fields): void {
    const file = fieldsOf(part["file"] ?? part);
    const mediaType = textOr(file["mediaType"], "application/octet-stream").toWellFormed();
    const data = file["uint8Array"] ?? fieldsOf(file["data"])["data"] ?? file["data"];
    const url = fieldsOf(file["data"])["url"];
    const bytes = typeof data === "string" ? decodeBase64(data) : data;
    if (!(bytes instanceof Uint8Array) && !(url instanceof URL)) {
      this.#custom("file", part);
      return;
    }
    const id = this.#begin(
      /^(?:image|audio|video)\//.test(mediaType)
        ? { kind: "media", mediaType }
        : { kind: "file", name: "file", mediaType },
    );
    const providerMetadata = plainObject(part["providerMetadata"]);
    if (providerMetadata !== undefined) this.#writer.metadata(id, { providerMetadata });
    if (bytes instanceof Uint8Array) this.#writer.bytes(id, bytes);
    this.#writer.close(id, url instanceof URL ? { url: url.href } : {});
  }

  #custom(name: string, part: Fields): void {
    this.#release(false);
    this.#writer.custom(name, plain(part) ?? null);
  }

  #begin(opening: Parameters<PartWriter["begin"]>[0]): PartId {
    this.#release(false);
    return this.#writer.begin(opening);
  }

  #release(isShort: boolean): void {
    if (this.#held === undefined) return;
    const { id, ...closing } = this.#held;
    this.#held = undefined;
    this.#writer.close(id, isShort ? { fault: { code: "truncated" } } : closing);
  }

  /** Merges the provider metadata of one event, key by key: each event carries only new values. */
  #note(open: OpenPart, part: Fields): void {
    const fresh = plainObject(part["providerMetadata"]);
    if (fresh === undefined) return;
    const merged: Record<string, Json> = { ...open.metadata };
    for (const [provider, facts] of Object.entries(fresh)) {
      merged[provider] = { ...plainObject(merged[provider]), ...plainObject(facts) };
    }
    open.metadata = merged;
  }
}

/** Part types that carry no content. */
const typesWithoutContent: ReadonlySet<string> = new Set([
  "start",
  "start-step",
  "stream-start",
  "response-metadata",
  "ping",
  "raw",
]);

const statusOf: Readonly<Record<string, ResultStatus>> = {
  "tool-error": "failed",
  "tool-output-denied": "denied",
};

function isEmpty(input: unknown): boolean {
  return typeof input !== "string" || /^\s*(?:\{\s*\})?\s*$/.test(input);
}
