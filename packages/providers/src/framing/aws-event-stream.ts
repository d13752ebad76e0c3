import { decodeBase64, isJsonObject, parseJsonText } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import { failure } from "../failure.ts";
import { preludeSize, readMessage, readPrelude } from "./aws-message.ts";
import type { AwsMessage, AwsPrelude } from "./aws-message.ts";
import type { Framed, Framer, Framing, VendorEvent } from "./framing.ts";
import { TemplateReader } from "./template.ts";

/** Bounds of the framing of AWS's event streams, and what a message holds. */
export interface AwsEventStreamOptions {
  /** The length limit of a message, in bytes. Default: 16 MiB. */
  readonly limit?: number | undefined;
  /**
   * `json`: the payload is the event, and a header has its name. `bytes`: the payload has the model's
   * own event in base64, as in `{"bytes":"…"}`.
   */
  readonly payload?: "json" | "bytes" | undefined;
}

/**
 * JSON in `application/vnd.amazon.eventstream`: messages with their lengths before them and with
 * checksums. An exception or an error of the service becomes an event `error`, in the form that
 * Anthropic has for it.
 */
export function awsEventStream({
  limit = 16 * 1024 * 1024,
  payload = "json",
}: AwsEventStreamOptions = {}): Framing<VendorEvent> {
  return {
    mediaType: "application/vnd.amazon.eventstream",
    open: () => new AwsFramer(limit, payload === "bytes"),
  };
}

class AwsFramer implements Framer<VendorEvent> {
  readonly #limit: number;
  readonly #isWrapped: boolean;
  readonly #templates = new TemplateReader();
  /** The beginning of a message. It grows as bytes come, whatever length the message claims. */
  #held: Uint8Array = new Uint8Array(1_024);
  #size = 0;
  /** Of the message that is held, once its first bytes are there. */
  #prelude: AwsPrelude | undefined;
  #state: "new" | "framed" | "closed" = "new";
  #reportedLossy = false;

  constructor(limit: number, isWrapped: boolean) {
    this.#limit = limit;
    this.#isWrapped = isWrapped;
  }

  feed(bytes: Uint8Array): readonly Framed<VendorEvent>[] {
    const framed: Framed<VendorEvent>[] = [];
    this.feedTo(bytes, (each) => void framed.push(each));
    return framed;
  }

  feedTo(bytes: Uint8Array, take: (framed: Framed<VendorEvent>) => void): void {
    // A body that begins with more than the limit is a text, such as an error page. The transport reports
    // it by what it says.
    const [first] = bytes;
    if (this.#state === "new" && first !== undefined) {
      this.#state = first > this.#limit >>> 24 ? "closed" : "framed";
    }
    let at = 0;
    while (at < bytes.length && this.#state === "framed") at = this.#advance(bytes, at, take);
  }

  /** A message that is cut is dropped: the protocol decides whether the reply is complete without it. */
  end(): readonly Framed<VendorEvent>[] {
    this.#state = "closed";
    return [];
  }

  /** Reads the next message, or holds what is there of it. Returns the index behind what it read. */
  #advance(bytes: Uint8Array, at: number, take: (framed: Framed<VendorEvent>) => void): number {
    const wanted = (this.#prelude?.total ?? preludeSize) - this.#size;
    // A message that is there as a whole is read where it is.
    if (this.#size === 0 && bytes.length - at >= preludeSize) {
      const prelude = this.#readPrelude(bytes.subarray(at, at + preludeSize), take);
      if (prelude === undefined) return bytes.length;
      const end = at + prelude.total;
      if (end <= bytes.length) {
        this.#readMessage(bytes.subarray(at, end), prelude, take);
        return end;
      }
      this.#prelude = prelude;
      this.#hold(bytes.subarray(at));
      return bytes.length;
    }
    const piece = bytes.subarray(at, at + wanted);
    this.#hold(piece);
    if (piece.length < wanted) return bytes.length;
    const held = this.#held.subarray(0, this.#size);
    if (this.#prelude === undefined) {
      this.#prelude = this.#readPrelude(held, take);
    } else {
      this.#readMessage(held, this.#prelude, take);
      this.#prelude = undefined;
      this.#size = 0;
    }
    return at + piece.length;
  }

  #hold(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#held.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.#held.length));
      larger.set(this.#held.subarray(0, this.#size));
      this.#held = larger;
    }
    this.#held.set(piece, this.#size);
    this.#size = size;
  }

  #readPrelude(
    bytes: Uint8Array,
    take: (framed: Framed<VendorEvent>) => void,
  ): AwsPrelude | undefined {
    const prelude = readPrelude(bytes, this.#limit);
    if (typeof prelude !== "string") return prelude;
    this.#refuse(prelude, take);
    return undefined;
  }

  #readMessage(
    bytes: Uint8Array,
    prelude: AwsPrelude,
    take: (framed: Framed<VendorEvent>) => void,
  ): void {
    const message = readMessage(bytes, prelude);
    if (typeof message === "string") this.#refuse(message, take);
    else this.#give(message, take);
  }

  /** Where the next message begins is unknown after one that can't be read, so nothing follows. */
  #refuse(reason: string, take: (framed: Framed<VendorEvent>) => void): void {
    this.#state = "closed";
    const code = reason.includes("longer than") ? "event_too_large" : "bad_frame";
    take({ kind: "fault", cause: failure(code, `a message can't be read: ${reason}`) });
  }

  #give({ headers, payload }: AwsMessage, take: (framed: Framed<VendorEvent>) => void): void {
    const textOf = (name: string): string => {
      const header = headers.get(name);
      return header?.type === "string" ? header.value : "";
    };
    const type = textOf(":message-type");
    if (type === "error") {
      const error = { type: textOf(":error-code"), message: textOf(":error-message") };
      return take(errorEvent(error));
    }
    const name = textOf(type === "exception" ? ":exception-type" : ":event-type");
    const text = this.#decode(payload, take);
    if (type === "exception") return take(errorEvent({ ...objectIn(text), type: name }));
    const data = this.#isWrapped ? this.#unwrap(text, take) : text;
    const event = data === undefined ? undefined : this.#parse(data);
    if (event === undefined) return take(badEvent(name, data ?? text));
    take({ kind: "event", event: { name: this.#isWrapped ? "" : name, data: event } });
  }

  #decode(bytes: Uint8Array, take: (framed: Framed<VendorEvent>) => void): string {
    try {
      return strict.decode(bytes);
    } catch {
      if (!this.#reportedLossy) take({ kind: "lossy" });
      this.#reportedLossy = true;
      return lenient.decode(bytes);
    }
  }

  /** The model's own event, or undefined if the payload has none. */
  #unwrap(text: string, take: (framed: Framed<VendorEvent>) => void): string | undefined {
    const encoded = objectIn(text)["bytes"];
    const bytes = typeof encoded === "string" ? decodeBase64(encoded) : undefined;
    return bytes === undefined ? undefined : this.#decode(bytes, take);
  }

  #parse(text: string): JsonObject | undefined {
    if (text === "") return {};
    try {
      const value = this.#templates.read(text);
      return isJsonObject(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/** The service's own report of a failure, in Anthropic's form. */
function errorEvent(error: JsonObject): Framed<VendorEvent> {
  return { kind: "event", event: { name: "error", data: { type: "error", error } } };
}

/** The object of a payload. Empty if it is no JSON, as the payload of an exception may be. */
function objectIn(text: string): JsonObject {
  try {
    const value = parseJsonText(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return text === "" ? {} : { message: text.slice(0, 1_000).toWellFormed() };
  }
}

function badEvent(name: string, text: string): Framed<VendorEvent> {
  const evidence = { event: name, data: text.slice(0, 512).toWellFormed() };
  return { kind: "bad_event", cause: failure("bad_json", "an event is no JSON object", evidence) };
}
