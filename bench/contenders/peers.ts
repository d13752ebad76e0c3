/** Peers, each as its documentation recommends, with retries off. Loaded only when they run. */
import { both, hasCalls, isAnthropic, startWriting, writeFileSchema } from "./contender.ts";
import type { Contender } from "./contender.ts";

const go = [{ role: "user" as const, content: "go" }];
const chatTools = [
  {
    type: "function" as const,
    function: { name: "write_file", description: "w", parameters: writeFileSchema },
  },
];

function openaiOptions(base: string): { apiKey: string; baseURL: string; maxRetries: number } {
  return { apiKey: "k", baseURL: `${base}/v1`, maxRetries: 0 };
}

export const openaiStream: Contender = {
  dialects: ["openai-chat"],
  run: async (base, model) => {
    const { default: OpenAI } = await import("openai");
    const tools = hasCalls(model) ? { tools: chatTools } : {};
    const client = new OpenAI(openaiOptions(base));
    const stream = client.chat.completions.stream({ model, messages: go, ...tools } as never);
    const { choices } = await stream.finalChatCompletion();
    const outcome = startWriting();
    outcome.text = choices[0]?.message.content ?? "";
    for (const call of choices[0]?.message.tool_calls ?? []) {
      if (call.type === "function") {
        outcome.calls.push({
          name: call.function.name,
          input: JSON.parse(call.function.arguments),
        });
      }
    }
    return outcome;
  },
};

export const anthropicStream: Contender = {
  dialects: ["anthropic-messages"],
  run: async (base, model) => {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const client = new Anthropic({ apiKey: "k", baseURL: base, maxRetries: 0 });
    const { content } = await client.messages
      .stream({ model, max_tokens: 64_000, messages: go })
      .finalMessage();
    const outcome = startWriting();
    for (const block of content) {
      if (block.type === "text") outcome.text += block.text;
      else if (block.type === "thinking") outcome.thinking += block.thinking;
      else if (block.type === "tool_use") {
        outcome.calls.push({ name: block.name, input: block.input });
      }
    }
    return outcome;
  },
};

export const aiSdk: Contender = {
  dialects: both,
  run: async (base, name) => {
    const { jsonSchema, streamText, tool } = await import("ai");
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const options = { apiKey: "k", baseURL: `${base}/v1` };
    const model = isAnthropic(name)
      ? createAnthropic(options)(name)
      : createOpenAICompatible({ ...options, name: "bench" })(name);
    const inputSchema = jsonSchema(writeFileSchema as never);
    const tools = hasCalls(name) ? { write_file: tool({ description: "w", inputSchema }) } : {};
    const outcome = startWriting();
    const result = streamText({ model, prompt: "go", tools, maxRetries: 0 } as never);
    for await (const part of result.fullStream) {
      if (part.type === "text-delta") outcome.text += part.text;
      else if (part.type === "reasoning-delta") outcome.thinking += part.text;
      else if (part.type === "tool-call") {
        outcome.calls.push({ name: part.toolName, input: part.input });
      } else if (part.type === "error") throw part.error;
    }
    return outcome;
  },
};

export const piAi: Contender = {
  dialects: both,
  run: async (base, name) => {
    const anthropic = isAnthropic(name);
    const api = anthropic ? "anthropic-messages" : "openai-completions";
    const { stream } = (await import(`@earendil-works/pi-ai/api/${api}`)) as {
      readonly stream: (...given: readonly unknown[]) => PiStream;
    };
    const model = {
      id: name,
      name,
      api,
      provider: anthropic ? "anthropic" : "openai",
      baseUrl: anthropic ? base : `${base}/v1`,
      reasoning: anthropic,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 200_000,
      maxTokens: 64_000,
      compat: {
        supportsStore: false,
        supportsDeveloperRole: false,
        supportsReasoningEffort: false,
      },
    };
    const tools = hasCalls(name)
      ? [{ name: "write_file", description: "w", parameters: writeFileSchema }]
      : undefined;
    const asked = { messages: [{ role: "user", content: "go", timestamp: 1 }], tools };
    const events = stream(model, asked, { apiKey: "k", thinkingEnabled: anthropic });
    for await (const { type, error } of events) {
      if (type === "error") throw new Error(error?.errorMessage);
    }
    const outcome = startWriting();
    for (const part of (await events.result()).content) {
      if (part.type === "text") outcome.text += part.text;
      else if (part.type === "thinking") outcome.thinking += part.thinking;
      else outcome.calls.push({ name: part.name, input: part.arguments });
    }
    return outcome;
  },
};

interface PiStream extends AsyncIterable<{ type: string; error?: { errorMessage: string } }> {
  readonly result: () => Promise<{
    readonly content: readonly (
      | { readonly type: "text"; readonly text: string }
      | { readonly type: "thinking"; readonly thinking: string }
      | { readonly type: "toolCall"; readonly name: string; readonly arguments: unknown }
    )[];
  }>;
}

export const openaiAgents: Contender = {
  dialects: ["openai-chat"],
  run: async (base, name) => {
    const agents = await import("@openai/agents");
    const { default: OpenAI } = await import("openai");
    const { z } = await import("zod");
    agents.setTracingDisabled(true);
    const outcome = startWriting();
    const edit = z.object({ line: z.number(), ok: z.boolean() });
    const parameters = z.object({
      path: z.string(),
      mode: z.string(),
      content: z.string(),
      edits: z.array(edit),
    });
    const execute = (input: unknown): string => {
      outcome.calls.push({ name: "write_file", input });
      return "ok";
    };
    const write = agents.tool({ name: "write_file", description: "w", parameters, execute });
    const client = new OpenAI(openaiOptions(base));
    const agent = new agents.Agent({
      name: "bench",
      instructions: "go",
      model: new agents.OpenAIChatCompletionsModel(client as never, name),
      ...(hasCalls(name) ? { tools: [write], toolUseBehavior: "stop_on_first_tool" as const } : {}),
    });
    const run = await agents.run(agent, "go", { stream: true });
    for await (const event of run) {
      if (event.type !== "raw_model_stream_event") continue;
      if (event.data.type === "output_text_delta") outcome.text += event.data.delta;
    }
    await run.completed;
    return outcome;
  },
};
