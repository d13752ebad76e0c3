import { abortedCause } from "@millrace/core/ports";
import type { Json, ResultStatus, Usage } from "@millrace/core";
import type { Ending, Update } from "@millrace/core/writing";
import { cutEnding } from "../reply.ts";
import { CallIds } from "./call-ids.ts";
import { causeOf, cutBy, isAbort } from "./cause.ts";
import { AgentsReply } from "./openai-agents-reply.ts";
import { countOf, fieldsOf, listOf, plain, textOr } from "./read.ts";
import type { Fields } from "./read.ts";
import { RunWriter } from "./run-writer.ts";

/** What `run(agent, input, { stream: true })` gives. */
export interface OpenAiAgentsResult extends AsyncIterable<{ readonly type: string }> {
  /** The run was stopped: its stream just ends. */
  readonly cancelled?: boolean;
  readonly error?: unknown;
}

/**
 * The run of an agent made with the OpenAI Agents SDK: an item for each reply of a model, with its
 * calls and what their tools returned. Never throws: how the run failed is how its last item ends.
 */
export async function* fromOpenAiAgents(
  result: OpenAiAgentsResult,
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
  /** How the current item ends, once its reply is whole. Tools may still answer. */
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
        // A new agent took over. Its reply is an item of its own, as every reply is.
        return;
    }
  }

  end(isCancelled: boolean, error: unknown): void {
    const isOpen = this.#reply !== undefined && this.#done === undefined;
    if (isCancelled) this.#cut({ stop: "aborted", cause: abortedCause });
    else if (error !== undefined && error !== null) this.fail(error);
    else if (isOpen || !this.#anything) this.#cut(cutEnding({ kind: "eof" }));
    else if (this.#done !== undefined) this.#commit();
    // Answers to calls of an earlier run, which a person allowed since, and no reply to them.
    else if (this.writer.isOpen) this.writer.commit({ stop: "end" });
  }

  fail(error: unknown): void {
    if (isAbort(error)) this.#cut({ stop: "aborted", cause: abortedCause });
    else this.#cut(cutBy(causeOf(error, this.#reply !== undefined)));
  }

  #model(data: Fields): void {
    this.#anything = true;
    if (this.#done !== undefined) {
      // The vendor's own last event comes behind the framework's.
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
        // Calls, reasoning and texts are in the reply already.
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

  /** Ends the run. A reply that was whole before stays so; what cut the run is an item of its own. */
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

/** What the model is told: a text, or the texts of a list of contents. */
function outputOf(output: unknown): Json | undefined {
  if (typeof output === "string") return output.toWellFormed();
  const { type, text } = fieldsOf(output);
  return type === "text" && typeof text === "string" ? text.toWellFormed() : plain(output);
}

function usageOf(value: unknown): Usage | undefined {
  const usage = fieldsOf(value);
  const inputTokens = countOf(usage["inputTokens"]);
  const outputTokens = countOf(usage["outputTokens"]);
  // Nothing at all is what the framework says when the vendor did not say.
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

/** Details are one record, or one for each request. */
function sumOf(details: unknown, name: string): number | undefined {
  const records = Array.isArray(details) ? listOf(details) : [details];
  const counts = records.flatMap((record) => countOf(fieldsOf(record)[name]) ?? []);
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}
