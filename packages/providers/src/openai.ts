import type { Model } from "@millrace/core";
import { expects } from "@millrace/core/checks";
import type { OptionChecks } from "@millrace/core/checks";
import type { RequestSettings } from "@millrace/core/ports";
import { keyAuth, vendorEndpoint } from "./auth.ts";
import type { VendorOptions } from "./auth.ts";
import { addressCheck, checkProvider } from "./check-options.ts";
import { sseFraming } from "./framing/sse.ts";
import { createOpenaiChatProtocol, openaiChatProtocol } from "./protocols/openai-chat/protocol.ts";
import { compatibleSettings } from "./protocols/openai-chat/settings.ts";
import type { OpenaiChatSettings, OpenaiSettings } from "./protocols/openai-fields.ts";
import { openaiResponsesProtocol } from "./protocols/openai-responses/protocol.ts";
import { createModel } from "./provider.ts";
import type { ProviderOptions } from "./provider.ts";

// To compose a provider of your own.
export { createOpenaiChatProtocol, openaiChatProtocol } from "./protocols/openai-chat/protocol.ts";
export type { OpenaiChatProtocolOptions } from "./protocols/openai-chat/protocol.ts";
export { openaiResponsesProtocol } from "./protocols/openai-responses/protocol.ts";
export type { OpenaiChatSettings, OpenaiSettings } from "./protocols/openai-fields.ts";

/** Options of `openai` and `openaiChat`: of the provider, and its key and address. */
export interface OpenaiOptions<Settings extends RequestSettings = OpenaiSettings>
  extends ProviderOptions, VendorOptions {
  readonly settings?: Settings | undefined;
}

const vendor = { variable: "OPENAI_BASE_URL", own: "https://api.openai.com/v1" };
const key = { variable: "OPENAI_API_KEY", header: "authorization", prefix: "Bearer " };

/** An image arrives in one event, and again in the last one. */
const pictures = { limit: 64 * 1024 * 1024 };

/**
 * An OpenAI model by the Responses API. The key is `OPENAI_API_KEY`; the address may be set by
 * `OPENAI_BASE_URL`.
 */
export function openai(model: string, options: OpenaiOptions = {}): Model {
  const door = { name: "openai", from: openai };
  checkProvider(door, { model, options, table: openaiResponsesProtocol.settings }, {});
  const { apiKey, baseUrl, ...common } = options;
  const auth = keyAuth(apiKey, key);
  const parts = {
    protocol: openaiResponsesProtocol,
    framing: sseFraming(pictures),
    endpoint: vendorEndpoint(baseUrl, vendor),
    auth,
  };
  return createModel(parts, model, common);
}

/** An OpenAI model by chat completions. Reads the same variables. */
export function openaiChat(model: string, options: OpenaiOptions<OpenaiChatSettings> = {}): Model {
  const door = { name: "openaiChat", from: openaiChat };
  checkProvider(door, { model, options, table: openaiChatProtocol.settings }, {});
  const { apiKey, baseUrl, ...common } = options;
  const auth = keyAuth(apiKey, key);
  const endpoint = vendorEndpoint(baseUrl, vendor);
  const parts = { protocol: openaiChatProtocol, framing: sseFraming(), endpoint, auth };
  return createModel(parts, model, common);
}

/** Options of `openaiCompatible`: where the server is, and how it differs. */
export interface OpenaiCompatibleOptions extends ProviderOptions {
  /** Includes the version, for example `http://localhost:11434/v1`. */
  readonly baseUrl: string;
  /** Default: no key is sent. */
  readonly apiKey?: VendorOptions["apiKey"];
  /** The server writes reasoning into the text, between `<think>` and `</think>`. */
  readonly thinkTags?: boolean | undefined;
  /**
   * The server's template opens `<think>` itself, so that the text has only the end of it. What comes
   * before `</think>` is reasoning, which is all of a reply without it.
   */
  readonly thinkOpened?: boolean | undefined;
  /**
   * The server ends replies with `[DONE]` alone. Text then counts as complete; a call never does.
   */
  readonly finishOptional?: boolean | undefined;
  readonly settings?: OpenaiChatSettings | undefined;
}

type Own = Pick<
  OpenaiCompatibleOptions,
  "baseUrl" | "thinkTags" | "thinkOpened" | "finishOptional"
>;

const own: OptionChecks<Own> = {
  baseUrl: addressCheck,
  thinkTags: expects.optional(expects.flag),
  thinkOpened: expects.optional(expects.flag),
  finishOptional: expects.optional(expects.flag),
};

/**
 * A server that implements OpenAI's chat completions. No environment variable is read, so that the
 * key of one vendor never reaches another.
 */
export function openaiCompatible(model: string, options: OpenaiCompatibleOptions): Model {
  const door = { name: "openaiCompatible", from: openaiCompatible };
  const table = compatibleSettings();
  checkProvider<Own>(door, { model, options, table }, own);
  const { apiKey, baseUrl, thinkTags, thinkOpened, finishOptional, ...common } = options;
  const protocol = createOpenaiChatProtocol({
    thinkTags,
    thinkOpened,
    finishOptional,
    settings: table,
  });
  const auth = keyAuth(apiKey ?? "", { ...key, optional: true });
  return createModel(
    { protocol, framing: sseFraming(), endpoint: { baseUrl }, auth },
    model,
    common,
  );
}
