export { aiSdk } from "./ai-sdk/ai-sdk-routes.ts";
