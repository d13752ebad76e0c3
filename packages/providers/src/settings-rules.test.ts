/** Settings beside each other, at the door, and the breakpoints of a request. */
import { itemId, partId } from "@millrace/core/writing";
import type { Item, JsonObject, Part } from "@millrace/core";
import type { ModelRequest, RequestSettings } from "@millrace/core/ports";
import { describe, expect, test } from "vitest";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai, openaiChat, openaiCompatible } from "./openai.ts";
import { RequestRefusal } from "./protocols/refusal.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { settingsTargets } from "./testing/settings/cases.ts";
import { bodyWith } from "./testing/settings/outcome.ts";

function targetOf(name: string): (typeof settingsTargets)[number] {
  const target = settingsTargets.find((each) => each.name === name);
  if (target === undefined) throw new Error(`no target ${name}`);
  return target;
}

function refusalOf(build: () => unknown): string {
  try {
    build();
  } catch (error) {
    if (error instanceof RequestRefusal) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}

type Case = readonly [target: string, model: string, settings: RequestSettings, names: RegExp];

const twice: readonly Case[] = [
  ["openai-chat", "gpt-4.1", { maxTokens: 9, max_tokens: 9 }, /maxTokens .*: max_tokens is given/],
  ["openai-chat", "gpt-4.1", { topP: 1, top_p: 1 }, /topP .*: top_p is given too/],
  ["openai-chat", "gpt-5", { effort: "low", reasoning_effort: "low" }, /effort .*reasoning_effort/],
  [
    "openai-responses",
    "gpt-5",
    { effort: "low", reasoning: { effort: "low" } },
    /reasoning\.effort/,
  ],
  ["anthropic-messages", "claude-sonnet-5", { stop: "x", stop_sequences: ["y"] }, /stop_sequences/],
  ["anthropic-messages", "claude-sonnet-5", { cache: true, cache_control: {} }, /cache_control is/],
  [
    "anthropic-messages",
    "claude-sonnet-4-5",
    { effort: "low", thinking: { type: "adaptive" } },
    /effort .*: thinking is given too/,
  ],
  [
    "gemini",
    "gemini-3-pro",
    { seed: 1, generationConfig: { seed: 1 } },
    /generationConfig\.seed is/,
  ],
];

describe("two settings", () => {
  test.each(twice)("of one thing are refused: %s, %s, %o", (name, model, settings, names) => {
    expect(refusalOf(() => bodyWith(targetOf(name), model, settings))).toMatch(names);
  });

  const apart: readonly (readonly [string, string, RequestSettings, JsonObject])[] = [
    [
      "openai-responses",
      "gpt-5",
      { effort: "low", reasoning: { summary: "auto" } },
      { reasoning: { effort: "low", summary: "auto" } },
    ],
    [
      "anthropic-messages",
      "claude-sonnet-5",
      { toolChoice: "auto", parallelTools: false },
      { tool_choice: { type: "auto", disable_parallel_tool_use: true } },
    ],
    [
      "anthropic-messages",
      "claude-opus-4-5",
      { effort: "low", thinking: { budgetTokens: 2000 } },
      { output_config: { effort: "low" }, thinking: { type: "enabled", budget_tokens: 2000 } },
    ],
    [
      "anthropic-messages",
      "claude-opus-4-6",
      { effort: "high", toolChoice: "required" },
      { output_config: { effort: "high" }, tool_choice: { type: "any" } },
    ],
    [
      "anthropic-messages",
      "claude-sonnet-4-5",
      { effort: "high", maxTokens: 3000 },
      { max_tokens: 3000, thinking: { type: "enabled", budget_tokens: 1500 } },
    ],
    [
      "gemini",
      "gemini-3-pro",
      { maxTokens: 9, generationConfig: { topK: 3 } },
      { generationConfig: { maxOutputTokens: 9, topK: 3 } },
    ],
    ["openai-chat", "gpt-5.1", { effort: "none", temperature: 0 }, { temperature: 0 }],
    ["openai-chat", "gpt-5.1", { effort: "none", thinking: false }, { reasoning_effort: "none" }],
    [
      "openai-compatible",
      "glm",
      { thinking: { type: "enabled" } },
      { thinking: { type: "enabled" } },
    ],
    [
      "gemini",
      "gemini-3-pro",
      { serviceTier: "standard" as "default" },
      { serviceTier: "standard" },
    ],
  ];

  test.each(apart)("of different things are sent: %s, %s, %o", (name, model, settings, body) => {
    expect(bodyWith(targetOf(name), model, settings)).toMatchObject(body);
  });

  const against: readonly Case[] = [
    ["openai-chat", "gpt-5.1", { effort: "high", temperature: 0 }, /temperature .*leave one/],
    ["openai-chat", "gpt-5.1", { reasoning_effort: "high", topP: 0.5 }, /topP .*leave one of/],
    [
      "openai-responses",
      "gpt-5.1",
      { effort: "none", thinking: true },
      /effort .*thinking is true/,
    ],
    ["gemini", "gemini-3-pro", { effort: "low", thinking: { budgetTokens: 9 } }, /leave one out/],
    ["gemini", "gemini-2.5-pro", { effort: "high", thinking: false }, /thinking is false: leave/],
    [
      "anthropic-messages",
      "claude-sonnet-4-5",
      { temperature: 0, topP: 0.5 },
      /topP .*leave one out/,
    ],
    [
      "anthropic-messages",
      "claude-opus-4-6",
      { temperature: 0, effort: "low" },
      /temperature .*thinks/,
    ],
    [
      "anthropic-messages",
      "claude-sonnet-4-5",
      { toolChoice: "required", thinking: { budgetTokens: 2000 } },
      /toolChoice .*while the model thinks/,
    ],
    [
      "anthropic-messages",
      "claude-sonnet-4-5",
      { maxTokens: 2000, thinking: { budgetTokens: 2000 } },
      /budget below maxTokens/,
    ],
    [
      "anthropic-messages",
      "claude-sonnet-4-5",
      { maxTokens: 2000, effort: "low" },
      /set maxTokens to/,
    ],
    ["openai-chat", "gpt-4.1", { toolChoice: { tool: "gone" } }, /no tool "gone" is offered/],
  ];

  test.each(against)(
    "against each other are refused: %s, %s, %o",
    (name, model, settings, words) => {
      expect(refusalOf(() => bodyWith(targetOf(name), model, settings))).toMatch(words);
    },
  );
});

function user(...parts: readonly Part[]): Item {
  return { id: itemId("i1"), author: "user", parts, stop: "end" };
}

function text(id: string, marked = false): Part {
  const metadata = { options: { cache: true } };
  return { kind: "text", id: partId(id), text: `Text ${id}.`, ...(marked ? { metadata } : {}) };
}

describe("without tools", () => {
  test.each(settingsTargets)("$name is not asked about them", ({ protocol, models }) => {
    const [model = ""] = models;
    const ask = (settings: RequestSettings): JsonObject =>
      protocol.request({ transcript: [], settings }, { model }).body;
    expect(ask({ toolChoice: "none", parallelTools: true })).toStrictEqual(ask({}));
    expect(refusalOf(() => ask({ toolChoice: "required" }))).toContain("offer tools, or leave");
  });
});

describe("breakpoints", () => {
  const { protocol } = targetOf("anthropic-messages");
  const request = (cache: RequestSettings["cache"], ...parts: readonly Part[]): JsonObject =>
    protocol.request(
      { transcript: [user(...parts)], instructions: "Be kind.", settings: { cache } },
      { model: "claude-sonnet-5" },
    ).body;

  test("have one time to live", () => {
    const body = request({ instructions: true, ttl: "1h" }, text("a", true), text("b"));
    const mark = { type: "ephemeral", ttl: "1h" };
    expect(body["system"]).toStrictEqual([{ type: "text", text: "Be kind.", cache_control: mark }]);
    expect(body["messages"]).toStrictEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Text a.", cache_control: mark },
          { type: "text", text: "Text b." },
        ],
      },
    ]);
  });

  test("are four at most, with those of parts and of the last item", () => {
    const marked = ["a", "b", "c"].map((id) => text(id, true));
    expect(() => request({ items: true }, ...marked, text("d"))).not.toThrow();
    const refusal = refusalOf(() => request(true, ...marked, text("d")));
    expect(refusal).toMatch(/setting cache \(true\): the request has 5 breakpoints and may have 4/);
  });

  test("of the last part are not there twice", () => {
    expect(
      JSON.stringify(request({ items: true }, text("a", true))).match(/cache_control/g),
    ).toHaveLength(1);
  });
});

describe("at the door", () => {
  const wrong: readonly (readonly [RequestSettings, string])[] = [
    [{ maxTokens: -1 }, "settings.maxTokens is -1: use a whole number from 1"],
    [{ maxTokens: Number.NaN }, "settings.maxTokens is NaN: use a whole number from 1"],
    [{ maxTokens: 1.5 }, "settings.maxTokens is 1.5: use a whole number from 1"],
    [{ temperature: -0.1 }, "settings.temperature is -0.1: use a number from 0"],
    [{ topP: 1.1 }, "settings.topP is 1.1: use a number from 0 to 1"],
    [{ stop: "" }, 'settings.stop is "": use a text or a list of texts, none of them empty'],
    [{ seed: 0.5 }, "settings.seed is 0.5: use a whole number"],
    [{ effort: "hgih" as "high" }, 'settings.effort is "hgih": use "none" or "minimal"'],
    [{ toolChoice: "any" as "auto" }, 'settings.toolChoice is "any": use "auto", "none"'],
    [{ cache: { ttl: "2h" as "1h" } }, "settings.cache is an object with ttl: use true, false or"],
    [{ cache: { until: 3 } as object }, "settings.cache is an object with until: use true, false"],
    [{ metadata: { a: 1 as unknown as string } }, "settings.metadata is an object with a: use"],
    [{ thinking: { budget: 3 } }, "settings.thinking is an object with budget: use true, false or"],
  ];
  const doors = [
    ["openai", (settings: RequestSettings) => openai("gpt-5", { settings })],
    ["openaiChat", (settings: RequestSettings) => openaiChat("gpt-5", { settings })],
    [
      "openaiCompatible",
      (settings: RequestSettings) =>
        openaiCompatible("llama3", { settings, baseUrl: "http://localhost:11434/v1" }),
    ],
    ["anthropic", (settings: RequestSettings) => anthropic("claude-sonnet-5", { settings })],
    ["gemini", (settings: RequestSettings) => gemini("gemini-3-pro", { settings })],
  ] as const;

  test.each(doors)("%s refuses what no vendor takes", (name, door) => {
    for (const [settings, words] of wrong) {
      expect(() => door(settings)).toThrow(`${name}: ${words}`);
    }
  });

  test.each(doors)("%s takes a vendor's own fields beside", (_, door) => {
    expect(() =>
      door({ maxTokens: 9, stop: undefined, top_k: 3, other: { deep: 1 } }),
    ).not.toThrow();
  });

  test("a name of a setting among the options is a hint", () => {
    const options = { maxTokens: 3 } as object;
    expect(() => openai("gpt-5", options)).toThrow("write settings: { maxTokens: … }");
  });
});

test("a setting that is not taken ends the reply before anything is sent, with its name as evidence", async () => {
  await using server = await startVendorServer({ replies: [] });
  const model = openai("gpt-5", { baseUrl: server.url, apiKey: "k", settings: { seed: 7 } });
  const request: ModelRequest = { transcript: [user(text("a"))] };
  const reply = await model.stream(request).result;
  expect(server.requests).toHaveLength(0);
  expect(reply).toMatchObject({
    stop: "failed",
    parts: [],
    cause: { code: "bad_request", retryable: false, evidence: { setting: "seed" } },
  });
  expect(reply.cause?.message).toBe(
    "OpenAI's Responses API does not take the setting seed (7): this API has no seed: ask by openaiChat, or leave the setting out (nothing was sent)",
  );
});
