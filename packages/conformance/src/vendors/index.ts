export { strictAnthropic } from "./anthropic.ts";
export { strictBedrock } from "./bedrock.ts";
export type {
  AcceptedRequest,
  CacheBill,
  DroppedThinking,
  ScriptedCall,
  ScriptedReply,
  StrictVendor,
  StrictVendorOptions,
  VendorHttpRequest,
  VendorHttpResponse,
} from "./vendor.ts";
