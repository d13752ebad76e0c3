import { expects, refusal } from "@millrace/core/checks";
import type { Door, OptionChecks } from "@millrace/core/checks";
import type { JsonObject, Model } from "@millrace/core";
import type { VendorOptions } from "./auth.ts";
import { bedrockAuth, bedrockEndpoint, isRegion } from "./aws-auth.ts";
import type { AwsCredentialSource } from "./aws-auth.ts";
import { checkProvider } from "./check-options.ts";
import { mapRequest } from "./endpoint.ts";
import { awsEventStream } from "./framing/aws-event-stream.ts";
import type { VendorEvent } from "./framing/framing.ts";
import type { AnthropicSettings } from "./protocols/anthropic-messages/fields.ts";
import { anthropicMessagesProtocol } from "./protocols/anthropic-messages/protocol.ts";
import type { AnthropicMessagesState } from "./protocols/anthropic-messages/protocol.ts";
import { anthropicSettings } from "./protocols/anthropic-messages/settings.ts";
import type { BedrockSettings } from "./protocols/bedrock-converse/fields.ts";
import { bedrockConverseProtocol } from "./protocols/bedrock-converse/protocol.ts";
import { modelPath } from "./protocols/bedrock-converse/request.ts";
import { refuse } from "./protocols/settings.ts";
import type { Protocol } from "./protocol.ts";
import { createModel } from "./provider.ts";
import type { ProviderOptions, ProviderParts } from "./provider.ts";
import type { SettingsTable } from "./settings.ts";

export type { BedrockSettings } from "./protocols/bedrock-converse/fields.ts";
// To compose a provider of your own.
export { bedrockConverseProtocol } from "./protocols/bedrock-converse/protocol.ts";
export { awsEventStream } from "./framing/aws-event-stream.ts";
export type { AwsEventStreamOptions } from "./framing/aws-event-stream.ts";
export { bedrockAuth } from "./aws-auth.ts";
export type { AwsAuthOptions } from "./aws-auth.ts";
export type { AwsCredentialSource } from "./aws-auth.ts";
export type { AwsCredentials } from "./sigv4.ts";

/** Where Bedrock is, and how requests are proved. */
interface BedrockPlace {
  /** Default: `AWS_REGION`, then `AWS_DEFAULT_REGION`. */
  readonly region?: string | undefined;
  /**
   * Keys to sign with, or a function that returns them, such as a provider of AWS's own libraries. Default:
   * `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. Not beside `apiKey`, which is
   * a bearer key, by default `AWS_BEARER_TOKEN_BEDROCK`.
   */
  readonly credentials?: AwsCredentialSource | undefined;
}

/** Options of `bedrock`: of its provider, the region, and credentials or a key. */
export interface BedrockOptions extends ProviderOptions, VendorOptions, BedrockPlace {
  readonly settings?: BedrockSettings | undefined;
}

/** Options of `bedrockAnthropic`, as those of `bedrock`. */
export interface BedrockAnthropicOptions extends ProviderOptions, VendorOptions, BedrockPlace {
  readonly settings?: AnthropicSettings | undefined;
}

const checks: OptionChecks<BedrockPlace> = {
  region: expects.optional({
    accepts: (value) => typeof value === "string" && isRegion(value),
    fix: 'use the name of a region, such as "us-east-1"',
  }),
  credentials: expects.optional({
    accepts: (value) =>
      typeof value === "function" ||
      (typeof value === "object" && value !== null && "accessKeyId" in value),
    fix: "use { accessKeyId, secretAccessKey, sessionToken }, or a function that returns that",
    secret: true,
  }),
};

/**
 * A model of Amazon Bedrock, by ConverseStream, which is one API for the models of all vendors there.
 * `model` is the id of a model or of an inference profile, or an ARN.
 */
export function bedrock(model: string, options: BedrockOptions = {}): Model {
  const { place, common } = open(
    { name: "bedrock", from: bedrock },
    bedrockConverseProtocol,
    model,
    options,
  );
  return createModel(
    { ...place, protocol: bedrockConverseProtocol, framing: awsEventStream() },
    model,
    common,
  );
}

/**
 * Anthropic's Messages by InvokeModelWithResponseStream of Amazon Bedrock: with the model in the path, and
 * the version and betas in the body.
 */
export const bedrockAnthropicMessagesProtocol: Protocol<VendorEvent, AnthropicMessagesState> = {
  ...mapRequest(anthropicMessagesProtocol, ({ headers = {}, body }, { model }) => {
    const { model: _, stream: __, service_tier: tier, ...fields } = body as Partial<JsonObject>;
    if (tier !== undefined) throw refuse(anthropicSettings, "serviceTier", tier, tierHeader);
    const betas = headers["anthropic-beta"]?.split(",");
    return {
      path: modelPath(model, "invoke-with-response-stream"),
      body: {
        anthropic_version: "bedrock-2023-05-31",
        ...(betas === undefined ? {} : { anthropic_beta: betas }),
        ...(fields as JsonObject),
      },
    };
  }),
  // Tools can't be added by their definitions here.
  appends: () => "instructions",
  summarises: () => false,
};

const tierHeader =
  'Bedrock takes it as a header: set headers: { "X-Amzn-Bedrock-Service-Tier": "flex" }, or leave it out';

/**
 * A Claude model of Amazon Bedrock, by InvokeModelWithResponseStream, which takes Anthropic's own
 * requests: betas and tools that Converse has no field for.
 */
export function bedrockAnthropic(model: string, options: BedrockAnthropicOptions = {}): Model {
  const { place, common } = open(
    { name: "bedrockAnthropic", from: bedrockAnthropic },
    bedrockAnthropicMessagesProtocol,
    model,
    options,
  );
  const framing = awsEventStream({ payload: "bytes" });
  return createModel(
    { ...place, protocol: bedrockAnthropicMessagesProtocol, framing },
    model,
    common,
  );
}

type Place = Pick<ProviderParts<never, never>, "endpoint" | "auth">;

function open(
  door: Pick<Door, "name" | "from">,
  { settings: table }: { readonly settings?: SettingsTable | undefined },
  model: string,
  options: ProviderOptions & VendorOptions & BedrockPlace,
): { readonly place: Place; readonly common: ProviderOptions } {
  checkProvider<BedrockPlace>(door, { model, options, table }, checks);
  const { apiKey, baseUrl, region, credentials, ...common } = options;
  if (apiKey !== undefined && credentials !== undefined) {
    throw refusal(door, "apiKey and credentials are two ways to prove a request: pass one of them");
  }
  const aws = { region, credentials, apiKey, clock: options.clock };
  return { place: { endpoint: bedrockEndpoint(baseUrl, aws), auth: bedrockAuth(aws) }, common };
}
