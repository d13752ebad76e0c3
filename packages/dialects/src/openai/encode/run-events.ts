/** What happens in a run, before it is written in one of the two formats. */
export type RunEvent =
  | { readonly type: "started" }
  | { readonly type: "part_begun"; readonly part: TextPart }
  | { readonly type: "part_grown"; readonly part: TextPart; readonly text: string }
  /** With the whole text. */
  | { readonly type: "part_ended"; readonly part: TextPart; readonly text: string }
  /** A tool of the server begins. */
  | { readonly type: "call_begun"; readonly call: RunCall }
  /** What it came to. Without a result: the run ended before it did. */
  | { readonly type: "call_ended"; readonly call: RunCall; readonly result?: CallResult }
  /** A tool that the reader carries out. */
  | { readonly type: "asked_client"; readonly call: RunCall }
  /** A question to a person, before a tool begins. */
  | { readonly type: "asked_person"; readonly call: RunCall; readonly approvalId: string }
  /**
   * Nothing more can be sent. `again`: what was sent is no longer so, another attempt took its place. `behind`:
   * the reader was sent a snapshot in the place of facts.
   */
  | { readonly type: "broken"; readonly why: "again" | "behind" };

/** A text that the model or the agent wrote. */
export interface TextPart {
  readonly id: string;
  /** The attempt that wrote it: an epoch, or below 0 the fact that stored other content than an attempt wrote. */
  readonly by: number;
  readonly kind: "text" | "reasoning";
}

/** A call of a tool. */
export interface RunCall {
  readonly id: string;
  /** The attempt that wrote it, as of a text. */
  readonly by: number;
  readonly callId: string;
  readonly tool: string;
  /** As JSON text. */
  readonly input: string;
  approvalId?: string | undefined;
}

/** What a call came to. */
export interface CallResult {
  readonly status: "ok" | "failed" | "denied" | "aborted" | "unknown";
  readonly text: string;
}
