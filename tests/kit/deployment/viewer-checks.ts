import { textOf } from "@millrace/core";
import { apply, restore } from "@millrace/core/reading";
import type { Item, SessionState } from "@millrace/core";
import type { OpenLane } from "@millrace/core/reading";
import type { Message } from "@millrace/core/wire";

/**
 * The state of one viewer, and what no viewer may see: a state that goes back, a message that does not
 * fit, live text that changes within an attempt, or an item that does not begin with its live text.
 */
export class ViewerChecks {
  readonly faults: string[] = [];
  #state: SessionState | undefined;
  /** The head that the viewer was shown before its last reload. */
  #shown = 0;

  get state(): SessionState | undefined {
    return this.#state;
  }

  /** The viewer forgets its state, as a reloaded page does. What it is shown next may not be older. */
  reload(): void {
    this.#shown = Math.max(this.#shown, this.#state?.head ?? 0);
    this.#state = undefined;
  }

  /** Takes a message. False: it does not fit, and the viewer has to connect anew. */
  take(message: Message): boolean {
    const before = this.#state;
    if ("closedLanes" in message) {
      const next = restore(message);
      if (next.head < Math.max(this.#shown, before?.head ?? 0))
        this.#fault(`a snapshot of ${next.head} facts after ${before?.head ?? this.#shown}`);
      if (before !== undefined) this.#checkItems(before, next);
      this.#state = next;
      return true;
    }
    if (before === undefined) {
      this.#fault("a message before the first snapshot");
      return false;
    }
    const applied = apply(before, message);
    if (applied.verdict === "gap") {
      this.#fault(`a message that does not fit: ${JSON.stringify(message).slice(0, 200)}`);
      return false;
    }
    if ("n" in message) this.#checkCommit(before, message);
    else this.#checkLane(before, applied.state, message.lane);
    this.#state = applied.state;
    return true;
  }

  #checkItems({ items: old }: SessionState, { items }: SessionState): void {
    const ids = items.toArray().map(({ id }) => id);
    const kept = old.toArray().every(({ id }, at) => ids[at] === id);
    if (!kept) this.#fault("a snapshot without items that were shown");
  }

  #checkCommit(before: SessionState, fact: Extract<Message, { readonly n: number }>): void {
    if (fact.type !== "item_committed" || fact.lane === undefined) return;
    const lane = before.lanes.find((open) => open.lane === fact.lane);
    if (lane === undefined || lane.epoch !== fact.epoch || lane.itemId !== fact.item.id) return;
    const [live, whole] = [liveText(lane), wholeText(fact.item)];
    if (!whole.startsWith(live))
      this.#fault(`live text "${live.slice(-60)}" is no prefix of item ${fact.item.id}`);
  }

  #checkLane(before: SessionState, after: SessionState, lane: number): void {
    const [old, now] = [before, after].map(({ lanes }) => lanes.find((one) => one.lane === lane));
    if (old === undefined || now === undefined) return;
    if (now.epoch < old.epoch) this.#fault(`epoch ${now.epoch} of lane ${lane} after ${old.epoch}`);
    if (now.epoch === old.epoch && !liveText(now).startsWith(liveText(old)))
      this.#fault(`live text of lane ${lane} changes within epoch ${now.epoch}`);
  }

  #fault(what: string): void {
    if (this.faults.length < 10) this.faults.push(what);
  }
}

/** The text of an open lane so far. */
function liveText({ draft }: OpenLane): string {
  return draft.parts
    .map((part) => {
      if (part.state === "committed") return part.part.kind === "text" ? part.part.text : "";
      return part.begin.kind === "text" ? textOf(part) : "";
    })
    .join("");
}

function wholeText({ parts }: Item): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}
