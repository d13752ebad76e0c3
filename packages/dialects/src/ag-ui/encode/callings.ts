import type { Json, ViewToolCall } from "@millrace/core";
import { equalJson } from "@millrace/core/wire";
import type { AgUiEvent } from "./events.ts";
import { outcomeOf, resultIdOf } from "./messages.ts";
import type { ToldCall } from "./told.ts";

/** What calls do and what they come to, for one reader. */
export class Callings {
  /** The sub-agents that the reader was shown, with the call of each. `false`: it was sent the end too. */
  readonly #children = new Map<string, string | false>();
  readonly #results: ReadonlyMap<string, Json>;

  /** With what the reader holds as results of its own tools. */
  constructor(results: ReadonlyMap<string, Json>) {
    this.#results = results;
  }

  /** Tells what is new of a call. False: the reader holds another result. */
  tell(told: ToldCall, call: ViewToolCall, messageId: string, out: AgUiEvent[]): boolean {
    const came = outcomeOf(call);
    if (came === undefined) {
      if (call.state === "running") this.#tellProgress(told, call, messageId, out);
      return true;
    }
    if (told.outcome !== undefined) return told.outcome === came.content;
    told.outcome = came.content;
    const toolCallId = messageId;
    for (const [id, holder] of this.#children)
      if (holder === toolCallId) {
        this.#children.set(id, false);
        out.push({ type: "SUBAGENT_FINISHED", subagentRunId: id });
      }
    const held = this.#results.get(toolCallId);
    if (held !== undefined) return call.state === "finished" && equalJson(held, call.output);
    const result = { messageId: resultIdOf(messageId), toolCallId, role: "tool", ...came } as const;
    out.push({ type: "TOOL_CALL_RESULT", ...result });
    return true;
  }

  /** Ends what the reader was shown of sub-agents. */
  *close(isWaiting: boolean): Generator<AgUiEvent, void, undefined> {
    for (const [id, holder] of this.#children) {
      if (holder === false) continue;
      this.#children.set(id, false);
      const outcome = isWaiting ? { outcome: { type: "suspended" } as const } : {};
      yield { type: "SUBAGENT_FINISHED", subagentRunId: id, ...outcome };
    }
  }

  /** Progress is in no message: it is shown and not kept. */
  #tellProgress(
    told: ToldCall,
    call: Extract<ViewToolCall, { state: "running" }>,
    toolCallId: string,
    out: AgUiEvent[],
  ): void {
    const { toolName } = told;
    const { childSessionId, message, text } = call;
    if (childSessionId !== undefined && !this.#children.has(childSessionId)) {
      this.#children.set(childSessionId, toolCallId);
      const child = { subagentRunId: childSessionId, name: toolName, parentToolCallId: toolCallId };
      out.push({ type: "SUBAGENT_STARTED", ...child });
    }
    // A tool that is repeated begins its output anew.
    const isAnew = text.length < told.sent;
    const added = text.slice(isAnew ? 0 : told.sent);
    const isNews = message !== undefined && message !== told.message;
    if (!isNews && added === "" && !isAnew) return;
    told.message = message;
    told.sent = text.length;
    const value = {
      toolCallId,
      ...(isNews ? { message } : {}),
      ...(added === "" && !isAnew
        ? {}
        : { text: added, from: isAnew ? 0 : text.length - added.length }),
    };
    out.push({ type: "CUSTOM", name: "millrace.tool-progress", value });
  }
}
