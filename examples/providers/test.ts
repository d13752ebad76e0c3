// Every model of this folder is asked once. A setting that its vendor does not take is refused before anything is
// sent, so a proxy that nobody serves is enough: a request comes as far as that.
import type { Model } from "@millrace/core";

const keys = [
  "ANTHROPIC",
  "AZURE_OPENAI",
  "DEEPSEEK",
  "GEMINI",
  "GROQ",
  "MISTRAL",
  "OPENAI",
  "OPENROUTER",
];
for (const name of ["HTTPS_PROXY", "HTTP_PROXY"]) process.env[name] = "http://127.0.0.1:9";
for (const name of keys) process.env[`${name}_API_KEY`] = "k";
process.env["AWS_BEARER_TOKEN_BEDROCK"] = "k";

function modelsIn(exported: object): readonly Model[] {
  return Object.values(exported).flat().filter(isModel);
}

function isModel(value: unknown): value is Model {
  return typeof value === "object" && value !== null && "stream" in value;
}

const files = [
  "anthropic",
  "openai",
  "azure",
  "bedrock",
  "gemini",
  "vertex",
  "compatible",
  "models",
];
const tools = [{ name: "search", input: { type: "object", properties: {} } }];
let asked = 0;
for (const file of files) {
  const exported = (await import(`./${file}.ts`)) as object;
  for (const model of modelsIn(exported)) {
    const { stop, cause } = await model.stream({ transcript: [], tools, retry: false }).result;
    if (cause?.code !== "connection_refused") {
      throw new Error(`${file}, ${model.id}: ${cause?.code ?? stop}: ${cause?.message}`);
    }
    asked += 1;
  }
}
console.log(`${asked} models take their settings`);
