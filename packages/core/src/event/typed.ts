import type { Author, Ending, ItemContent } from "../content/item.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../content/part.ts";
import type { Fact, FactOf, LiveEvent } from "./event.ts";
import type { Narration } from "./narration.ts";
import type { ToolState, View, ViewApproval, ViewCallBase, ViewItem, ViewPart } from "./view.ts";
import type { ItemId, RunId, SessionId, TurnId } from "../ids.ts";
import type { Json, JsonObject, JsonOf } from "../json.ts";

// What the type level knows of an agent's tools, so that their inputs and outputs travel by the
// tool's name through events, parts and screens. Types only: nothing of this exists at run time. Both
// are typed as the JSON that is there: an input as the model sent it and its schema accepts it, before
// the schema fills in defaults and transforms it; an output as `JsonOf` what the tool returned.

/** What the type level knows of a tool: its name, what its schema accepts, and what it returns. */
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
    ? JsonObject
    : JsonOf<In>
  : JsonObject;
type OutputOf<T> = T extends { readonly "~types"?: { readonly output: infer Out } | undefined }
  ? OutputJson<Out>
  : Json;
/** The output of a tool that returned nothing is the text that it wrote. */
type OutputJson<Out> = unknown extends Out
  ? Json
  : JsonOf<Out> | (Out extends undefined | void ? string : never);
/** Arguments before the tool's schema has accepted them: any of its fields may be missing or anything. */
type Unchecked<In> = string extends keyof In ? JsonObject : { readonly [Key in keyof In]?: Json };

/** Arguments that are being written: any field may be missing, and any text may be half there. */
type PreviewOf<In> = unknown extends In
  ? Json
  : In extends string
    ? string
    : In extends readonly (infer Row)[]
      ? readonly PreviewOf<Row>[]
      : In extends object
        ? string extends keyof In
          ? In
          : { readonly [Key in keyof In]?: PreviewOf<In[Key]> }
        : In;

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
/** A call is written, and not yet checked. */
interface NarratedCall<Name, In> extends Omit<
  NarrationOfType<"tool_call_ready">,
  "tool" | "input"
> {
  readonly tool: Name;
  readonly input: Unchecked<In>;
}
interface NarratedStart<Name, In> extends Omit<
  NarrationOfType<"tool_execution_started">,
  "tool" | "input"
> {
  readonly tool: Name;
  readonly input: In;
}
interface NarratedFinish<Name, Out> extends Omit<
  NarrationOfType<"tool_execution_finished">,
  "tool" | "output"
> {
  readonly tool: Name;
  readonly output?: Out;
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
/** A call of a tool on a screen, without its state. */
interface CallOnScreen<Name, Input> extends Omit<ViewCallBase, "tool" | "input"> {
  readonly tool: Name;
  readonly input: Input;
}
type StateOf<State extends ToolState["state"]> = Extract<ToolState, { readonly state: State }>;

interface WritingCall<Name, In> extends CallOnScreen<Name, undefined>, StateOf<"writing"> {
  /** Never there at run time: the type of `previewOf` this part. */
  readonly "~preview"?: PreviewOf<In> | undefined;
}
interface WaitingCall<Name, In>
  extends CallOnScreen<Name, Unchecked<In> | undefined>, StateOf<"waiting"> {}
interface RunningCall<Name, In> extends CallOnScreen<Name, In>, StateOf<"running"> {}
interface FinishedCall<Name, In, Out>
  extends CallOnScreen<Name, In>, Omit<StateOf<"finished">, "output"> {
  readonly output: Out;
}
interface FailedCall<Name, In>
  extends CallOnScreen<Name, Unchecked<In> | undefined>, StateOf<"failed"> {}
interface DeniedCall<Name, In>
  extends CallOnScreen<Name, Unchecked<In> | undefined>, StateOf<"denied"> {}
interface LostCall<Name, In> extends CallOnScreen<Name, In>, StateOf<"unknown"> {}

/** A call in each of its states. Its input is checked in those that it reaches by running. */
type ScreenCall<Name, In, Out> =
  | WritingCall<Name, In>
  | WaitingCall<Name, In>
  | RunningCall<Name, In>
  | FinishedCall<Name, In, Out>
  | FailedCall<Name, In>
  | DeniedCall<Name, In>
  | LostCall<Name, In>;

/** The single answer to a call of a tool. */
interface ToolResultOf<Name, Out> extends Omit<ToolResultPart, "tool" | "output"> {
  readonly tool: Name;
  readonly output?: Out;
}

/** All of them for one tool, to be looked up by name. */
interface TypesOfTool<Name, In, Out> {
  readonly started: ToolStarted<Name, In>;
  readonly finished: ToolFinished<Name, Out>;
  readonly asked: ToolAsked<Name, In>;
  readonly narratedCall: NarratedCall<Name, In>;
  readonly narratedStart: NarratedStart<Name, In>;
  readonly narratedFinish: NarratedFinish<Name, Out>;
  readonly narratedQuestion: NarratedQuestion<Name, In>;
  readonly approval: ToolApproval<Name, In>;
  readonly call: ScreenCall<Name, In, Out>;
  readonly callPart: ToolCallPart & { readonly tool: Name };
  readonly result: ToolResultOf<Name, Out>;
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
      {
        readonly type:
          | "tool_call_ready"
          | "tool_execution_started"
          | "tool_execution_finished"
          | "approval_requested";
      }
    >
  | EachTool<Tools, "narratedCall" | "narratedStart" | "narratedFinish" | "narratedQuestion">;

/** The parts of an agent's items. */
export type ItemPartOf<Tools extends AnyTools = AnyTools> =
  | Exclude<Part, { readonly kind: "tool_call" | "tool_result" }>
  | EachTool<Tools, "callPart" | "result">;

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
export type ItemOf<Tools extends AnyTools = AnyTools> = Ending & ItemContentOf<Tools>;

interface ItemContentOf<Tools extends AnyTools> extends Omit<ItemContent, "parts"> {
  readonly parts: readonly ItemPartOf<Tools>[];
}
