import { abortedCause } from "@millrace/core/model";
import type { Json, ResultStatus, Usage } from "@millrace/core";
import type { Ending, Update } from "@millrace/core/writing";
import { cutEnding } from "@millrace/providers/protocol-kit";
import { CallIds } from "./call-ids.ts";
import { causeOf, cutBy, isAbort } from "./cause.ts";
import { AgentsReply } from "./openai-agents-reply.ts";
import { countOf, fieldsOf, listOf, plain, textOr } from "./read.ts";
import type { Fields } from "./read.ts";
import { RunWriter } from "./run-writer.ts";

/** The result of `run(agent, input, { stream: true })`. */
export interface OpenaiAgentsResult extends AsyncIterable<{ readonly type: string }> {
  /** True if the run was stopped. Its stream then ends without an event. */
  readonly cancelled?: boolean;
  readonly error?: unknown;
}

/**
 * Converts the run of an agent made with the OpenAI Agents SDK. Each reply of a model becomes one
 * item, with its calls and the results of their tools. Never throws: a failed run ends its last
 * item with the failure.
 */
export async function* fromOpenaiAgents(
  result: OpenaiAgentsResult,
): AsyncGenerator<Update, void, undefined> {
  const run = new AgentsRun();
  try {
    for await (const event of result) {
      run.take(fieldsOf(event));
      yield* run.writer.take();
    }
    run.end(result.cancelled === true, result.error);
  } catch (error) {
    run.fail(error);
  }
  yield* run.writer.take();
}

class AgentsRun {
  readonly writer = new RunWriter();
  readonly #callIds = new CallIds();
  #reply: AgentsReply | undefined;
  /**
   * The ending of the current item, once its reply is complete. Results of tools may still follow.
   */
  #done: { readonly ending: Ending; readonly usage: Usage | undefined } | undefined;
  #approvals: string[] = [];
  #anything = false;

  take(event: Fields): void {
    switch (event["type"]) {
      case "raw_model_stream_event":
        this.#model(fieldsOf(event["data"]));
        return;
      case "run_item_stream_event":
        this.#item(textOr(event["name"], ""), fieldsOf(event["item"]));
        return;
      default:
        // A handoff needs nothing here: the next agent's reply becomes an item of its own.
        return;
    }
  }

  end(isCancelled: boolean, error: unknown): void {
    const isOpen = this.#reply !== undefined && this.#done === undefined;
    if (isCancelled) this.#cut({ stop: "aborted", cause: abortedCause });
    else if (error !== undefined && error !== null) this.fail(error);
    else if (isOpen || !this.#anything) this.#cut(cutEnding({ kind: "eof" }));
    else if (this.#done !== undefined) this.#commit();
    // Results for calls of an earlier run that a person approved since, without a reply after them.
    else if (this.writer.isOpen) this.writer.commit({ stop: "end" });
  }

  fail(error: unknown): void {
    if (isAbort(error)) this.#cut({ stop: "aborted", cause: abortedCause });
    else this.#cut(cutBy(causeOf(error, this.#reply !== undefined)));
  }

  #model(data: Fields): void {
    this.#anything = true;
    if (this.#done !== undefined) {
      // The vendor's last event follows the SDK's `response_done`.
      if (data["type"] === "model") return;
      this.#commit();
    }
    this.#reply ??= new AgentsReply(this.writer.parts, this.#callIds);
    if (data["type"] !== "response_done") {
      this.#reply.take(data);
      return;
    }
    const response = fieldsOf(data["response"]);
    this.#done = { ending: this.#reply.end(response), usage: usageOf(response["usage"]) };
  }

  #item(name: string, item: Fields): void {
    const raw = fieldsOf(item["rawItem"]);
    switch (name) {
      case "tool_output":
      case "handoff_occurred":
        this.#output(raw, item["output"]);
        return;
      case "tool_approval_requested":
        this.#approvals.push(textOr(raw["callId"] ?? raw["id"], "").toWellFormed());
        return;
      default:
        // Calls, reasoning and text have been read with the reply.
        return;
    }
  }

  #output(raw: Fields, output: unknown): void {
    const parts = this.writer.parts;
    this.#anything = true;
    if (raw["type"] !== "function_call_result") {
      parts.custom(textOr(raw["type"], "output"), plain(raw) ?? null);
      return;
    }
    const callId = this.#callIds.answered(textOr(raw["callId"], ""));
    const id = parts.begin({
      kind: "tool_result",
      callId,
      tool: textOr(raw["name"], "").toWellFormed(),
    });
    const value = outputOf(raw["output"]) ?? plain(output);
    const status: ResultStatus = raw["status"] === "incomplete" ? "failed" : "ok";
    parts.close(id, { status, ...(value === undefined ? {} : { output: value }) });
  }

  #commit(): void {
    const done = this.#done;
    if (done === undefined) return;
    const { ending, usage } = done;
    const isPaused = this.#approvals.length > 0 && ending.stop === "tools";
    this.writer.commit(isPaused ? { ...ending, stop: "paused" } : ending, {
      usage,
      model: `openai-agents/${this.#reply?.model ?? "unknown"}`,
    });
    this.#forget();
  }

  /**
   * Ends the run. A reply that is already complete stays so; the cause becomes an item of its own.
   */
  #cut(ending: Ending): void {
    if (this.#done === undefined && this.#reply?.isShort === true) {
      this.#done = { ending: this.#reply.end({}), usage: undefined };
    }
    this.#commit();
    this.writer.commit(ending);
    this.#forget();
  }

  #forget(): void {
    this.#reply = undefined;
    this.#done = undefined;
    this.#approvals = [];
  }
}

/** The output of a tool as the model gets it: a text, or the texts of a list of contents. */
function outputOf(output: unknown): Json | undefined {
  if (typeof output === "string") return output.toWellFormed();
  const { type, text } = fieldsOf(output);
  return type === "text" && typeof text === "string" ? text.toWellFormed() : plain(output);
}

function usageOf(value: unknown): Usage | undefined {
  const usage = fieldsOf(value);
  const inputTokens = countOf(usage["inputTokens"]);
  const outputTokens = countOf(usage["outputTokens"]);
  // The SDK reports no counts if the vendor sent none.
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  if (inputTokens + outputTokens === 0) return undefined;
  const cachedTokens = sumOf(usage["inputTokensDetails"], "cached_tokens") ?? 0;
  const reasoningTokens = sumOf(usage["outputTokensDetails"], "reasoning_tokens");
  if (cachedTokens > inputTokens) return undefined;
  return {
    inputTokens,
    outputTokens,
    cachedTokens,
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}

/** Details are one record, or one record per request. */
function sumOf(details: unknown, name: string): number | undefined {
  const records = Array.isArray(details) ? listOf(details) : [details];
  const counts = records.flatMap((record) => countOf(fieldsOf(record)[name]) ?? []);
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}
