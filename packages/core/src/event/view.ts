import type { ArgumentFault } from "../content/arguments.ts";
import type { BlobRef } from "../content/blob.ts";
import type { Author, Cause, StopReason } from "../content/item.ts";
import type { OpaquePart } from "../content/part.ts";
import type { Usage } from "../content/usage.ts";
import type { ApprovalId, CallId, InputId, ItemId, PartId, SessionId } from "../ids.ts";
import type { Json, JsonObject, Metadata } from "../json.ts";
import type { FactOf, Input } from "./event.ts";
import type { Earlier } from "./state.ts";

/** What a screen shows of a session: finished and live items in one list, each call with its outcome. */
export interface View {
  /** `paused`: the run waits for a person's answer. */
  readonly status: "idle" | "running" | "paused";
  /** A stop was asked for and has not taken effect yet. */
  readonly stopping: boolean;
  /** The run's driver has shut down, and no other one goes on with the run yet. */
  readonly released: boolean;
  readonly items: readonly ViewItem[];
  /** Older items that are not among `items`. They are read by page. */
  readonly earlier: Earlier | undefined;
  /** Questions without an answer. */
  readonly approvals: readonly ViewApproval[];
  readonly queue: readonly ViewInput[];
  /** How the last run ended, until the next one starts: the fact that says so. */
  readonly lastRun: FactOf<"run_finished"> | undefined;
  /** Why the last run failed, until the next one starts. */
  readonly error: Cause | undefined;
  readonly compacting: boolean;
  readonly usage: Usage;
}

/** An item as a screen shows it, finished or still being written. */
export interface ViewItem {
  readonly id: ItemId;
  readonly author: Author;
  /** Still being written. */
  readonly live: boolean;
  readonly parts: readonly ViewPart[];
  readonly stop?: StopReason;
  readonly cause?: Cause;
  /** What the reply used, once it is whole: the last one's tells how full the context is. */
  readonly usage?: Usage;
  /** The model that wrote it, once it is whole. */
  readonly model?: string;
  /** Nothing has moved for this long. */
  readonly stalledMs?: number;
  /** This attempt has failed and will be replaced. */
  readonly retry?: { readonly cause: Cause; readonly delayMs: number };
}

interface ViewBase {
  readonly id: PartId;
  readonly live: boolean;
  readonly metadata?: Metadata;
}

/** A part as a screen shows it. What a call came to is on the call, so there are no results. */
export type ViewPart =
  | (ViewBase & { readonly kind: "text" | "reasoning"; readonly text: string })
  | (ViewBase & { readonly kind: "media"; readonly mediaType: string } & ViewSource)
  | (ViewBase & {
      readonly kind: "file";
      readonly name: string;
      readonly mediaType: string;
    } & ViewSource)
  | (ViewBase & { readonly kind: "structured"; readonly value: Json | undefined })
  | (ViewBase & {
      readonly kind: "custom";
      readonly name: string;
      readonly value: Json | undefined;
    })
  | (OpaquePart & { readonly live: false })
  | ViewToolCall;

/** Bytes come with the finished part; until then, and for a blob, only their number is known. */
interface ViewSource {
  readonly size?: number;
  readonly bytes?: Uint8Array;
  readonly url?: string;
  readonly blob?: BlobRef;
}

/** A call as a screen shows it: what it came to is on the call. */
export type ViewToolCall = ViewCallBase & ToolState;

/** What a call shows in every state. */
export interface ViewCallBase extends ViewBase {
  readonly kind: "tool_call";
  readonly callId: CallId;
  readonly tool: string;
  /** The argument text, as far as it has come. For display only: nothing runs on it. */
  readonly raw: string;
  readonly input: JsonObject | undefined;
}

/** How far a call has come, and what it came to. */
export type ToolState =
  | { readonly state: "writing" }
  /** For its turn, or, with an approval id, for a person. */
  | { readonly state: "waiting"; readonly approvalId?: ApprovalId }
  | {
      readonly state: "running";
      readonly message?: string;
      /** Output so far. */
      readonly text: string;
      readonly childSessionId?: SessionId;
    }
  | { readonly state: "finished"; readonly output: Json; readonly text: string }
  | { readonly state: "failed"; readonly message: string; readonly fault?: ArgumentFault }
  | { readonly state: "denied"; readonly reason?: string }
  /** It may have run; its outcome was not recorded. */
  | { readonly state: "unknown"; readonly message: string };

/** A question to a person, as a screen shows it. */
export interface ViewApproval {
  readonly id: ApprovalId;
  readonly callId: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  /** What the tool gets instead, where its schema changes the input. Shown beside it: `showQuestion`. */
  readonly parsed?: Json;
  readonly hash: FactOf<"approval_requested">["hash"];
  /** When it counts as denied: milliseconds since 1970, by the store's clock. Left out: it waits without limit. */
  readonly expiresAt?: number;
}

/** An input that waits to be taken up, as a screen shows it. */
export interface ViewInput {
  readonly id: InputId;
  readonly kind: Exclude<Input["kind"], "abort">;
  /** Its text, without what is not text. */
  readonly text: string;
}
