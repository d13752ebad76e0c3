import { repairTranscript } from "@millrace/core/writing";
import type { Item, ToolResultPart, Transcript } from "@millrace/core";
import type { Compaction } from "@millrace/core/reading";
import type { TranscriptFault } from "@millrace/core/writing";
import { entriesOf } from "./entries.ts";
import { trimOutputs } from "./outputs.ts";

export interface AssembleOptions {
  readonly compactions: readonly Compaction[];
  /** All items whose results can be read back. Those that are assembled, if left out. */
  readonly session?: readonly Item[] | undefined;
  /** The bytes of a tool's result that the model is given. 64 KiB if left out. */
  readonly outputBytes?: ((part: ToolResultPart) => number) | undefined;
}

export interface Assembled {
  readonly transcript: Transcript;
  /** True if a result was given in part: the model needs `read_output` then. */
  readonly trimmed: boolean;
  /** What was wrong with the items and is mended in the transcript. */
  readonly repairs: readonly TranscriptFault[];
}

/**
 * What a model is given of a session: summaries for what they cover, long results by head and tail,
 * each call answered once. The session keeps everything. The same items always give the same
 * transcript, so a vendor's cache of its beginning holds. Linear in parts. Nothing to do: the same
 * array.
 */
export function assemble(items: readonly Item[], options: AssembleOptions): Assembled {
  const { compactions, session = items, outputBytes } = options;
  const entries = entriesOf(items, compactions);
  const covered = entries.some(({ summary }) => summary);
  const shown = covered ? entries.map(({ item }) => item) : items;
  const trimmed = trimOutputs(shown, { session, outputBytes });
  const { items: transcript, repairs } = repairTranscript(trimmed);
  return { transcript, trimmed: trimmed !== shown, repairs };
}
