/**
 * Each way in which requests used to change what a vendor had seen, one by one: the vendor that checks it
 * refuses nothing, without the net by which it would leave out what does not fit.
 */
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent, AgentSettings, Content } from "@millrace/agent";
import { strictAnthropic } from "@millrace/conformance/vendors";
import type { AcceptedRequest, PlainReply, StrictVendor } from "@millrace/conformance/vendors";
import { sessionId } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import { memoryBlobs, memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { BlobStore } from "@millrace/core/ports";
import { anthropic } from "@millrace/providers/anthropic";
import type { AnthropicSettings } from "@millrace/providers/anthropic";
import { startVendorServer } from "@millrace/providers/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";

type Settings = Partial<AgentSettings<[]>> & { readonly model?: never };

interface Step {
  /** How the agent differs from the one before it in this step. */
  readonly settings?: Settings;
  readonly name?: string;
  readonly thinking?: AnthropicSettings["thinking"];
  readonly says?: readonly PlainReply[];
  readonly output?: boolean;
  readonly prompt?: Content;
}

interface Played {
  readonly vendor: StrictVendor;
  readonly outcomes: readonly string[];
  readonly facts: readonly Fact[];
}

const plain: PlainReply = { think: "Hm.", text: "Yes." };
const bound = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } } as const;

/** A session, each send by a process with an agent of its own. */
async function play(steps: readonly Step[], blobs?: BlobStore): Promise<Played> {
  const vendor = strictAnthropic({ now: () => 0 });
  const replies: PlainReply[] = [];
  const say = ({ wantsJson }: AcceptedRequest): PlainReply =>
    replies.shift() ?? (wantsJson ? { think: "Hm.", text: "{}" } : plain);
  await using server = await startVendorServer({
    replies: (request) => vendor.answer(request, say),
  });
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  const outcomes: string[] = [];
  for (const {
    settings,
    name = "claude-opus-5-5",
    thinking = bound,
    says = [],
    output,
    prompt = "go",
  } of steps) {
    replies.push(...says);
    const options = {
      baseUrl: server.url,
      apiKey: "k",
      retry: false,
      settings: { thinking },
    } as const;
    const agent = defineAgent({
      instructions: "Help.",
      ...settings,
      model: anthropic(name, options),
    }) as unknown as Agent;
    await using session = await agent.open({ id: "s", store, log, ...(blobs && { blobs }) });
    const run = session.send(prompt, output === true ? { output: z.object({}) } : {});
    outcomes.push((await run.result).outcome);
  }
  const { uid } = (await store.find(sessionId("s"))) ?? {};
  return { vendor, outcomes, facts: uid === undefined ? [] : await store.read(uid) };
}

function tool(name: string, outputBytes = 65_536): ReturnType<typeof defineTool> {
  return defineTool({
    name,
    description: name,
    input: z.object({}),
    limits: { outputBytes },
    run: () => "a line of output\n".repeat(8_000),
  }) as unknown as ReturnType<typeof defineTool>;
}

const tools = (...made: readonly unknown[]): Settings => ({ tools: made }) as Settings;
const calls: PlainReply = { think: "Hm.", calls: [{ name: "look", input: {} }] };
const twice = (step: Step): readonly Step[] => [step, step];

const causes: Readonly<Record<string, readonly Step[]>> = {
  "1 other instructions": [{}, ...twice({ settings: { instructions: "Help gladly." } })],
  "1 instructions with a date": [1, 2, 3].map((day) => ({
    settings: { instructions: () => `It is day ${day}.` },
  })),
  "2 a tool more, a tool less": [
    { settings: tools(tool("a")) },
    ...twice({ settings: tools(tool("a"), tool("b")) }),
    ...twice({ settings: tools(tool("b")) }),
  ],
  "3 a long result": [
    { settings: tools(tool("look")), says: [calls] },
    ...twice({ settings: tools(tool("look")) }),
  ],
  "4 a shape of the answer": [{}, { output: true }, ...twice({})],
  "5 a summary": Array.from({ length: 5 }, () => ({
    settings: { context: { window: 500, compactAbove: 0.1, keep: 2, compaction: "own" } },
  })),
  "5 a summary of the vendor": Array.from({ length: 5 }, () => ({
    settings: { context: { window: 500, compactAbove: 0.1, keep: 2 } },
  })),
  "6 shorter results": [
    { settings: tools(tool("look")), says: [calls] },
    ...twice({ settings: tools(tool("look", 2_000)) }),
  ],
  "7 names of results that are cut": [
    ...twice({ settings: tools(tool("look", 2_000)), says: [calls, calls] }),
    ...twice({ settings: tools(tool("look", 2_000)) }),
  ],
  "8 a reply that ends a request": [
    { says: [{ think: "Hm.", text: "Half. ", stop: "paused" }] },
    ...twice({}),
  ],
  "9 thinking turned off and on": [
    { name: "claude-haiku-5-5", settings: tools(tool("look")), says: [calls] },
    {
      name: "claude-haiku-5-5",
      settings: tools(tool("look")),
      thinking: { type: "disabled" },
      says: [{ calls: calls.calls ?? [] }, { text: "Yes." }],
    },
    ...twice({ name: "claude-haiku-5-5", settings: tools(tool("look")), says: [calls] }),
  ],
  "12 another model and back": [{}, { name: "claude-fable-5-1" }, ...twice({})],
  "16 no tools any more": [{ settings: tools(tool("look")), says: [calls] }, ...twice({})],
};

describe("a vendor that checks what stands before thinking refuses nothing after", () => {
  test.for(Object.entries(causes))("%s", async ([, steps]) => {
    const { vendor, outcomes } = await play(steps);

    expect(vendor.refused).toEqual([]);
    expect(outcomes).toEqual(outcomes.map(() => "completed"));
    expect(vendor.dropped.filter(({ reason }) => !reason.startsWith("model_"))).toEqual([]);
  });
});

test("11 a picture whose bytes are lost stays left out, and the session goes on", async () => {
  const whole = memoryBlobs();
  let isLost = false;
  const blobs: BlobStore = {
    ...whole,
    read: async (...given: Parameters<BlobStore["read"]>) =>
      isLost ? undefined : await whole.read(...given),
  };
  const bytes = new Uint8Array(40_000).fill(7);
  const picture: Content = ["Look.", new Blob([bytes], { type: "image/png" })];
  const lose = (): string => {
    isLost = true;
    return "Help.";
  };
  const find = (): string => {
    isLost = false;
    return "Help.";
  };

  const { vendor, outcomes, facts } = await play(
    [
      { prompt: picture },
      {},
      { settings: { instructions: lose } },
      { settings: { instructions: find } },
      {},
    ],
    blobs,
  );

  expect(outcomes).toEqual(outcomes.map(() => "completed"));
  expect(vendor.refused).toEqual([]);
  expect(facts.filter(({ type }) => type === "part_left_out")).toHaveLength(1);
  expect(facts.filter(({ type }) => type === "prefix_broken")).toMatchObject([
    { reason: "the bytes of a part are lost" },
  ]);
});

test("13 a hook that changes instructions is stored as a break, and the session goes on", async () => {
  const hooked = (words: string): Step => ({
    settings: {
      hooks: { beforeReply: (request) => ({ ...request, instructions: words }) },
      tools: [tool("look")] as never,
    },
    says: [calls],
  });
  let count = 0;
  const changing: Step = {
    settings: {
      hooks: {
        beforeReply: (request) => ({ ...request, instructions: `Request ${(count += 1)}.` }),
      },
      tools: [tool("look")] as never,
    },
    says: [calls],
  };

  const kept = await play([hooked("Same."), hooked("Same.")]);
  expect(kept.vendor.refused).toEqual([]);
  expect(kept.facts.filter(({ type }) => type === "prefix_broken")).toEqual([]);

  const { outcomes, facts } = await play([changing, changing]);
  expect(outcomes).toEqual(["completed", "completed"]);
  expect(facts.find(({ type }) => type === "prefix_broken")).toMatchObject({
    reason: "the instructions changed before the latest reply",
  });
});
