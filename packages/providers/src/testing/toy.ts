import { partId } from "@millrace/core/writing";
import type { Framed, Framing, VendorEvent } from "../framing/framing.ts";
import type { Protocol } from "../protocol.ts";
import { cutEnding } from "../reply.ts";
import { failure, vendorFailure } from "../failure.ts";

/**
 * The smallest protocol: `{"say":"…"}` any number of times, then `{"end":true}`. For tests of the
 * code around a protocol.
 */
export const toyProtocol: Protocol<VendorEvent, ToyState> = {
  id: "toy",
  initial: () => ({ begun: false, ended: false }),
  step: (state, { name, data }) => {
    if (name === "ping") return { state, operations: [], sign: "alive" };
    if (data === undefined) return { state, operations: [], sign: "over" };
    if (data["end"] === true) {
      return { state: { ...state, ended: true }, operations: [], sign: "over" };
    }
    if (typeof data["error"] === "string") {
      return { state, operations: [], failure: vendorFailure([data["error"]], "it broke", data) };
    }
    if (typeof data["say"] !== "string") return { state, operations: [], sign: "unknown" };
    const append = { op: "append_text", partId: text, chunk: data["say"] } as const;
    if (state.begun) return { state, operations: [append] };
    const begin = { op: "begin_part", partId: text, kind: "text" } as const;
    return { state: { ...state, begun: true }, operations: [begin, append] };
  },
  halt: ({ begun, ended }, end) => {
    if (!ended || end.kind === "failed") return { operations: [], ending: cutEnding(end) };
    const operations = begun ? [{ op: "close_part", partId: text } as const] : [];
    return {
      operations,
      ending: { stop: "end", evidence: "end" },
      usage: { inputTokens: 3, outputTokens: 5, cachedTokens: 1 },
    };
  },
  request: ({ transcript }, { model }) => ({
    path: "/say",
    body: { model, items: transcript.length },
  }),
};

export interface ToyState {
  readonly begun: boolean;
  readonly ended: boolean;
}

const text = partId("p1");

/** Each event is its length in two bytes and then its JSON: a framing without text lines. */
export const binaryFraming: Framing<VendorEvent> = {
  mediaType: "application/vnd.toy",
  open: () => {
    let held: readonly number[] = [];
    const feed = (bytes: Uint8Array): readonly Framed<VendorEvent>[] => {
      held = [...held, ...bytes];
      const out: Framed<VendorEvent>[] = [];
      for (;;) {
        const size = 2 + (held[0] ?? 0) * 256 + (held[1] ?? 0);
        if (held.length < 2 || held.length < size) return out;
        const json = new TextDecoder().decode(new Uint8Array(held.slice(2, size)));
        held = held.slice(size);
        out.push({
          kind: "event",
          event: { name: "", data: JSON.parse(json) as VendorEvent["data"] },
        });
      }
    };
    return {
      feed,
      end: () => {
        if (held.length === 0) return [];
        const message = `the bytes end ${held.length} bytes into a frame`;
        return [{ kind: "fault", cause: failure("truncated_transport", message) }];
      },
    };
  },
};

export function binaryFrame(value: object): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(value));
  return new Uint8Array([json.length >> 8, json.length & 255, ...json]);
}
