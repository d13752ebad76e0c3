import type { Json, JsonObject, Model } from "@millrace/core";
import { expects } from "@millrace/core/checks";
import type { OptionChecks } from "@millrace/core/checks";
import { keyAuth } from "./auth.ts";
import type { VendorOptions } from "./auth.ts";
import { checkProvider } from "./check-options.ts";
import { compatibleServers } from "./compatible-servers.ts";
import type { CompatibleServer } from "./compatible-servers.ts";
import { sseFraming } from "./framing/sse.ts";
import { createOpenaiChatProtocol } from "./protocols/openai-chat/protocol.ts";
import type {
  OpenaiChatProtocolOptions,
  OpenaiChatState,
} from "./protocols/openai-chat/protocol.ts";
import { compatibleSettings } from "./protocols/openai-chat/settings.ts";
import type { OpenaiChatSettings } from "./protocols/openai-fields.ts";
import { RequestRefusal } from "./protocols/refusal.ts";
import type { Protocol, WireRequest } from "./protocol.ts";
import { createModel } from "./provider.ts";
import type { ProviderOptions } from "./provider.ts";
import type { VendorEvent } from "./framing/framing.ts";

export { compatibleServers } from "./compatible-servers.ts";
export type { CompatibleServer } from "./compatible-servers.ts";

/** Options of a named server: its key and address, and what its model's template changes. */
export interface CompatibleOptions extends ProviderOptions, VendorOptions, Reads {
  readonly settings?: OpenaiChatSettings | undefined;
}

type Reads = Omit<OpenaiChatProtocolOptions, "settings">;

/** Makes models of one server. */
export type CompatibleProvider = (model: string, options?: CompatibleOptions) => Model;

const own: OptionChecks<Reads> = {
  thinkTags: expects.optional(
    expects.either(expects.flag, expects.text(), 'use true, false, or a tag such as "thought"'),
  ),
  thinkOpened: expects.optional(expects.flag),
  finishOptional: expects.optional(expects.flag),
};

/** Ollama, by default at `localhost:11434`. */
export const ollama: CompatibleProvider = named("ollama");
/** vLLM, by default at `localhost:8000`. */
export const vllm: CompatibleProvider = named("vllm");
/** The server of llama.cpp, by default at `localhost:8080`. */
export const llamaCpp: CompatibleProvider = named("llamaCpp");
/** LM Studio, by default at `localhost:1234`. */
export const lmStudio: CompatibleProvider = named("lmStudio");
/** OpenRouter. The key is `OPENROUTER_API_KEY`. */
export const openRouter: CompatibleProvider = named("openRouter");
/** DeepSeek. The key is `DEEPSEEK_API_KEY`. */
export const deepSeek: CompatibleProvider = named("deepSeek");
/** Groq. The key is `GROQ_API_KEY`. */
export const groq: CompatibleProvider = named("groq");
/** Mistral. The key is `MISTRAL_API_KEY`. */
export const mistral: CompatibleProvider = named("mistral");
/** xAI. The key is `XAI_API_KEY`. */
export const xai: CompatibleProvider = named("xai");
/** Together. The key is `TOGETHER_API_KEY`. */
export const together: CompatibleProvider = named("together");
/** Fireworks. The key is `FIREWORKS_API_KEY`. */
export const fireworks: CompatibleProvider = named("fireworks");
/** Cerebras. The key is `CEREBRAS_API_KEY`. */
export const cerebras: CompatibleProvider = named("cerebras");

function named(name: string): CompatibleProvider {
  const server = compatibleServers[name];
  if (server === undefined) throw new RangeError(`no server ${name}`);
  const make: CompatibleProvider = (model, options = {}) => {
    const settings = { ...compatibleSettings(), vendor: server.name };
    checkProvider<Reads>({ name, from: make }, { model, options, table: settings }, own);
    const { apiKey, baseUrl, thinkTags, thinkOpened, finishOptional, ...common } = options;
    const reads = {
      thinkTags: thinkTags ?? server.reads?.thinkTags,
      thinkOpened: thinkOpened ?? server.reads?.thinkOpened,
      finishOptional: finishOptional ?? server.reads?.finishOptional,
    };
    const { variable, keyOptional: optional = false } = server;
    const parts = {
      protocol: adapted(createOpenaiChatProtocol({ ...reads, settings }), server),
      framing: sseFraming(),
      endpoint: { baseUrl: baseUrl ?? server.baseUrl },
      auth: keyAuth(apiKey, { variable, header: "authorization", prefix: "Bearer ", optional }),
    };
    return createModel(parts, model, common);
  };
  return make;
}

/** The protocol with a server's own defaults, names and refusals. */
function adapted(
  protocol: Protocol<VendorEvent, OpenaiChatState>,
  server: CompatibleServer,
): Protocol<VendorEvent, OpenaiChatState> {
  return {
    ...protocol,
    request: (request, target) => {
      const worded = server.formats?.test(target.model) === false ? { response_format: null } : {};
      const settings = { ...server.settings, ...worded, ...request.settings };
      return inOwnNames(protocol.request({ ...request, settings }, target), server);
    },
  };
}

function inOwnNames(wire: WireRequest, server: CompatibleServer): WireRequest {
  const { name, refused = {}, renamed = {}, toolChoices = {} } = server;
  const body: Record<string, Json> = {};
  for (const [field, value] of Object.entries(wire.body)) {
    const instead = refused[field];
    if (instead !== undefined && value !== "auto") {
      throw new RequestRefusal(`${name} does not act on ${field}: ${instead}`, { setting: field });
    }
    const own = renamed[field] ?? field;
    if (own !== field && own in wire.body) {
      const message = `${name} calls ${field} ${own}, which is set too: set one of them`;
      throw new RequestRefusal(message, { setting: field });
    }
    body[own] = value;
  }
  const choice = body["tool_choice"];
  const word = typeof choice === "string" ? toolChoices[choice] : undefined;
  if (word !== undefined) body["tool_choice"] = word;
  return { ...wire, body: body satisfies JsonObject };
}
