import { streamsOf } from "../fixtures.ts";

export interface Recorded {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Every stream in the fixtures of a protocol. */
export function recordedStreams(protocol: string): readonly Recorded[] {
  return Array.from(streamsOf(protocol), ([name, bytes]) => ({ name, bytes }));
}
