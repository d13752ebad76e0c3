import type { FilePart, MediaPart, RunId, Transcript } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import type { WorkHost } from "./host.ts";

/**
 * The facts that parts whose bytes are lost stay left out of requests, even if the bytes come back. If a
 * reply stands behind one, later requests do not begin with what that reply was written behind.
 */
export function lostPartFacts(
  { agent, journal }: Pick<WorkHost, "agent" | "journal">,
  runId: RunId,
  missing: readonly (MediaPart | FilePart)[],
  filled: Transcript,
): readonly FactBody[] {
  const items = journal.context.items.toArray();
  const lost = items.flatMap((item, at) =>
    item.parts.flatMap((part) => {
      if (!missing.some((one) => one === part)) return [];
      const text = filled
        .find(({ id }) => id === item.id)
        ?.parts.find(({ id, kind }) => id === part.id && kind === "text");
      return text?.kind === "text"
        ? [{ at, itemId: item.id, partId: part.id, text: text.text }]
        : [];
    }),
  );
  const first = lost[0];
  if (first === undefined) return [];
  const facts: FactBody[] = lost.map(({ itemId, partId, text }) => {
    return { type: "part_left_out", runId, itemId, partId, text };
  });
  const last = items.findLast(({ author }, at) => author === "model" && at > first.at);
  if (last === undefined) return facts;
  facts.push({ type: "prefix_broken", runId, reason: "the bytes of a part are lost" });
  const { last: through = last.id } = journal.context.guide;
  const binds = agent.model?.bindsReasoning === true;
  if (binds) facts.push({ type: "reasoning_dropped", runId, through, reason: "prefix_changed" });
  return facts;
}
