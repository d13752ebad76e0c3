import { trace } from "@millrace/core/testing";
import { factsOf, inOrder, stateOf } from "./evidence.ts";
import type { Evidence } from "./evidence.ts";

/** All sessions as lines of JSON without ids: their items, and how each run ended. */
export function storyOf({ sessions }: Evidence): string {
  const stories = sessions.map((session) => {
    const ends = factsOf(session, "run_finished").map((finished) => {
      const limit = finished.outcome === "limited" ? { limit: finished.limit } : {};
      const cause = finished.outcome === "failed" ? { cause: finished.cause.code } : {};
      return `${JSON.stringify({ run: finished.outcome, ...limit, ...cause })}\n`;
    });
    const { items, queue } = stateOf(session);
    const waiting = queue.length === 0 ? "" : `${JSON.stringify({ waiting: queue.length })}\n`;
    return `${trace(inOrder(items.toArray()))}${ends.join("")}${waiting}`;
  });
  return stories.toSorted().join("\n");
}
