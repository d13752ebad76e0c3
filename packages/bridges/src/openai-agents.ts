export { fromOpenaiAgents } from "./openai-agents-run.ts";
export type { OpenaiAgentsResult } from "./openai-agents-run.ts";
export { openaiAgentsProvider } from "./openai-agents-model.ts";
export type {
  OpenaiAgentsOutput,
  OpenaiAgentsProvider,
  OpenaiAgentsRequest,
  OpenaiAgentsResponse,
  OpenaiAgentsUsage,
} from "./openai-agents-model.ts";
