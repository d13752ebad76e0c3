import type { JsonObject } from "@millrace/core";
import { expect, test } from "vitest";
import { strictAnthropic } from "../vendors/index.ts";
import { MessagesClient } from "./messages-client.ts";

export const betas = {
  controls: "thinking-binding-controls-2026-08-01",
  clearAt: "mid-conversation-system-clear-at-2026-08-21",
  perTurn: "mid-conversation-output-config-2026-07-01",
  byReference: "mid-conversation-tool-changes-2026-07-01",
  byValue: "inline-tools-2026-09-15",
} as const;

export const mark = { cache_control: { type: "ephemeral" } } as const;
export const longMark = { cache_control: { type: "ephemeral", ttl: "1h" } } as const;

type Content = readonly (JsonObject | string)[];

export function text(value: string): JsonObject {
  return { type: "text", text: value };
}

/** A message of the user: texts, or other blocks. */
export function user(...content: Content): JsonObject {
  return {
    role: "user",
    content: content.map((each) => (typeof each === "string" ? text(each) : each)),
  };
}

export function assistant(...content: Content): JsonObject {
  return { ...user(...content), role: "assistant" };
}

export function system(...content: Content): JsonObject {
  return { ...user(...content), role: "system" };
}

export function call(id: string, name = "weather"): JsonObject {
  return { type: "tool_use", id, name, input: {} };
}

export function result(id: string): JsonObject {
  return { type: "tool_result", tool_use_id: id, content: "4" };
}

/** The message for a block or a union member that is not among the expected ones. */
export function unexpectedTag(type: string, expected: readonly string[]): string {
  const names = expected.map((tag) => `'${tag}'`).join(", ");
  return `Input tag '${type}' found using 'type' does not match any of the expected tags: ${names}`;
}

/** The blocks that the vendor takes without a beta. */
export const plainTags: readonly string[] = [
  "container_upload",
  "document",
  "fallback",
  "image",
  "mcp_tool_result",
  "mcp_tool_use",
  "redacted_thinking",
  "search_result",
  "server_tool_use",
  "text",
  "thinking",
  "tool_result",
  "tool_use",
];

/** A request, and the refusal that the vendor's documentation describes for it. */
export interface Rule {
  readonly name: string;
  readonly messages: readonly JsonObject[];
  readonly fields?: JsonObject;
  readonly betas?: readonly string[];
  /** Undefined if the request is accepted. */
  readonly refused?: string;
  readonly code?: string;
}

/** One test for each rule. */
export function testRules(rules: readonly Rule[]): void {
  const rows = rules.map((rule) => {
    return [rule.name, rule.refused === undefined ? "accepted" : "refused", rule] as const;
  });
  test.for(rows)("%s is %s", ([, , { messages, fields, betas: sent = [], refused, code }]) => {
    const vendor = strictAnthropic({ now: () => 0, refuses: ["secret-2026-01-01"] });
    const client = new MessagesClient(vendor).append(...messages);
    client.fields = { ...client.fields, ...fields };
    client.betas = sent;

    const received = client.send();

    expect(received.refused).toBe(refused);
    expect(received.code).toBe(code);
    expect(vendor.refused).toEqual(refused === undefined ? [] : [refused]);
  });
}
