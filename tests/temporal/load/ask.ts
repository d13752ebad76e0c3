import { isSealed } from "../../kit/deployment/paced-agent.ts";

/** What a prompt asks of the model under load. */
export interface Ask {
  /** How many pieces the last reply has, and how many of them are due in a second. */
  readonly deltas: number;
  readonly perSecond: number;
  /** Replies before it that each call a tool. None by default. */
  readonly rounds?: number | undefined;
  /** How long the last reply is silent before its first piece. */
  readonly silentMs?: number | undefined;
}

/** An ask as the text of a prompt. */
export function textOfAsk(ask: Ask): string {
  return JSON.stringify(ask);
}

/** Reads the text of a prompt, which a test wrote. */
export function parseAsk(text: string): Ask {
  return JSON.parse(text) as Ask;
}

/** When a reply was asked for, in milliseconds since 1970: the first piece of its text. */
export function startPiece(now: number): string {
  return String(Math.round(now)).padStart(startLength, "0");
}

/** How late a piece of the text is, by its plan: so the transcript itself shows whether the pace was held. */
export function latePiece(lateMs: number): string {
  const shown = Math.min(99_999, Math.max(0, Math.round(lateMs)));
  return `+${String(shown).padStart(pieceLength - 1, "0")}`;
}

const startLength = 13;
const pieceLength = 6;

/** How many whole pieces a text of this length has. */
export function piecesIn(length: number): number {
  return Math.max(0, Math.floor((length - startLength) / pieceLength));
}

/** What the text of a reply says of itself. */
export interface ToldReply {
  readonly startedAt: number;
  /** Of each piece, in order. */
  readonly lateMs: readonly number[];
  /** Whether the text is whole, and nothing of it is lost, doubled or changed. */
  readonly isWhole: boolean;
}

/** Reads the text of a reply, also of one that was stopped or is being written. */
export function readReply(text: string): ToldReply {
  const [body = ""] = text.split("|");
  const lateMs = Array.from({ length: piecesIn(body.length) }, (_, at) => {
    const from = startLength + at * pieceLength;
    return Number(body.slice(from + 1, from + pieceLength));
  });
  return { startedAt: Number(body.slice(0, startLength)), lateMs, isWhole: isSealed(text) };
}
