import { abortedCause, createModelStream } from "@millrace/core/model";
import type { ReplyWriter } from "@millrace/core/model";
import type { ModelRequest, OutputShape } from "@millrace/core/ports";
import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject, Model } from "@millrace/core";
import {
  RequestRefusal,
  applySettings,
  askFor,
  callIdsOf,
  cutEnding,
  prepare,
  refusalCause,
  wireNames,
  withOwnNames,
  withWireNames,
} from "@millrace/providers/protocol-kit";
import type { ReplyEnd, WireNames } from "@millrace/providers/protocol-kit";
import { AiSdkContent } from "./ai-sdk-content.ts";
import { endingOf, finishOf, usageOf } from "./ai-sdk-finish.ts";
import type { AiSdkFinish } from "./ai-sdk-finish.ts";
import { promptOf } from "./ai-sdk-prompt.ts";
import type { AiSdkMessage } from "./ai-sdk-prompt.ts";
import { aiSdkSettings, refuseOptions } from "./ai-sdk-settings.ts";
import { CallIds } from "./call-ids.ts";
import { causeOf, cutBy } from "./cause.ts";
import { PartWriter } from "./part-writer.ts";
import { fieldsOf, listOf, plainObject, textOr } from "./read.ts";
import type { Fields } from "./read.ts";

/**
 * A language model of the AI SDK, version 3 or 4 of its specification. Declares only the members
 * that the bridge uses, so that no version of the SDK has to be installed.
 */
export interface AiSdkModel {
  readonly specificationVersion: "v3" | "v4";
  readonly provider: string;
  readonly modelId: string;
  /** URL patterns of files that the model downloads itself, by media type. */
  readonly supportedUrls: unknown;
  /**
   * A method rather than a property, so that the narrower options of each SDK version are
   * assignable.
   */
  doStream(options: AiSdkCallOptions): PromiseLike<{ readonly stream: AiSdkStream }>;
}

/** What a model of the AI SDK is called with, as far as we name it. */
export interface AiSdkCallOptions {
  readonly prompt: unknown;
}

/** The part of a web `ReadableStream` that the bridge uses. */
export interface AiSdkStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/**
 * Runs a model of the AI SDK in the loop of Millrace. Settings that vendors share are translated; others
 * are passed as AI SDK call options, under their own names.
 */
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
  readonly #names: WireNames;
  readonly #signal: AbortSignal;
  readonly #parts: PartWriter;
  readonly #content: AiSdkContent;
  #facts: Readonly<Record<string, Json>> = {};
  #finish: AiSdkFinish | undefined;
  #usage: ReturnType<typeof usageOf>;
  #error: ReturnType<typeof causeOf> | undefined;

  constructor(id: string, request: ModelRequest, writer: ReplyWriter) {
    this.#id = id;
    const names = wireNames((request.tools ?? []).map(({ name }) => name));
    this.#names = names;
    this.#request = withWireNames(request, names);
    this.#signal = writer.signal;
    this.#parts = new PartWriter(withOwnNames(writer, names));
    const callIds = new CallIds(callIdsOf(request.transcript));
    this.#content = new AiSdkContent(this.#parts, callIds, false);
  }

  async read(model: AiSdkModel): Promise<ReplyEnd> {
    let reading = false;
    try {
      const pending = this.#ask(model);
      // If the request is aborted first, a stream that arrives later is cancelled.
      const cancelLate = (): void => void pending.then(cancel, () => undefined);
      const { stream } = await unlessAborted(this.#signal, pending, cancelLate);
      reading = true;
      const reader = stream.getReader();
      try {
        for (;;) {
          const { done, value } = await unlessAborted(this.#signal, reader.read());
          if (done) break;
          this.#take(fieldsOf(value));
        }
      } catch (error) {
        // Ends the request if this side stopped reading early. No effect on a stream that has
        // ended.
        void reader.cancel(error).catch(() => undefined);
        throw error;
      }
    } catch (error) {
      if (error instanceof RequestRefusal) {
        const cause = refusalCause(error, this.#request.transcript, this.#names);
        return { stop: "failed", cause };
      }
      if (!this.#signal.aborted) this.#error ??= causeOf(error, reading);
      // A reply that was complete before the abort stays complete.
      else if (this.#finish === undefined) return { stop: "aborted", cause: abortedCause };
    }
    return this.#end();
  }

  async #ask(model: AiSdkModel): Promise<{ readonly stream: AiSdkStream }> {
    const { output, tools = [], transcript } = this.#request;
    const table = aiSdkSettings(model.specificationVersion);
    const { fields: settings } = applySettings(table, this.#request, model.modelId);
    refuseOptions(transcript);
    const takesUrl = urlTest(await model.supportedUrls);
    const tagged = model.specificationVersion !== "v3";
    const turns = promptOf(prepare({ transcript }, this.#id, { keeps: () => true }), {
      tagged,
      takesUrl,
    });
    // Some providers ignore a schema, so the instructions describe it as well.
    const { instructions } = askFor(this.#request, () => undefined);
    const system: AiSdkMessage[] =
      instructions === undefined ? [] : [{ role: "system", content: instructions }];
    const offered = tools.map(({ name, description, input }) => ({
      type: "function",
      name,
      ...(description === undefined ? {} : { description }),
      inputSchema: input,
    }));
    // Tools that the provider runs can only be given as settings.
    const every = [...offered, ...listOf(settings["tools"])];
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
      // An error in the caller's `notify` must not break the reply.
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

/** The AI SDK's name for the shape of a reply. A schema that is not an object is not passed. */
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

/**
 * Resolves with the value, or calls `onAbort` and rejects when the signal aborts. Needed because not
 * every model obeys the signal.
 */
async function unlessAborted<Value>(
  signal: AbortSignal,
  value: PromiseLike<Value>,
  onAbort?: () => void,
): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => {
    onAbort?.();
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

/**
 * Tests whether the model downloads a URL itself. If it lists no patterns at all, its provider
 * decides.
 */
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
