import { encodeSse, encodeSseComment, streamEndReasons } from "@millrace/core/wire";
import type { StreamEndReason } from "@millrace/core/wire";

/** The first bytes of a stream: how long its reader waits before it comes back, and the head. */
export function openingLines(retryMs: number, head: number | undefined): Uint8Array {
  return Buffer.from(`${retryField(retryMs)}${encodeSseComment(headText(head))}`);
}

/** How long a reader waits before it comes back, sent again. It has no data: it is no event. */
export function retryLines(retryMs: number): Uint8Array {
  return Buffer.from(`${retryField(retryMs)}\n`);
}

/**
 * A comment with the head that the store has, which keeps the connection alive. It has no id and moves no
 * cursor. Without a head: the store does not answer, or the stream has several sessions.
 */
export function heartbeatLines(head: number | undefined): Uint8Array {
  return Buffer.from(encodeSseComment(headText(head)));
}

/** The end of a stream, or of one session of it. It has no id, so that a reader keeps its cursor. */
export interface Ended {
  readonly reason: StreamEndReason;
  /** The session that ended, if the stream has several. */
  readonly sessionId?: string | undefined;
  /** Sent before it, if the reader is to wait for another time than it was sent before. */
  readonly retryMs?: number | undefined;
}

/** The last message of a stream. */
export function endedLines({ reason, sessionId, retryMs }: Ended): Uint8Array {
  const message = { v: 1, type: "stream_ended", reason, sessionId };
  return Buffer.from(encodeSse({ data: JSON.stringify(message), retry: retryMs }));
}

function retryField(retryMs: number): string {
  return `retry: ${Math.trunc(retryMs)}\n`;
}

function headText(head: number | undefined): string {
  return head === undefined ? "" : String(head);
}

/** The reason that a signal was aborted with, if it is a `StreamEndReason`. */
export function streamEndReason(value: unknown): StreamEndReason | undefined {
  return streamEndReasons.find((reason) => reason === value);
}
