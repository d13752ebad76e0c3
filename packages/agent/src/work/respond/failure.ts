import { MillraceError } from "@millrace/core";
import { redactedMessage } from "@millrace/core/secrets";
import type { Cause, Item } from "@millrace/core";
import type { Fault, FaultCode, OpenPart } from "@millrace/core/writing";

/** A failure of the agent's own code, with the cause that its item is stored with. */
export class AgentFailure extends MillraceError {
  override readonly cause: Cause;

  constructor(cause: Cause) {
    super("agent_failed", cause.message);
    this.cause = cause;
  }
}

/** The cause of an error that the agent's own code threw. */
export function causeOf(error: unknown): Cause {
  if (error instanceof AgentFailure) return error.cause;
  const message = `the agent's own code threw: ${redactedMessage(error)}`;
  return { code: "agent_failed", message };
}

/**
 * The failure of a stored item. It is thrown again when `respond` runs again after a crash, so that the
 * agent's code takes the same path. A model's failure is data and was never thrown, so it is undefined.
 */
export function storedFailure({ cause }: Item): AgentFailure | undefined {
  return cause?.code === "agent_failed" ? new AgentFailure(cause) : undefined;
}

/** The failure of an update that is illegal for the current draft. */
export function illegalUpdate(op: string, { code, partId, message }: Fault): AgentFailure {
  return new AgentFailure({
    code: "agent_failed",
    message: `the agent's own code wrote an illegal ${op}: part ${partId}: ${message}. ${advice[code]}.`,
    evidence: { op, partId, fault: code },
  });
}

/** The failure of a call whose arguments are incomplete when its item ends. */
export function cutCall({ id, begin }: OpenPart, fault: string): AgentFailure {
  const tool = "tool" in begin ? begin.tool : begin.kind;
  return new AgentFailure({
    code: "agent_failed",
    message:
      `part ${id}, a call of ${tool}, was left open and its arguments can't be parsed: ${fault}. ` +
      "Append all of them before the item ends, or end it as truncated.",
    evidence: { partId: id, fault: "part_left_open", arguments: fault },
  });
}

/** How the author of the update can mend it. */
const advice: Readonly<Record<FaultCode, string>> = {
  unknown_part: "Begin the part with begin_part, which has its kind and media type",
  part_exists: "Begin a part once, and give the next one an id of its own",
  part_committed: "Write on in a part with another id, or yield commit_item to begin the next item",
  wrong_kind: "Begin the part with a kind that this operation fills",
  commit_mismatch: "Commit what was streamed, or replace the item",
  part_too_large: "Write the rest in another part",
  too_many_parts: "Write the rest in another item",
  malformed_text: "Cut text between characters, never inside one",
  malformed_value: "Give plain JSON: no undefined, functions, dates or numbers that are not finite",
  unknown_op: "Use an operation of this version",
};
