import type { CallSettings, streamText } from "ai";

type StreamTextOptions = Parameters<typeof streamText>[0];

/** What is written for an option of the AI SDK, and what is different. */
export interface Counterpart {
  readonly write: string;
  readonly note?: string;
}

/** The settings of a call: all that `ai` has. One that it adds fails the type check. */
const callSettings: Readonly<Record<keyof CallSettings, Counterpart>> = {
  maxOutputTokens: { write: "`settings: { maxTokens }`" },
  temperature: { write: "`settings: { temperature }`" },
  topP: { write: "`settings: { topP }`" },
  topK: {
    write: "the vendor's own field in `settings`",
    note: "`top_k` for Anthropic, `generationConfig: { topK }` for Gemini; OpenAI has none",
  },
  presencePenalty: {
    write: "the vendor's own field in `settings`",
    note: "`presence_penalty` for chat completions, `generationConfig: { presencePenalty }` for Gemini",
  },
  frequencyPenalty: {
    write: "the vendor's own field in `settings`",
    note: "`frequency_penalty`, and `frequencyPenalty`, as above",
  },
  stopSequences: { write: "`settings: { stop }`" },
  seed: { write: "`settings: { seed }`" },
  reasoning: {
    write: "`settings: { effort }`, or `thinking`",
    note: "`provider-default` is to leave it out; `xhigh` is `max`",
  },
  maxRetries: {
    write: "`retry: { attempts }` of the agent",
    note: "attempts count the first one: `maxRetries: 2` is `attempts: 3`",
  },
  abortSignal: {
    write: "`run.abort()`, or the signal of `send`",
    note: "a stop ends the run for every viewer; a viewer who leaves stops nothing",
  },
  headers: { write: "`headers` of the provider" },
};

/** What else `streamText` takes, as far as a program of ours has it. */
const others: Readonly<Partial<Record<keyof StreamTextOptions, Counterpart>>> = {
  model: { write: "`model` of `defineAgent`", note: "`aiSdk(model)` takes the one you have" },
  instructions: { write: "`instructions` of `defineAgent`" },
  system: { write: "`instructions` of `defineAgent`" },
  prompt: { write: '`session.send("…")`' },
  messages: {
    write: "nothing: a session has its own history",
    note: "earlier items are the `transcript` of `agent.open`",
  },
  tools: {
    write: "`tools` of `defineAgent`, each by `defineTool`",
    note: "zod schemas as they are",
  },
  toolChoice: {
    write: "`settings: { toolChoice }`",
    note: '`{ type: "tool", toolName }` is `{ tool }`',
  },
  activeTools: { write: "`hooks: { beforeReply }`, which returns a request with fewer `tools`" },
  prepareStep: { write: "`hooks: { beforeReply }`" },
  toolApproval: { write: '`approve: "ask"` of the tool, or `policy` of the agent' },
  stopWhen: {
    write: "`limits: { turns }`",
    note: "200 if left out; `stepCountIs(20)` is `turns: 20`",
  },
  output: { write: "`send(…, { output: schema })`" },
  timeout: {
    write:
      "`limits: { seconds }`, `stall`, `timeouts` of the provider, `limits: { seconds }` of a tool",
  },
  providerOptions: {
    write: "`settings`: a shared setting if there is one, else the vendor's own field",
    note: "flat, by the names of the vendor's API and not by those of its package",
  },
  telemetry: { write: "`observers: [openTelemetry()]` of `@millrace/agent/opentelemetry`" },
  toolCallConcurrency: { write: "`parallel` of `defineAgent`" },
  onFinish: { write: "`await run.result`, or an observer" },
  onError: { write: "`result.outcome` and `result.cause`: a vendor's fault is not thrown" },
  onChunk: { write: "`for await (const event of run)`, or an observer" },
};

/** The options of `streamText` by name, with what is written for them here. */
export const aiSdkOptions: readonly (readonly [string, Counterpart])[] = [
  ...Object.entries(callSettings),
  ...Object.entries(others),
];
