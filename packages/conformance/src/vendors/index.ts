export { strictAnthropic } from "./anthropic.ts";
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
