import type { Json, ViewToolCall } from "@millrace/core";
import { equalJson } from "@millrace/core/wire";
import { newProgress } from "../../shared/encode/sent-items.ts";
import type { SentCall } from "../../shared/encode/sent-items.ts";
import type { AgUiEvent } from "./events.ts";
import { outcomeOf, resultIdOf } from "./messages.ts";

/** The events of what calls do and what they come to, for one reader. */
export class ToolCallEvents {
  /** The sub-agents that the reader was shown, with the call of each. `false`: it was sent the end too. */
  readonly #children = new Map<string, string | false>();
  readonly #results: ReadonlyMap<string, Json>;

  /** With what the reader holds as results of its own tools. */
  constructor(results: ReadonlyMap<string, Json>) {
    this.#results = results;
  }

  /** Writes what is new of a call. False: the reader holds another result. */
  encode(sent: SentCall, call: ViewToolCall, messageId: string, out: AgUiEvent[]): boolean {
    const came = outcomeOf(call);
    if (came === undefined) {
      if (call.state === "running") this.#encodeProgress(sent, call, messageId, out);
      return true;
    }
    if (sent.outcome !== undefined) return sent.outcome === came.content;
    sent.outcome = came.content;
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
  #encodeProgress(
    sent: SentCall,
    call: Extract<ViewToolCall, { state: "running" }>,
    toolCallId: string,
    out: AgUiEvent[],
  ): void {
    const { tool: name } = sent;
    const { childSessionId } = call;
    if (childSessionId !== undefined && !this.#children.has(childSessionId)) {
      this.#children.set(childSessionId, toolCallId);
      const child = { subagentRunId: childSessionId, name, parentToolCallId: toolCallId };
      out.push({ type: "SUBAGENT_STARTED", ...child });
    }
    const progress = newProgress(sent, call);
    if (progress === undefined) return;
    out.push({
      type: "CUSTOM",
      name: "millrace.tool-progress",
      value: { toolCallId, ...progress },
    });
  }
}
