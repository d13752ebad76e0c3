import { abortedCause, addUsage } from "@millrace/core/model";
import { equalJson } from "@millrace/core/json";
import type { Json, Usage } from "@millrace/core";
import type { Ending, Update } from "@millrace/core/writing";
import { cutEnding } from "@millrace/providers/protocol-kit";
import { CallIds } from "./call-ids.ts";
import { causeOf, cutBy, isAbort } from "./cause.ts";
import { endingOf, LangGraphReply, usageOf } from "./langgraph-reply.ts";
import type { LangGraphCall } from "./langgraph-reply.ts";
import { fieldsOf, listOf, plain, textOr } from "./read.ts";
import type { Fields } from "./read.ts";
import { RunWriter } from "./run-writer.ts";

/** One event of `graph.streamEvents(input, { version: "v2" })`. */
export interface LangGraphEvent {
  readonly event: string;
  readonly name: string;
  readonly run_id: string;
  readonly data: object;
  readonly metadata?: object;
}

/**
 * Converts the run of a LangGraph graph. Each reply of a chat model becomes one item, with its
 * calls and the results of their tools. Model calls inside a tool are not converted; they show only
 * in the tool's result. Never throws: a failed run ends its last item with the failure.
 */
export async function* fromLangGraph(
  events: AsyncIterable<LangGraphEvent>,
): AsyncGenerator<Update, void, undefined> {
  const run = new LangGraphRun();
  try {
    for await (const event of events) {
      run.take(event);
      yield* run.writer.take();
    }
    run.end();
  } catch (error) {
    run.fail(error);
  }
  yield* run.writer.take();
}

interface OpenTool {
  readonly name: string;
  readonly input: Json | undefined;
  readonly place: string;
}

interface EndedReply {
  readonly ending: Ending;
  readonly model: string;
  readonly usage: Usage | undefined;
}

class LangGraphRun {
  readonly writer = new RunWriter();
  readonly #callIds = new CallIds();
  /** Replies in progress, by run id. Branches of a graph may stream at the same time. */
  readonly #replies = new Map<string, LangGraphReply>();
  readonly #tools = new Map<string, OpenTool>();
  /** Calls of the current item that have no answer yet. */
  #calls: LangGraphCall[] = [];
  #failed: (OpenTool & { readonly message: string })[] = [];
  #last: EndedReply | undefined;
  #interrupts: Json[] = [];
  #root: string | undefined;
  #isOver = false;

  take({ event, name, run_id, data, metadata }: LangGraphEvent): void {
    this.#root ??= run_id;
    const fields = fieldsOf(data);
    switch (event) {
      case "on_chat_model_start":
        this.#beginReply(run_id, fieldsOf(metadata));
        return;
      case "on_chat_model_stream":
        this.#replies.get(run_id)?.take(fieldsOf(fields["chunk"]));
        return;
      case "on_chat_model_end":
        this.#endReply(run_id, fieldsOf(fields["output"]), fieldsOf(metadata));
        return;
      case "on_tool_start":
        this.#tools.set(run_id, {
          name,
          input: plain(inputOf(fields["input"])),
          place: placeOf(fieldsOf(metadata)),
        });
        return;
      case "on_tool_end":
      case "on_tool_error":
        this.#endTool(event, run_id, fields);
        return;
      case "on_chain_stream":
        if (run_id === this.#root) this.#note(fieldsOf(fields["chunk"]));
        return;
      case "on_chain_end":
        // The output of a node that runs tools has the answers that the model gets, errors
        // included.
        for (const answer of answersIn(fields["output"])) this.#answer(answer);
        if (run_id === this.#root) this.#isOver = true;
        return;
      default:
        return;
    }
  }

  end(): void {
    if (this.#replies.size > 0 || !this.#isOver) this.#cut(cutEnding({ kind: "eof" }));
    else this.#commit();
  }

  fail(error: unknown): void {
    if (isAbort(error)) this.#cut({ stop: "aborted", cause: abortedCause });
    else this.#cut(cutBy(causeOf(error, this.#replies.size > 0)));
  }

  #beginReply(runId: string, metadata: Fields): void {
    const place = placeOf(metadata);
    const isNested = [...this.#tools.values()].some(
      (tool) => place === tool.place || place.startsWith(`${tool.place}|`),
    );
    if (isNested) return;
    if (this.#replies.size === 0) this.#commit();
    this.#replies.set(runId, new LangGraphReply(this.writer.parts, this.#callIds));
  }

  #endReply(runId: string, output: Fields, metadata: Fields): void {
    const reply = this.#replies.get(runId);
    if (reply === undefined) return;
    this.#replies.delete(runId);
    const ending = endingOf(output, reply);
    const calls = reply.end(output, ending.stop === "length" || ending.stop === "filtered");
    this.#calls.push(...calls);
    const names = [metadata["ls_provider"], metadata["ls_model_name"]];
    const named = names.filter((each) => typeof each === "string").join("/");
    const model = named === "" ? "unknown" : named;
    this.#last = together(this.#last, { ending, model, usage: usageOf(output["usage_metadata"]) });
  }

  #endTool(event: string, runId: string, data: Fields): void {
    const tool = this.#tools.get(runId);
    this.#tools.delete(runId);
    if (tool === undefined) return;
    if (event === "on_tool_error") {
      // The framework appends the stack, which does not belong in a result.
      const message = textOr(data["error"], "the tool failed").split("\n", 1)[0] ?? "";
      this.#failed.push({ ...tool, message });
      return;
    }
    const answers = answersIn(data["output"]);
    for (const answer of answers) this.#answer(answer);
    if (answers.length > 0) return;
    const call = this.#calls.find((each) => isOf(each, tool));
    if (call !== undefined) this.#write(call, "ok", data["output"]);
    else {
      const { name, input = null } = tool;
      this.writer.parts.custom("tool_run", { name, input, output: plain(data["output"]) ?? null });
    }
  }

  #answer(answer: Fields): void {
    const call = this.#calls.find(({ given }) => given === answer["tool_call_id"]);
    if (call === undefined) return;
    this.#write(call, answer["status"] === "error" ? "failed" : "ok", answer["content"]);
  }

  #write(call: LangGraphCall, status: "ok" | "failed", content: unknown): void {
    this.#calls = this.#calls.filter((each) => each !== call);
    const id = this.writer.parts.begin({
      kind: "tool_result",
      callId: call.callId,
      tool: call.tool,
    });
    const output = plain(content);
    if (status === "failed") this.writer.parts.append(id, textOr(content, JSON.stringify(output)));
    const returned = status === "ok" && output !== undefined ? { output } : {};
    this.writer.parts.close(id, { status, ...returned });
  }

  #note(chunk: Fields): void {
    const interrupts = chunk["__interrupt__"] ?? listOf(chunk)[0];
    for (const each of listOf(interrupts)) this.#interrupts.push(plain(each) ?? null);
  }

  /** Commits the item of the last reply, if there is one. */
  #commit(): void {
    // An interrupt passes through a tool as an error, but its call still waits for an answer.
    for (const failed of this.#interrupts.length > 0 ? [] : this.#failed) {
      const call = this.#calls.find((each) => isOf(each, failed));
      if (call !== undefined) this.#write(call, "failed", failed.message);
    }
    if (this.#last === undefined) {
      // The item has results of tools only, or nothing.
      if (this.writer.isOpen) this.writer.commit({ stop: "end" }, { model: "langgraph/none" });
      this.#forget();
      return;
    }
    const { ending, model, usage } = this.#last;
    this.writer.commit(this.#paused(ending), {
      model: `langgraph/${model}`,
      usage,
    });
    this.#forget();
  }

  #paused(ending: Ending): Ending {
    if (this.#interrupts.length === 0 || ending.cause !== undefined) return ending;
    return { stop: "paused", evidence: { ending: ending.stop, interrupts: this.#interrupts } };
  }

  #cut(ending: Ending): void {
    if (this.#replies.size === 0) this.#commit();
    this.writer.commit(ending);
    this.#forget();
  }

  #forget(): void {
    this.#replies.clear();
    this.#calls = [];
    this.#failed = [];
    this.#last = undefined;
  }
}

/**
 * Joins replies that were streamed at the same time into one item. The most serious ending counts:
 * a failure, then a limit, then calls.
 */
function together(one: EndedReply | undefined, other: EndedReply): EndedReply {
  if (one === undefined) return other;
  const weight = ({ ending }: EndedReply): number =>
    ending.cause !== undefined ? 3 : ending.stop === "end" ? 0 : ending.stop === "tools" ? 1 : 2;
  const { ending, model } = weight(other) > weight(one) ? other : one;
  const isCounted = one.usage !== undefined && other.usage !== undefined;
  return { ending, model, usage: isCounted ? addUsage(one.usage, other.usage) : undefined };
}

/**
 * The place of a run in the graph. A run started by a tool has the tool's place, or one below it.
 */
function placeOf(metadata: Fields): string {
  return textOr(metadata["langgraph_checkpoint_ns"] ?? metadata["checkpoint_ns"], "");
}

/** The input of a tool run, which is a call, a JSON text or the arguments themselves. */
function inputOf(input: unknown): unknown {
  const { args, input: text } = fieldsOf(input);
  return args ?? text ?? input;
}

function isOf(call: LangGraphCall, tool: OpenTool): boolean {
  return call.tool === tool.name && equalJson(call.input, tool.input);
}

/**
 * Finds the answers to calls in the output of a tool or node, which may be a command that contains
 * them.
 */
function answersIn(output: unknown, depth = 0): readonly Fields[] {
  if (depth > 3) return [];
  if (Array.isArray(output)) return listOf(output).flatMap((each) => answersIn(each, depth + 1));
  const fields = fieldsOf(output);
  if (typeof fields["tool_call_id"] === "string") return [fields];
  return [fields["messages"], fields["update"]].flatMap((each) =>
    each === undefined ? [] : answersIn(each, depth + 1),
  );
}
