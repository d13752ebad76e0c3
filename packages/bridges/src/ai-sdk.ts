export { aiSdk } from "./ai-sdk-model.ts";
export type { AiSdkCallOptions, AiSdkModel, AiSdkStream } from "./ai-sdk-model.ts";
export { aiSdkProvider } from "./ai-sdk-provider.ts";
export type {
  AiSdkGenerated,
  AiSdkGeneratedPart,
  AiSdkOwnModel,
  AiSdkProvider,
} from "./ai-sdk-provider.ts";
export { fromAiSdk, toAiSdk } from "./ai-sdk-run.ts";
export type { AiSdkResult } from "./ai-sdk-run.ts";
export type {
  AiSdkAssistantPart,
  AiSdkCustom,
  AiSdkFile,
  AiSdkMessage,
  AiSdkReasoning,
  AiSdkText,
  AiSdkToolCall,
  AiSdkToolResult,
} from "./ai-sdk-prompt.ts";
