import type { LiveEvent } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import type { Encoding, StreamEndReason } from "@millrace/server/hub";

/** Encodes a session's messages for one reader: with a state of its own, and no clock, randomness or I/O. */
export interface DialectEncoder {
  /** The text of the events for the next message of the log. Empty: this reader needs none. */
  readonly encode: (message: Followed["message"]) => string;
  /** Whether nothing follows for this reader. */
  readonly isOver: () => boolean;
}

/** A dialect for one reader, as an encoding of the hub. */
export interface DialectStream {
  /** The name of the dialect, and all that its encoders depend on: those of one name may stand in for each other. */
  readonly name: string;
  readonly open: () => DialectEncoder;
  /** The last text of a stream, by why it ended. */
  readonly end: (reason: StreamEndReason) => string;
}

const nothing = new Uint8Array();

/**
 * A dialect behind the hub, as any other form of the session's messages: back-pressure, slow readers, limits,
 * re-checks of credentials, drain and heartbeats are the hub's, for every reader.
 */
export function dialectEncoding({ name, open, end }: DialectStream): Encoding {
  return {
    name,
    share: () => ({
      applied: (_, { message }) => sizeOf(message),
      open: () => {
        const reader = open();
        const encode = (messages: readonly Followed[]): Uint8Array => {
          let text = "";
          for (const { message } of messages) if (!reader.isOver()) text += reader.encode(message);
          return text === "" ? nothing : Buffer.from(text);
        };
        return { encode, isOver: reader.isOver };
      },
    }),
    ended: ({ reason }) => Buffer.from(end(reason)),
  };
}

/** About as many bytes as a message has in a dialect. It decides when a reader counts as slow. */
function sizeOf(message: Followed["message"]): number {
  if (!("events" in message)) return 512;
  return message.events.reduce((sum, event) => sum + 96 + contentOf(event), 0);
}

function contentOf(event: LiveEvent): number {
  if (event.type !== "content_delta" || !("chunk" in event.delta)) return 0;
  return event.delta.chunk.length;
}
