/** A feature that a vendor or a gateway does not know costs one request, and no session. */
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { strictAnthropic, strictBedrock } from "@millrace/conformance/vendors";
import type { Model } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { anthropic } from "@millrace/providers/anthropic";
import { bedrockAnthropic } from "@millrace/providers/bedrock";
import { startVendorServer } from "@millrace/providers/testing";
import { expect, test } from "vitest";
import { z } from "zod";

const binding = "thinking-binding-controls-2026-08-01";
const inlineTools = "inline-tools-2026-09-15";
const common = { apiKey: "k", retry: false } as const;

test.each([
  ["anthropic", [binding]],
  ["anthropic", [inlineTools]],
  ["anthropic", [binding, inlineTools]],
  ["bedrock", [binding]],
])("%s without %s: each is refused once, and every send completes", async (name, refuses) => {
  const open = name === "bedrock" ? strictBedrock : strictAnthropic;
  const vendor = open({ now: () => 0, refuses });
  await using server = await startVendorServer({
    replies: (request) => vendor.answer(request, () => ({ think: "Hm.", text: "Yes." })),
  });
  const model: Model =
    name === "bedrock"
      ? bedrockAnthropic("anthropic.claude-opus-5-5", { baseUrl: server.url, ...common })
      : anthropic("claude-opus-5-5", { baseUrl: server.url, ...common });
  const agentWith = (...names: readonly string[]): Agent =>
    defineAgent({
      model,
      instructions: "Help.",
      tools: names.map((tool) =>
        defineTool({ name: tool, description: tool, input: z.object({}), run: () => "done" }),
      ),
    });
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  const outcomes: string[] = [];
  for (const agent of [agentWith("a"), agentWith("a"), agentWith("a", "b"), agentWith("b")]) {
    await using session = await agent.open({ id: "s", store, log });
    outcomes.push((await session.send("go").result).outcome);
  }

  expect(outcomes).toEqual(outcomes.map(() => "completed"));
  const betas = vendor.refused.filter((message) => /Unexpected value|invalid beta/.test(message));
  expect(betas.length).toBe(refuses.length);
  // Without both nothing keeps the thinking of a changed beginning: it is sent once more, without it.
  expect(vendor.refused.length - betas.length).toBeLessThanOrEqual(refuses.length > 1 ? 2 : 0);
});
