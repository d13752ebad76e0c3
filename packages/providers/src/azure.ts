import type { Model } from "@millrace/core";
import { expects, refusal } from "@millrace/core/checks";
import type { OptionChecks } from "@millrace/core/checks";
import { bearerAuth, keyAuth } from "./auth.ts";
import type { Key } from "./auth.ts";
import { addressCheck, checkProvider, keyCheck, notHere } from "./check-options.ts";
import { mapRequest } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { sseFraming } from "./framing/sse.ts";
import type { OpenaiChatSettings, OpenaiSettings } from "./protocols/openai-fields.ts";
import { openaiChatProtocol } from "./protocols/openai-chat/protocol.ts";
import { openaiResponsesProtocol } from "./protocols/openai-responses/protocol.ts";
import { createModel } from "./provider.ts";
import type { ProviderOptions } from "./provider.ts";
import type { Protocol } from "./protocol.ts";

/** Options of `azure`: the resource, the version of its API, and a key or a token. */
export interface AzureOptions extends ProviderOptions {
  /** The name of the resource: the address is `https://<resource>.openai.azure.com`. */
  readonly resource?: string | undefined;
  /** The whole address of the resource, instead of its name. Default: `AZURE_OPENAI_ENDPOINT`. */
  readonly endpoint?: string | undefined;
  /**
   * Left out: the v1 API, which has no versions. `preview`: v1 with what is not released. A date such as
   * `2025-04-01-preview`: the classic API.
   */
  readonly apiVersion?: string | undefined;
  /** Default: `responses`. Models of other vendors take `chat`. */
  readonly api?: "responses" | "chat" | undefined;
  /** Default: `AZURE_OPENAI_API_KEY`. */
  readonly apiKey?: Key | undefined;
  /** Returns a token of Microsoft Entra for each request, instead of a key. */
  readonly token?: Key | undefined;
  /**
   * The model behind the deployment, if the deployment's name does not begin with it: some settings depend on
   * the model.
   */
  readonly model?: string | undefined;
  readonly settings?: OpenaiSettings | OpenaiChatSettings | undefined;
}

type Own = Pick<
  AzureOptions,
  "resource" | "endpoint" | "apiVersion" | "api" | "apiKey" | "token" | "model"
> & { readonly baseUrl?: undefined };

const own: OptionChecks<Own> = {
  resource: expects.optional({
    accepts: (value) => typeof value === "string" && /^[a-z0-9][a-z0-9-]*$/i.test(value),
    fix: 'use the name of the resource alone, as in "my-resource", or pass endpoint',
  }),
  endpoint: expects.optional(addressCheck),
  baseUrl: notHere("write it as endpoint"),
  apiVersion: expects.optional({
    accepts: (value) =>
      typeof value === "string" &&
      /^(?:v1|preview|latest|\d{4}-\d\d-\d\d(?:-preview)?)$/.test(value),
    fix: 'leave it out for the v1 API, or use "preview" or a date such as "2025-04-01-preview"',
  }),
  api: expects.optional(expects.oneOf("responses", "chat")),
  apiKey: expects.optional(keyCheck),
  token: expects.optional(keyCheck),
  model: expects.optional(expects.text()),
};

/** An image arrives in one event, and again in the last one. */
const pictures = { limit: 64 * 1024 * 1024 };

/**
 * A deployment of Azure OpenAI, or of a Foundry resource, by Responses or chat completions. The key is
 * `AZURE_OPENAI_API_KEY` unless `token` is passed; the address may be set by `AZURE_OPENAI_ENDPOINT`.
 */
export function azure(deployment: string, options: AzureOptions = {}): Model {
  const door = { name: "azure", from: azure };
  const table = (options.api === "chat" ? openaiChatProtocol : openaiResponsesProtocol).settings;
  checkProvider<Own>(door, { model: deployment, options, table }, own);
  const { resource, endpoint, apiVersion, api, apiKey, token, model, ...common } = options;
  if (resource !== undefined && endpoint !== undefined) {
    throw refusal(door, "resource and endpoint both name the address: pass one of them");
  }
  if (apiKey !== undefined && token !== undefined) {
    throw refusal(door, "apiKey and token are both given: pass the one that is to be sent");
  }
  const version = versionOf(apiVersion);
  const shared = {
    endpoint: azureEndpoint(
      endpoint ?? (resource && `https://${resource}.openai.azure.com`),
      version,
    ),
    auth:
      token === undefined
        ? keyAuth(apiKey, { variable: "AZURE_OPENAI_API_KEY", header: "api-key" })
        : bearerAuth(token),
  };
  const name = model ?? deployment;
  if (api !== "chat") {
    const protocol = deployed(openaiResponsesProtocol, deployment);
    return createModel({ ...shared, protocol, framing: sseFraming(pictures) }, name, common);
  }
  const protocol = deployed(openaiChatProtocol, deployment, version.isClassic);
  return createModel({ ...shared, protocol, framing: sseFraming() }, name, common);
}

interface Version {
  readonly isClassic: boolean;
  readonly query: Readonly<Record<string, string>>;
}

/** From https://learn.microsoft.com/en-us/azure/foundry/openai/api-version-lifecycle. */
function versionOf(apiVersion = "v1"): Version {
  const query = apiVersion === "v1" ? {} : { "api-version": apiVersion };
  return { isClassic: /^\d/.test(apiVersion), query };
}

/** The portal shows addresses with and without the path of an API, so either is taken. */
function azureEndpoint(given: string | undefined, { isClassic, query }: Version): Endpoint {
  return {
    get baseUrl() {
      const address = given ?? process.env["AZURE_OPENAI_ENDPOINT"] ?? "";
      if (address === "") return "";
      const resource = address.replace(/\/+$/, "").replace(/\/openai(?:\/v1)?$/, "");
      return `${resource}/openai${isClassic ? "" : "/v1"}`;
    },
    query,
    missing: "pass resource or endpoint, or set AZURE_OPENAI_ENDPOINT",
  };
}

/** Requests name the deployment. The classic API has that of chat completions in the path. */
function deployed<Event, State>(
  protocol: Protocol<Event, State>,
  deployment: string,
  inPath = false,
): Protocol<Event, State> {
  const prefix = inPath ? `/deployments/${encodeURIComponent(deployment)}` : "";
  return mapRequest(protocol, (wire) => ({
    ...wire,
    path: prefix + wire.path,
    body: { ...wire.body, model: deployment },
  }));
}
