import type { Fact } from "@millrace/core";
import { textOfItem } from "../../kit/deployment/paced-agent.ts";
import { distribution, percentile } from "../../kit/distribution.ts";
import { readReply } from "./ask.ts";
import type { Bed } from "./bed.ts";
import type { Side } from "./side.ts";

/** The milliseconds from the end of each step of a run to the work of the next, by the worker's clock. */
async function pausesOf(side: Side, rounds: number): Promise<readonly number[]> {
  const begun = await side.begin(1, { deltas: 1, perSecond: 1_000, rounds });
  const [facts = []] = await side.ended(begun);
  const times = facts.flatMap(timeOf);
  return times.slice(1).map((time, at) => time - (times[at] ?? time));
}

/** When the model was asked for an item, or its tool ran. Neither takes any time of its own here. */
function timeOf(fact: Fact): readonly number[] {
  if (fact.type !== "item_committed") return [];
  const { item } = fact;
  if (item.author === "model") return [readReply(textOfItem(item)).startedAt];
  const [part] = item.parts;
  return item.author === "tool" && part?.kind === "tool_result" ? [Number(part.text)] : [];
}

/** The pauses between steps with and without Temporal, by turns, one run at a time. `added` is the difference of their medians. */
export async function measurePauses(bed: Bed, runs: number, rounds: number) {
  const inline: number[] = [];
  const temporal: number[] = [];
  for (let at = 0; at < runs; at += 1) {
    inline.push(...(await pausesOf(bed.inline, rounds)));
    temporal.push(...(await pausesOf(bed.temporal, rounds)));
    await bed.rest();
  }
  const added = percentile(temporal, 0.5) - percentile(inline, 0.5);
  return { inline: distribution(inline), temporal: distribution(temporal), added };
}
