import type { SessionState } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import { List } from "@millrace/core/writing";

/**
 * Which items every viewer of a room holds. A viewer that joined has the newest ones within its budget, and
 * one that came back has at least the last of those it had, and all that came since. A step that refers to
 * a call must not refer to one in an item before these.
 */
export class HeldItems {
  /** Items before this number of all items of the session may be missing to a viewer. */
  #from = 0;

  /** A viewer was brought to this state by these messages. */
  joined({ items, earlier }: SessionState, [first]: readonly Followed[]): void {
    const all = items.length + (earlier?.count ?? 0);
    const message = first?.message;
    const from =
      message !== undefined && "closedLanes" in message ? (message.earlier?.count ?? 0) : all - 1;
    this.#from = Math.max(this.#from, from);
  }

  /** The state before a message, as far as every viewer has what the message may refer to. */
  of(before: SessionState, { message }: Followed): SessionState {
    if (!("callId" in message) || !("n" in message)) return before;
    const { items, earlier } = before;
    const { callId } = message;
    const at = items.findLastIndex(({ parts }) =>
      parts.some((part) => part.kind === "tool_call" && part.callId === callId),
    );
    if (at + (earlier?.count ?? 0) >= this.#from) return before;
    return { ...before, items: List.of(items.toArray().slice(-1)) };
  }
}
