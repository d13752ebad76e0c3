import type { Reading } from "../reading.ts";
import type { ProtocolId, Stream } from "../streams.ts";

/** A reader of vendors' streams, used as its documentation shows, with retries off. */
export interface Contender {
  /** The package that reads a protocol's streams, as in the list of differences. */
  readonly name: (protocol: ProtocolId) => string;
  /** Reads one stream to its end. Rejects where the reader throws. */
  readonly read: (source: Source) => Promise<Reading>;
}

/** Where a stream is found, and what the request for it holds. */
export interface Source extends Pick<Stream, "protocol" | "tools" | "options"> {
  /** The vendor's address up to the version: `http://127.0.0.1:1234/openai-chat/text`. */
  readonly base: string;
  readonly model: string;
}
