import { bedrock, bedrockAnthropic } from "@millrace/providers/bedrock";

async function fromRole() {
  return { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "s", sessionToken: "t" };
}

// #region least
// Region and keys are those of AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
// or AWS_BEARER_TOKEN_BEDROCK.
export const claude = bedrock("us.anthropic.claude-sonnet-4-5-20250929-v1:0", {
  region: "us-east-1",
});
// #endregion

// #region credentials
export const byRole = bedrock("amazon.nova-pro-v1:0", {
  region: "eu-central-1",
  credentials: () => fromRole(), // or fromNodeProviderChain() of @aws-sdk/credential-providers
});
// #endregion

// #region settings
export const careful = bedrock("us.anthropic.claude-sonnet-4-5-20250929-v1:0", {
  region: "us-east-1",
  settings: {
    maxTokens: 16_000,
    temperature: 0.3,
    stop: ["END"],
    toolChoice: "auto",
    cache: { instructions: true, tools: true, items: true }, // cache points
    serviceTier: "priority",
    metadata: { feature: "search" },
    // the vendor's own fields
    guardrailConfig: { guardrailIdentifier: "gr-1", guardrailVersion: "2", trace: "enabled" },
    additionalModelRequestFields: { top_k: 40 },
    performanceConfig: { latency: "optimized" },
  },
});
// #endregion

// #region anthropic
// Anthropic's own requests through InvokeModel: betas and tools that Converse has no field for.
export const native = bedrockAnthropic("us.anthropic.claude-sonnet-4-5-20250929-v1:0", {
  region: "us-east-1",
  settings: {
    maxTokens: 16_000,
    thinking: { budgetTokens: 4_000 },
    betas: ["context-1m-2025-08-07"],
  },
});
// #endregion
