import { abortedCause, createModelStream } from "@millrace/core/ports";
import { isJsonObject } from "@millrace/core/wire";
import type { Json, JsonObject, Model } from "@millrace/core";
import type { ModelRequest, OutputShape, ReplyWriter } from "@millrace/core/ports";
import { callIdsOf } from "../protocols/call-id.ts";
import { askFor } from "../protocols/output.ts";
import { prepare } from "../protocols/prepare.ts";
import { cutEnding } from "../reply.ts";
import type { ReplyEnd } from "../reply.ts";
import { AiSdkContent } from "./ai-sdk-content.ts";
import { endingOf, finishOf, usageOf } from "./ai-sdk-finish.ts";
import type { AiSdkFinish } from "./ai-sdk-finish.ts";
import { promptOf } from "./ai-sdk-prompt.ts";
import type { AiSdkMessage } from "./ai-sdk-prompt.ts";
import { CallIds } from "./call-ids.ts";
import { causeOf, cutBy } from "./cause.ts";
import { PartWriter } from "./part-writer.ts";
import { fieldsOf, listOf, plainObject, textOr } from "./read.ts";
import type { Fields } from "./read.ts";

/**
 * A language model of the AI SDK, in the third or fourth version of its specification. Written as
 * what we use of it, so that no version of theirs has to be installed.
 */
export interface AiSdkModel {
  readonly specificationVersion: "v3" | "v4";
  readonly provider: string;
  readonly modelId: string;
  /** Addresses of files that the model fetches itself, by media type. */
  readonly supportedUrls: unknown;
  /** A method, and so open to the narrower options that each version declares. */
  doStream(options: AiSdkCallOptions): PromiseLike<{ readonly stream: AiSdkStream }>;
}

/** What a model of the AI SDK is called with, as far as we name it. */
export interface AiSdkCallOptions {
  readonly prompt: unknown;
}

/** A readable stream of the web. */
export interface AiSdkStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/** Only their model, in our loop. Settings of a request are call options of theirs, by their names. */
export function aiSdk(model: AiSdkModel): Model {
  const id = `ai-sdk/${model.provider}/${model.modelId}`;
  return {
    id,
    stream: (request) =>
      createModelStream({
        model: id,
        signal: request.signal,
        produce: (writer) => new AiSdkReply(id, request, writer).read(model),
      }),
  };
}

class AiSdkReply {
  readonly #id: string;
  readonly #request: ModelRequest;
  readonly #signal: AbortSignal;
  readonly #parts: PartWriter;
  readonly #content: AiSdkContent;
  #facts: Readonly<Record<string, Json>> = {};
  #finish: AiSdkFinish | undefined;
  #usage: ReturnType<typeof usageOf>;
  #error: ReturnType<typeof causeOf> | undefined;

  constructor(id: string, request: ModelRequest, writer: ReplyWriter) {
    this.#id = id;
    this.#request = request;
    this.#signal = writer.signal;
    this.#parts = new PartWriter(writer);
    const callIds = new CallIds(callIdsOf(request.transcript));
    this.#content = new AiSdkContent(this.#parts, callIds, false);
  }

  async read(model: AiSdkModel): Promise<ReplyEnd> {
    let reading = false;
    try {
      const asked = this.#ask(model);
      // A stream that comes after all is sent away again.
      const sendAway = (): void => void asked.then(cancel, () => undefined);
      const { stream } = await unlessAborted(this.#signal, asked, sendAway);
      reading = true;
      const reader = stream.getReader();
      try {
        for (;;) {
          const { done, value } = await unlessAborted(this.#signal, reader.read());
          if (done) break;
          this.#take(fieldsOf(value));
        }
      } catch (error) {
        // Ends the request if only our side is done with it, and is of no harm otherwise.
        void reader.cancel(error).catch(() => undefined);
        throw error;
      }
    } catch (error) {
      if (!this.#signal.aborted) this.#error ??= causeOf(error, reading);
      // What was whole when the stop came stays whole.
      else if (this.#finish === undefined) return { stop: "aborted", cause: abortedCause };
    }
    return this.#end();
  }

  async #ask(model: AiSdkModel): Promise<{ readonly stream: AiSdkStream }> {
    const { output, tools = [], settings, transcript } = this.#request;
    const takesUrl = urlTest(await model.supportedUrls);
    const tagged = model.specificationVersion !== "v3";
    const turns = promptOf(prepare(transcript, this.#id), { tagged, takesUrl });
    // Not every provider takes a schema, and those that don't may drop it. So it is asked for in words too.
    const { instructions } = askFor(this.#request, () => undefined);
    const system: AiSdkMessage[] =
      instructions === undefined ? [] : [{ role: "system", content: instructions }];
    const offered = tools.map(({ name, description, input }) => ({
      type: "function",
      name,
      ...(description === undefined ? {} : { description }),
      inputSchema: input,
    }));
    // Tools that providers run by themselves can only be named as settings.
    const every = [...offered, ...listOf(settings?.["tools"])];
    const options = {
      ...formatOf(output),
      ...settings,
      prompt: [...system, ...turns],
      ...(every.length === 0 ? {} : { tools: every }),
      abortSignal: this.#signal,
    };
    return model.doStream(options);
  }

  #take(part: Fields): void {
    switch (part["type"]) {
      case "finish":
        this.#finish = finishOf(part, this.#facts);
        this.#usage = usageOf(part["usage"]);
        return;
      case "error":
        this.#error ??= causeOf(part["error"], true);
        return;
      case "response-metadata": {
        const { type: _, ...facts } = plainObject(part) ?? {};
        this.#facts = facts;
        return;
      }
      default:
        if (!this.#content.take(part)) this.#remark(textOr(part["type"], ""));
    }
  }

  #remark(type: string): void {
    const message = `the model sent a part of type ${type}, which is not known here`;
    try {
      this.#request.notify?.({ type: "remark", code: "unknown_event", message });
    } catch {
      // Whoever listens must not break the reply.
    }
  }

  #end(): ReplyEnd {
    const usage = this.#usage === undefined ? {} : { usage: this.#usage };
    const ending =
      this.#finish !== undefined
        ? endingOf(this.#finish, this.#content.calls, this.#error)
        : this.#error === undefined
          ? cutEnding({ kind: "eof" }, this.#facts)
          : cutBy(this.#error);
    if (ending.cause === undefined) {
      this.#content.end(ending.stop === "length" || ending.stop === "filtered");
    }
    return this.#parts.end({ ending, ...usage });
  }
}

/** Their word for the shape of a reply. Their schemas are objects. */
function formatOf(output: OutputShape | undefined): JsonObject {
  if (output === undefined || !isJsonObject(output.schema)) return {};
  return { responseFormat: { type: "json", name: output.name, schema: output.schema } };
}

function cancel({ stream }: { readonly stream: AiSdkStream }): void {
  void stream
    .getReader()
    .cancel()
    .catch(() => undefined);
}

/** Waits no longer than the signal lets it, since not every model obeys the signal. */
async function unlessAborted<Value>(
  signal: AbortSignal,
  value: PromiseLike<Value>,
  leave?: () => void,
): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => {
    leave?.();
    aborted.reject(new DOMException("stopped", "AbortError"));
  };
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([value, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** A model that names no addresses at all says nothing about them: then its provider decides. */
function urlTest(supported: unknown): (mediaType: string, url: string) => boolean {
  const rules = Object.entries(fieldsOf(supported));
  return (mediaType, url) =>
    rules.length === 0 ||
    rules.some(
      ([type, patterns]) =>
        matches(type, mediaType) &&
        listOf(patterns).some(
          (pattern) => pattern instanceof RegExp && pattern.test(url.toLowerCase()),
        ),
    );
}

function matches(rule: string, mediaType: string): boolean {
  if (rule === "*" || rule === "*/*") return true;
  return rule.endsWith("/*") ? mediaType.startsWith(rule.slice(0, -1)) : rule === mediaType;
}
