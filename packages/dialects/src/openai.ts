export { openai } from "./openai/openai-routes.ts";
