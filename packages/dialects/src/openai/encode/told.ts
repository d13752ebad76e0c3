/** What a reader gets of a run, before it is written in one of the two formats. */
export type Told =
  | { readonly type: "started" }
  | { readonly type: "part_begun" | "part_ended"; readonly part: ToldPart }
  | { readonly type: "part_grown"; readonly part: ToldPart; readonly text: string }
  /** A tool of the server begins. */
  | { readonly type: "call_begun"; readonly call: ToldCall }
  /** What it came to. Without a result: the run ended before it did. */
  | { readonly type: "call_ended"; readonly call: ToldCall; readonly result?: ToldResult }
  /** A tool that the reader carries out. */
  | { readonly type: "asked_client"; readonly call: ToldCall }
  /** A question to a person, before a tool begins. */
  | { readonly type: "asked_person"; readonly call: ToldCall; readonly approvalId: string }
  /**
   * Nothing more can be sent. `again`: what was sent is no longer so, another attempt took its place. `behind`:
   * the reader was sent a snapshot in the place of facts.
   */
  | { readonly type: "broken"; readonly why: "again" | "behind" };

/** A text that the model or the agent wrote. */
export interface ToldPart {
  readonly id: string;
  readonly kind: "text" | "reasoning";
  /** As far as it was sent. */
  text: string;
}

/** A call of a tool. */
export interface ToldCall {
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  /** As JSON text. */
  readonly input: string;
  approvalId?: string | undefined;
}

/** What a call came to. */
export interface ToldResult {
  readonly status: "ok" | "failed" | "denied" | "aborted" | "unknown";
  readonly text: string;
}
