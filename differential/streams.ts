import type { JsonObject } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import { bytesOf, scenariosOf } from "../packages/providers/src/testing/fixtures.ts";
import { quirkBytes, quirksOf } from "../packages/providers/src/testing/quirks.ts";
import type { Quirk } from "../packages/providers/src/testing/quirks.ts";

export const protocols = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
] as const;
export type ProtocolId = (typeof protocols)[number];

/** A model that each reader knows, so that none falls back to a mode for unknown ones. */
export const models: Readonly<Record<ProtocolId, string>> = {
  "openai-chat": "gpt-5",
  "openai-responses": "gpt-5",
  "anthropic-messages": "claude-sonnet-5",
  gemini: "gemini-3-pro-preview",
};

/** One vendor's stream, replayed to each reader. */
export interface Stream {
  /** `<protocol>/<fixture>` or `<protocol>/quirk-<name>`, which is also its path on the server. */
  readonly id: string;
  readonly protocol: ProtocolId;
  readonly bytes: Uint8Array;
  /** The tools that it calls. They are offered to readers that check names. */
  readonly tools: readonly string[];
  /** How a program sets Millrace for such a server. The other readers have no such options. */
  readonly options: JsonObject;
}

/** Every fixture and every quirk of every protocol. */
export function allStreams(): readonly Stream[] {
  return protocols.flatMap((protocol) => [
    ...scenariosOf(protocol).map(({ name, expect }) => ({
      id: `${protocol}/${name}`,
      protocol,
      bytes: bytesOf(protocol, name),
      tools: toolNames(expect.calls),
      options: {},
    })),
    ...quirksOf(protocol).map((quirk) => ({
      id: `${protocol}/quirk-${quirk.name}`,
      protocol,
      bytes: quirkBytes(protocol, dated(quirk)),
      tools: [...new Set([...(quirk.tools ?? []), ...toolNames(quirk.expect.calls)])],
      options: quirk.options ?? {},
    })),
  ]);
}

/**
 * A quirk of Responses leaves out when its response was created. The AI SDK refuses an event without
 * it, and would get no further than the first one.
 */
function dated(quirk: Quirk): Quirk {
  if (typeof quirk.stream === "string") return quirk;
  return { ...quirk, stream: quirk.stream.map((event) => withDate(event)) };
}

function withDate(event: JsonObject | string): JsonObject | string {
  const response = typeof event === "string" ? undefined : event["response"];
  if (typeof event === "string" || !isJsonObject(response)) return event;
  return { ...event, response: { created_at: 0, ...response } };
}

/** A call is written as `tool(raw)`, or `tool!fault`. */
function toolNames(calls: readonly string[] = []): readonly string[] {
  return [...new Set(calls.map((call) => /^[^(!]*/.exec(call)?.[0] ?? ""))].filter(
    (name) => name !== "",
  );
}
