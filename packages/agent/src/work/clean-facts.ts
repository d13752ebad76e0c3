import type { Item } from "@millrace/core";
import { redactData } from "@millrace/core/secrets";
import type { FactBody } from "@millrace/core/writing";

/**
 * A fact as it is stored: what is no content has no secret of this process. Content is never changed, be it
 * of models, tools or people. A new type of fact does not compile until it is decided here.
 */
export function withoutSecrets(body: FactBody): FactBody {
  switch (body.type) {
    case "item_committed":
    case "item_replaced": {
      const item = itemWithoutSecrets(body.item);
      return item === body.item ? body : { ...body, item };
    }
    case "run_finished":
      if (body.outcome !== "failed") return body;
      return { ...body, cause: redactData(body.cause) };
    // Content, or the words of people.
    case "input_accepted":
    case "approval_requested":
    case "approval_resolved":
    case "tool_execution_started":
    case "guidance_set":
    case "part_left_out":
    case "opaque":
    // Ids and numbers alone.
    case "session_claimed":
    case "session_released":
    case "queue_updated":
    case "run_started":
    case "turn_started":
    case "turn_finished":
    case "tool_execution_finished":
    case "compaction_started":
    case "compaction_finished":
    case "usage_reported":
    case "reasoning_dropped":
    case "prefix_broken":
    case "notice":
      return body;
    default:
      body satisfies never;
      return body;
  }
}

/** The item with its content as it is, and an ending without secrets. */
export function itemWithoutSecrets(item: Item): Item {
  const { cause, evidence } = item;
  const ending = redactData({ cause, evidence });
  // Only texts in the ending have changed, so it is one still.
  if (ending.cause !== cause) return { ...item, cause: ending.cause } as Item;
  return ending.evidence === evidence ? item : ({ ...item, evidence: ending.evidence } as Item);
}
