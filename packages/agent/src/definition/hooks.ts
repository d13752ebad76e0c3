import type { CallId, JsonObject } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { Policy, SessionInfo } from "./tool.ts";

/** A call that is about to be carried out, as a hook sees it. */
export interface CallToRun {
  readonly callId: CallId;
  readonly tool: string;
  readonly input: JsonObject;
}

/** Awaited at their place; they may change or refuse. One that throws stops what it guards. */
export interface Hooks {
  /** Changes the request before the model is asked. Throwing ends the turn as failed. */
  readonly beforeReply?:
    | ((request: ModelRequest, session: SessionInfo) => ModelRequest | Promise<ModelRequest>)
    | undefined;
  /** One more say in whether a call may run; the strictest wins. Throwing denies it. */
  readonly beforeTool?:
    | ((call: CallToRun, session: SessionInfo) => Policy | Promise<Policy>)
    | undefined;
}
