export { fromOpenAiAgents } from "./openai-agents-run.ts";
export type { OpenAiAgentsResult } from "./openai-agents-run.ts";
export { openAiAgentsProvider } from "./openai-agents-model.ts";
export type {
  OpenAiAgentsOutput,
  OpenAiAgentsProvider,
  OpenAiAgentsRequest,
  OpenAiAgentsResponse,
  OpenAiAgentsUsage,
} from "./openai-agents-model.ts";
