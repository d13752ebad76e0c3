import type { CallId, Json, JsonObject } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { Policy, SessionInfo } from "./tool.ts";

/** The call that `beforeTool` decides about. */
export interface CallToRun {
  readonly callId: CallId;
  readonly tool: string;
  /** What the model sent. */
  readonly input: JsonObject;
  /** What the tool gets instead, as JSON, where its schema changes the input. */
  readonly parsed?: Json;
}

/** Functions that the loop awaits at fixed points. They may change a request or refuse a call. */
export interface Hooks {
  /** Called before each request to the model. Returns the request to send. Throwing fails the reply. */
  readonly beforeReply?:
    | ((request: ModelRequest, session: SessionInfo) => ModelRequest | Promise<ModelRequest>)
    | undefined;
  /** Called before each call runs. The strictest of its policy, the tool's and the rules' wins. Throwing denies. */
  readonly beforeTool?:
    | ((call: CallToRun, session: SessionInfo) => Policy | Promise<Policy>)
    | undefined;
}
