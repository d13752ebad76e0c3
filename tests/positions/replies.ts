import { abortedCause, createModelStream } from "@millrace/core/model";
import type { ReplyWriter } from "@millrace/core/model";
import type { Clock } from "@millrace/core/ports";
import { callId, commitOf, noUsage, partId } from "@millrace/core/writing";
import type { Delta, Model } from "@millrace/core";
import type { Ending, PartOpening } from "@millrace/core/writing";
import type { Random } from "../kit/random.ts";
import type { VendorEvent } from "../../packages/providers/src/framing/framing.ts";
import { sseFraming } from "../../packages/providers/src/framing/sse.ts";
import type { Protocol } from "../../packages/providers/src/protocol.ts";
import { anthropicMessagesProtocol } from "../../packages/providers/src/protocols/anthropic-messages/protocol.ts";
import { geminiProtocol } from "../../packages/providers/src/protocols/gemini/protocol.ts";
import { openaiChatProtocol } from "../../packages/providers/src/protocols/openai-chat/protocol.ts";
import { openaiResponsesProtocol } from "../../packages/providers/src/protocols/openai-responses/protocol.ts";
import { decode } from "../../packages/providers/src/testing/decode.ts";
import { bytesOf, scenariosOf } from "../../packages/providers/src/testing/fixtures.ts";

/** A reply as a model gives it, delta by delta. `commit` ends a part with what came of it. */
export interface PacedReply {
  readonly deltas: readonly (Delta | { readonly op: "commit"; readonly partId: Delta["partId"] })[];
  readonly ending: Ending;
}

/** Longer than the lane writer gathers: each delta goes out in a batch of its own. */
export const paceMs = 60;

/** A model that gives replies as they are drawn, one delta at a time. */
export function pacedModel(clock: Clock, random: Random, draw: () => PacedReply): Model {
  const produce = async (writer: ReplyWriter) => {
    const { deltas, ending } = draw();
    const usage = { ...noUsage, inputTokens: random.below(1_000), outputTokens: random.below(90) };
    for (const delta of deltas) {
      if (writer.signal.aborted) return { stop: "aborted", cause: abortedCause, usage } as const;
      const said = delta.op === "commit" ? commitOf(writer.draft(), delta.partId) : delta;
      if (said !== undefined) writer.emit(said);
      await clock.sleep(paceMs, writer.signal);
    }
    return { ...ending, usage };
  };
  const id = "paced/model";
  return {
    id,
    stream: ({ signal }) => createModelStream({ model: id, signal, produce }),
  };
}

/** What vendors replied in our fixtures, cut where their events were. */
export function vendorReplies(): readonly PacedReply[] {
  return [
    ...repliesOf(anthropicMessagesProtocol),
    ...repliesOf(openaiChatProtocol),
    ...repliesOf(openaiResponsesProtocol),
    ...repliesOf(geminiProtocol),
  ];
}

function repliesOf<State>(protocol: Protocol<VendorEvent, State>): readonly PacedReply[] {
  return scenariosOf(protocol.id).flatMap(({ name }) => {
    const { deltas, end } = decode(protocol, sseFraming(), [bytesOf(protocol.id, name)]);
    const { usage: _, ...ending } = end;
    // Long ones show nothing more, and each delta is several positions on each backend.
    return deltas.length >= 4 && deltas.length <= 40 ? [{ deltas, ending }] : [];
  });
}

const words = ["The ", "sky ", "is ", "日本 ", "👩‍👩‍👧 ", "\n\n", "é", "{}", " </s>", "x".repeat(60)];

/** A reply of any parts, with any ending. */
export function drawReply(random: Random, tools: readonly string[]): PacedReply {
  const parts = 1 + random.below(4);
  const deltas = Array.from({ length: parts }, (_, at) =>
    drawPart(random, tools, `p${at + 1}`),
  ).flat();
  const called = deltas.some((delta) => delta.op === "begin_part" && delta.kind === "tool_call");
  return cut(random, deltas, called);
}

/** Mostly whole; else cut anywhere by a fault, of which some are worth another try. */
function cut(random: Random, deltas: PacedReply["deltas"], called: boolean): PacedReply {
  const draw = random.next();
  if (draw < 0.7) return { deltas, ending: { stop: called ? "tools" : "end", evidence: "said" } };
  const some = deltas.slice(0, random.below(deltas.length + 1));
  if (draw < 0.9) {
    const cause = { code: "overloaded", message: "too busy", retryable: true };
    return { deltas: some, ending: { stop: "failed", cause } };
  }
  if (draw < 0.95)
    return {
      deltas: some,
      ending: { stop: "truncated", cause: { code: "truncated", message: "cut" } },
    };
  return { deltas: some, ending: { stop: "length", evidence: "said" } };
}

function drawPart(random: Random, tools: readonly string[], name: string): PacedReply["deltas"] {
  const id = partId(name);
  const draw = random.next();
  const some = <T>(make: (at: number) => T): readonly T[] =>
    Array.from({ length: 1 + random.below(5) }, (_, at) => make(at));
  const wrap = (opening: PartOpening, content: readonly Delta[]): PacedReply["deltas"] => [
    { op: "begin_part", partId: id, ...opening },
    ...content,
    ...(random.chance(0.2)
      ? [{ op: "set_metadata", partId: id, metadata: { seen: true } } as const]
      : []),
    ...(random.chance(0.95) ? [{ op: "commit", partId: id } as const] : []),
  ];
  const text = (): readonly Delta[] =>
    some(() => ({ op: "append_text", partId: id, chunk: random.pick(words) }));
  if (draw < 0.35) return wrap({ kind: "text" }, text());
  if (draw < 0.45) return wrap({ kind: "reasoning" }, text());
  if (draw < 0.55) {
    const bytes = some(() => Uint8Array.from({ length: 9 }, () => random.below(256)));
    return wrap(
      { kind: "media", mediaType: "image/png" },
      bytes.map((chunk) => ({ op: "append_bytes", partId: id, chunk })),
    );
  }
  if (draw < 0.65)
    return wrap(
      { kind: "structured" },
      some((at) => ({ op: "replace_structured", partId: id, value: { rows: at, of: [null] } })),
    );
  const raw = random.pick(["{}", '{"a":1}', '{"a":2,"b":[1,2]}', '{"a":']);
  const half = Math.floor(raw.length / 2);
  const chunks = [raw.slice(0, half), raw.slice(half)].filter((chunk) => chunk !== "");
  const called = callId(`call_${random.below(1_000_000)}`);
  return wrap(
    { kind: "tool_call", callId: called, tool: random.pick(tools) },
    chunks.map((chunk) => ({ op: "append_text", partId: id, chunk })),
  );
}
