import type { Item } from "../content/item.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../content/part.ts";
import type { Fact, FactOf, LiveEvent } from "./event.ts";
import type { Narration } from "./narration.ts";
import type { View, ViewApproval, ViewItem, ViewPart, ViewToolCall } from "./view.ts";
import type { ItemId, RunId, SessionId, TurnId } from "../ids.ts";
import type { Json } from "../json.ts";

// What the type level knows of an agent's tools, so that their inputs and outputs travel by the
// tool's name through events, parts and screens. Types only: nothing of this exists at run time.

/** What the type level knows of a tool: its name, and what goes in and comes out. */
export interface ToolShape<Name extends string = string, In = never, Out = unknown> {
  readonly name: Name;
  /** Never there at run time. `input` is a parameter, so that tools of all inputs fit `AnyTools`. */
  readonly "~types"?: { readonly input: (input: In) => void; readonly output: Out } | undefined;
}

export type AnyTools = readonly ToolShape[];

type InputOf<T> = T extends {
  readonly "~types"?: { readonly input: (input: infer In) => void } | undefined;
}
  ? [In] extends [never]
    ? unknown
    : In
  : unknown;
type OutputOf<T> = T extends { readonly "~types"?: { readonly output: infer Out } | undefined }
  ? Out
  : unknown;

/** One shape for each tool of an agent: `Base` with this tool's name and values. */
type EachTool<Tools extends AnyTools, Base, With extends "input" | "output" | "name"> = [
  Tools[number],
] extends [never]
  ? never
  : Tools[number] extends infer T
    ? T extends ToolShape
      ? Omit<Base, "tool" | With> & { readonly tool: T["name"] } & (With extends "input"
            ? { readonly input: InputOf<T> }
            : With extends "output"
              ? { readonly output?: OutputOf<T> }
              : unknown)
      : never
    : never;

/** The place of a live event. Facts carry their own. */
export interface LiveEnvelope {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly itemId: ItemId;
  readonly lane: number;
  readonly epoch: number;
  readonly time: number;
}

/** What a run does, as its observers see it: facts, and live events with their place. */
export type RunEvent = Fact | (LiveEvent & LiveEnvelope);

/** The events of an agent with these tools. */
export type EventOf<Tools extends AnyTools = AnyTools> =
  | Exclude<
      RunEvent,
      {
        readonly type: "tool_execution_started" | "tool_execution_finished" | "approval_requested";
      }
    >
  | EachTool<Tools, FactOf<"tool_execution_started">, "input">
  | EachTool<Tools, FactOf<"tool_execution_finished">, "output">
  | EachTool<Tools, FactOf<"approval_requested">, "input">;

type NarrationOfType<Type extends Narration["type"]> = Extract<Narration, { readonly type: Type }>;

/** The flat story of an agent with these tools. */
export type NarrationOf<Tools extends AnyTools = AnyTools> =
  | Exclude<
      Narration,
      { readonly type: "tool_call_ready" | "tool_execution_started" | "approval_requested" }
    >
  | EachTool<Tools, NarrationOfType<"tool_call_ready">, "input">
  | EachTool<Tools, NarrationOfType<"tool_execution_started">, "input">
  | EachTool<Tools, NarrationOfType<"approval_requested">, "input">;

/** One shape for each tool that is also assignable to `Base`, for code that takes any tool's. */
type ToolPart<
  Tools extends AnyTools,
  Base extends { readonly tool: string },
  Output,
> = Tools[number] extends infer T
  ? T extends ToolShape
    ? Base & { readonly tool: T["name"] } & (Output extends true
          ? { readonly output?: OutputOf<T> & Json }
          : unknown)
    : never
  : never;

/** The parts of an agent's items. */
export type PartOf<Tools extends AnyTools = AnyTools> =
  | Exclude<Part, { readonly kind: "tool_call" | "tool_result" }>
  | ToolPart<Tools, ToolCallPart, false>
  | ToolPart<Tools, ToolResultPart, true>;

/** A question that a person is asked, with the input of the tool that it is about. */
export type ApprovalOf<Tools extends AnyTools = AnyTools> = EachTool<Tools, ViewApproval, "input">;

type FinishedWith<Out, State> = State extends { readonly state: "finished" }
  ? Omit<State, "output"> & { readonly output: unknown extends Out ? Json : Out }
  : State;
type ViewCallOf<Tools extends AnyTools> = Tools[number] extends infer T
  ? T extends ToolShape
    ? ViewToolCall extends infer Call
      ? Call extends ViewToolCall
        ? FinishedWith<OutputOf<T>, Omit<Call, "tool" | "input">> & {
            readonly tool: T["name"];
            readonly input: InputOf<T> | undefined;
          }
        : never
      : never
    : never
  : never;

/** A part as a screen shows it: what a call came to is on the call. */
export type ViewPartOf<Tools extends AnyTools = AnyTools> =
  | Exclude<ViewPart, { readonly kind: "tool_call" }>
  | ViewCallOf<Tools>;

/** An item as a screen shows it. */
export type ViewItemOf<Tools extends AnyTools = AnyTools> = Omit<ViewItem, "parts"> & {
  readonly parts: readonly ViewPartOf<Tools>[];
};

/** What a screen shows of a session of an agent with these tools. */
export type ViewOf<Tools extends AnyTools = AnyTools> = Omit<View, "items" | "approvals"> & {
  readonly items: readonly ViewItemOf<Tools>[];
  readonly approvals: readonly ApprovalOf<Tools>[];
};

/** An item with typed parts. It is an `Item` all the same. */
export type ItemOf<Tools extends AnyTools = AnyTools> = Item extends infer One
  ? One extends Item
    ? Omit<One, "parts"> & { readonly parts: readonly PartOf<Tools>[] }
    : never
  : never;
