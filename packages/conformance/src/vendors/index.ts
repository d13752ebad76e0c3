export { strictAnthropic } from "./anthropic.ts";
export { strictBedrock } from "./bedrock.ts";
export { strictDeepseek } from "./deepseek.ts";
export { strictGemini } from "./gemini.ts";
export { strictResponses } from "./responses.ts";
export type {
  AcceptedRequest,
  CacheBill,
  DroppedThinking,
  PlainCall,
  PlainReply,
  StrictVendor,
  StrictVendorOptions,
  VendorHttpRequest,
  VendorHttpResponse,
} from "./vendor.ts";
