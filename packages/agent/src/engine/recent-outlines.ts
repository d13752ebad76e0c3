import type { Fact, SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { outline } from "../loop/outline.ts";
import type { ItemOutline, Outline } from "../loop/outline.ts";

/** As many as a history takes in one answer: about 6 KB. The standing is shorter from there. */
const mostOutlines = 48;

/** The outlines of a session's last facts, for an engine that knows all before them. */
export class RecentOutlines {
  #recent: readonly Outline[] = [];

  add(fact: Fact): void {
    // A reset undoes facts that the engine knows, so it needs the standing.
    const resets = fact.type === "session_claimed" && fact.to !== undefined;
    const kept = resets || this.#recent.at(-1)?.n !== fact.n - 1 ? [] : this.#recent;
    this.#recent = resets ? [] : [...kept, outline(fact)].slice(-mostOutlines);
  }

  /**
   * The facts above `after` up to `head`, as far as they tell the engine anything. Reads the store if this
   * process came later. Undefined if there are too many, or if some were undone: then the standing is the
   * answer.
   */
  async since(
    { store, uid }: { readonly store: SessionStore; readonly uid: SessionUid },
    after: number,
    head: number,
  ): Promise<readonly Outline[] | undefined> {
    if (after === 0 || head - after > mostOutlines) return undefined;
    const known = this.#recent.filter(({ n }) => n > after && n <= head);
    if (known.length === head - after) return telling(known);
    const facts = await store.read(uid, { after, limit: head - after });
    const undone = facts.some((fact) => fact.type === "session_claimed" && fact.to !== undefined);
    return undone || facts.length !== head - after ? undefined : telling(facts.map(outline));
  }
}

/**
 * Without what changes no decision of the engine: facts without an outline, starts of calls whose results
 * follow, what is lost, which the step that records looks at, and the prints of calls, by which one who has the
 * history could find short arguments: steps find repeats. So histories of older versions are replayed.
 */
function telling(outlines: readonly Outline[]): readonly Outline[] {
  const settled = new Set(
    outlines.flatMap((fact) => (fact.type === "item_committed" ? [fact.itemId] : [])),
  );
  return outlines.flatMap((fact): readonly Outline[] => {
    switch (fact.type) {
      case "other":
      case "session_released":
        return [];
      case "session_claimed": {
        const { resumes: _, ...claimed } = fact;
        return [claimed];
      }
      case "item_committed":
        return [withoutPrints(fact)];
      case "usage_reported":
        return fact.lost === true ? [] : [fact];
      case "tool_execution_started": {
        const { client: _, ...started } = fact;
        return settled.has(fact.itemId) ? [] : [started];
      }
      default:
        return [fact];
    }
  });
}

function withoutPrints<Fact extends ItemOutline>(fact: Fact): Fact {
  const { reply } = fact;
  if (reply === undefined) return fact;
  const calls = reply.calls.map((call) => ({ ...call, print: "" }));
  return { ...fact, reply: { ...reply, calls } };
}
