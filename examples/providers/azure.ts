import { azure } from "@millrace/providers/azure";

async function entraToken(): Promise<string> {
  return process.env["ENTRA_TOKEN"] ?? "t";
}

// #region azure
// v1: https://my-resource.openai.azure.com/openai/v1/responses. The key is AZURE_OPENAI_API_KEY.
export const gpt = azure("my-gpt-deployment", { resource: "my-resource", model: "gpt-5.4" });

// The classic API: …/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21
export const classic = azure("my-deployment", {
  endpoint: "https://my-resource.openai.azure.com",
  apiVersion: "2024-10-21",
  api: "chat",
  model: "gpt-4.1", // if the deployment is called otherwise: what a model takes depends on its name
  settings: {
    maxTokens: 4_000,
    temperature: 0.3,
    user_security_context: { application_name: "shop" },
  },
});
// #endregion

// #region entra
// With @azure/identity: () => credential.getToken("https://cognitiveservices.azure.com/.default").then((t) => t.token)
export const byToken = azure("my-gpt-deployment", {
  resource: "my-resource",
  token: () => entraToken(),
});
// #endregion
