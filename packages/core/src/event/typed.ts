import type { Author, Item } from "../content/item.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../content/part.ts";
import type { Fact, FactOf, LiveEvent } from "./event.ts";
import type { Narration } from "./narration.ts";
import type { ToolState, View, ViewApproval, ViewCallBase, ViewItem, ViewPart } from "./view.ts";
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

/** The tools of an agent, by what the type level knows of them. */
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

// What an event or a part becomes for one tool. Interfaces, so that an editor shows a name and the tool's
// types, and not how the type was made.

/** A tool was started. */
interface ToolStarted<Name, In> extends Omit<FactOf<"tool_execution_started">, "tool" | "input"> {
  readonly tool: Name;
  readonly input: In;
}
/** A tool is done. */
interface ToolFinished<Name, Out> extends Omit<
  FactOf<"tool_execution_finished">,
  "tool" | "output"
> {
  readonly tool: Name;
  readonly output?: Out;
}
/** A person is asked whether a tool may run. */
interface ToolAsked<Name, In> extends Omit<FactOf<"approval_requested">, "tool" | "input"> {
  readonly tool: Name;
  readonly input: In;
}
interface NarratedCall<Name, In> extends Omit<
  NarrationOfType<"tool_call_ready">,
  "tool" | "input"
> {
  readonly tool: Name;
  readonly input: In;
}
interface NarratedStart<Name, In> extends Omit<
  NarrationOfType<"tool_execution_started">,
  "tool" | "input"
> {
  readonly tool: Name;
  readonly input: In;
}
interface NarratedQuestion<Name, In> extends Omit<
  NarrationOfType<"approval_requested">,
  "tool" | "input"
> {
  readonly tool: Name;
  readonly input: In;
}
/** A question to a person about a tool. */
interface ToolApproval<Name, In> extends Omit<ViewApproval, "tool" | "input"> {
  readonly tool: Name;
  readonly input: In;
}
/** A call of a tool on a screen. Its state stands beside. */
interface CallOnScreen<Name, In> extends Omit<ViewCallBase, "tool" | "input"> {
  readonly tool: Name;
  readonly input: In | undefined;
}

/** All of them for one tool, to be looked up by name. */
interface TypesOfTool<Name, In, Out> {
  readonly started: ToolStarted<Name, In>;
  readonly finished: ToolFinished<Name, Out>;
  readonly asked: ToolAsked<Name, In>;
  readonly narratedCall: NarratedCall<Name, In>;
  readonly narratedStart: NarratedStart<Name, In>;
  readonly narratedQuestion: NarratedQuestion<Name, In>;
  readonly approval: ToolApproval<Name, In>;
  readonly call: CallOnScreen<Name, In> & StateWith<Out, ToolState>;
}

/** One of them for each tool of an agent. */
type EachTool<Tools extends AnyTools, Key extends keyof TypesOfTool<string, unknown, unknown>> = [
  Tools[number],
] extends [never]
  ? never
  : Tools[number] extends infer T
    ? T extends ToolShape
      ? TypesOfTool<T["name"], InputOf<T>, OutputOf<T>>[Key]
      : never
    : never;

/** The states of a call, with the tool's output where it is finished. */
type StateWith<Out, State> = State extends { readonly state: "finished" }
  ? Omit<State, "output"> & { readonly output: unknown extends Out ? Json : Out }
  : State;

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

/**
 * How an open session learns of new facts. `live`: the log announces them. `polling`: the log is away,
 * and the store is asked every second. `waiting`: the store is away; nothing is lost, and the session
 * goes on when the store answers.
 */
export type SessionConnection = "live" | "polling" | "waiting";

/** The connection of a session has changed, in this process. Observers get it; it is not stored. */
export interface ConnectionChanged {
  readonly type: "connection_changed";
  readonly sessionId: SessionId;
  readonly connection: SessionConnection;
  /** The message of the error that broke the connection. */
  readonly message?: string | undefined;
  readonly time: number;
}

/**
 * A registered secret stands in content, which was stored and sent as it is. Observers of the process that
 * drives the session get it; it is not stored. It names the secret and never holds its value.
 */
export interface SecretNoticed {
  readonly type: "secret_noticed";
  readonly sessionId: SessionId;
  /** The name that the secret was registered with. */
  readonly secret: string;
  /** The author of the content. */
  readonly author: Author;
  readonly runId?: RunId | undefined;
  /** The item, unless it is an input that waits. */
  readonly itemId?: ItemId | undefined;
  readonly time: number;
}

/**
 * What a run does, as its observers see it: facts, live events with their place, changes of the
 * connection of its session, and secrets in its content.
 */
export type RunEvent = Fact | (LiveEvent & LiveEnvelope) | ConnectionChanged | SecretNoticed;

/** The events of an agent with these tools. */
export type EventOf<Tools extends AnyTools = AnyTools> =
  | Exclude<
      RunEvent,
      {
        readonly type:
          | "tool_execution_started"
          | "tool_execution_finished"
          | "approval_requested"
          | "connection_changed" // for observers only
          | "secret_noticed";
      }
    >
  | EachTool<Tools, "started" | "finished" | "asked">;

type NarrationOfType<Type extends Narration["type"]> = Extract<Narration, { readonly type: Type }>;

/** The flat story of an agent with these tools. */
export type NarrationOf<Tools extends AnyTools = AnyTools> =
  | Exclude<
      Narration,
      { readonly type: "tool_call_ready" | "tool_execution_started" | "approval_requested" }
    >
  | EachTool<Tools, "narratedCall" | "narratedStart" | "narratedQuestion">;

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
export type ApprovalOf<Tools extends AnyTools = AnyTools> = EachTool<Tools, "approval">;

/** A part as a screen shows it: what a call came to is on the call. */
export type ViewPartOf<Tools extends AnyTools = AnyTools> =
  | Exclude<ViewPart, { readonly kind: "tool_call" }>
  | EachTool<Tools, "call">;

/** An item as a screen shows it. */
export interface ViewItemOf<Tools extends AnyTools = AnyTools> extends Omit<ViewItem, "parts"> {
  readonly parts: readonly ViewPartOf<Tools>[];
}

/** What a screen shows of a session of an agent with these tools. */
export interface ViewOf<Tools extends AnyTools = AnyTools> extends Omit<
  View,
  "items" | "approvals"
> {
  readonly items: readonly ViewItemOf<Tools>[];
  readonly approvals: readonly ApprovalOf<Tools>[];
}

/** An item with typed parts. It is an `Item` all the same. */
export type ItemOf<Tools extends AnyTools = AnyTools> = Item extends infer One
  ? One extends Item
    ? Omit<One, "parts"> & { readonly parts: readonly PartOf<Tools>[] }
    : never
  : never;
