import type { ArgumentFault } from "../content/arguments.ts";
import type { Cause, Item } from "../content/item.ts";
import type { ResultStatus } from "../content/part.ts";
import type { ApprovalId, CallId, InputId, ItemId, PartId, RunId, TurnId } from "../ids.ts";
import type { Json, JsonObject } from "../json.ts";
import type { RunOutcome } from "./event.ts";

/** The flat story of a session, for terminals, logs and tests. A view of the events, not a second truth. */
export type Narration =
  | { readonly type: "run_started"; readonly runId: RunId }
  /** The run's driver has shut down; the run waits for another one. */
  | { readonly type: "run_released"; readonly runId: RunId; readonly reason: "shutdown" }
  /** Another driver goes on with the run, after a shutdown or a crash. */
  | { readonly type: "run_resumed"; readonly runId: RunId }
  | { readonly type: "turn_started"; readonly turnId: TurnId }
  | TextNarration<"assistant_text_delta">
  | TextNarration<"reasoning_delta">
  | ToolNarration<"tool_call_started">
  | (ToolNarration<"tool_call_arguments_delta"> & { readonly text: string })
  | (ToolNarration<"tool_call_ready"> & { readonly input: JsonObject })
  /** The arguments can't be used; the call will not run. */
  | (ToolNarration<"tool_call_refused"> & { readonly fault: ArgumentFault })
  | (ToolNarration<"tool_execution_started"> & { readonly input: JsonObject })
  | (ToolNarration<"tool_execution_update"> & { readonly message: string })
  | (ToolNarration<"tool_output_delta"> & { readonly text: string })
  | (ToolNarration<"tool_execution_finished"> & {
      readonly status: ResultStatus;
      readonly isError: boolean;
      /** What the tool returned, as JSON. Left out if it did not succeed. */
      readonly output?: Json;
    })
  | (ToolNarration<"approval_requested"> & {
      readonly approvalId: ApprovalId;
      readonly input: JsonObject;
      /** What the tool gets instead, where its schema changes the input. */
      readonly parsed?: Json;
    })
  | {
      readonly type: "approval_resolved";
      readonly approvalId: ApprovalId;
      readonly callId: CallId;
      readonly decision: "allow" | "deny";
    }
  /** All text of this item so far is void: another attempt writes it again. */
  | { readonly type: "attempt_superseded"; readonly itemId: ItemId }
  | {
      readonly type: "retry_scheduled";
      readonly itemId: ItemId;
      readonly cause: Cause;
      readonly delayMs: number;
    }
  | { readonly type: "stalled"; readonly itemId: ItemId; readonly silentMs: number }
  /** What a developer should look at though nothing has failed. */
  | { readonly type: "notice"; readonly code: string; readonly message: string }
  | { readonly type: "item_committed"; readonly item: Item }
  | { readonly type: "item_replaced"; readonly item: Item }
  | { readonly type: "queue_updated"; readonly queue: readonly InputId[] }
  | { readonly type: "compaction_started" }
  | { readonly type: "compaction_finished" }
  /** `reply` is the model's item of this turn. */
  | {
      readonly type: "turn_finished";
      readonly turnId: TurnId;
      readonly stop: Item["stop"];
      readonly reply?: Item;
    }
  | ({ readonly type: "run_finished"; readonly runId: RunId } & RunOutcome);

interface TextNarration<Type extends string> {
  readonly type: Type;
  readonly itemId: ItemId;
  readonly partId: PartId;
  readonly text: string;
}

interface ToolNarration<Type extends string> {
  readonly type: Type;
  readonly callId: CallId;
  readonly tool: string;
}
