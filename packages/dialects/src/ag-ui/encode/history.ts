import type { Fact, SessionId, SessionUid } from "@millrace/core";
import type { BlobUrl } from "../../shared/encode/file-url.ts";
import { recordOf } from "../../shared/encode/run-record.ts";
import { turnsOf } from "../../shared/encode/turns.ts";
import type { Turn } from "../../shared/encode/turns.ts";
import type { AgUiMessage } from "./events.ts";
import { runMessages } from "./messages.ts";
import { saidMessages } from "./said.ts";

/** A session, and where its files are read. */
export interface HistoryOptions {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly blobUrl: BlobUrl;
}

/** The session as messages. What is being written is in its stream; what is stored of a run that is on is here. */
export function historyOf(facts: readonly Fact[], options: HistoryOptions): readonly AgUiMessage[] {
  return turnsOf(facts).flatMap((turn) => turnMessages(turn, options));
}

/** The session around a run: what came before it, and what waits. Undefined: it is over, and so is all. */
export function historyAround(
  facts: readonly Fact[],
  runId: string | undefined,
  options: HistoryOptions,
): { readonly before: readonly AgUiMessage[]; readonly after: readonly AgUiMessage[] } {
  const turns = turnsOf(facts);
  const at = turns.findIndex((turn) => turn.kind === "run" && turn.id === runId);
  // Of a run that has not begun, all is before it.
  const end = at < 0 ? turns.length : at;
  const messages = (some: readonly Turn[]): readonly AgUiMessage[] =>
    some.flatMap((turn) => turnMessages(turn, options));
  return { before: messages(turns.slice(0, end)), after: messages(turns.slice(end + 1)) };
}

function turnMessages(turn: Turn, options: HistoryOptions): readonly AgUiMessage[] {
  const { blobUrl } = options;
  if (turn.kind === "said") return saidMessages(turn.item, blobUrl);
  return runMessages(recordOf(options, turn.facts), blobUrl);
}
