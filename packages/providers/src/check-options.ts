import { checkOption, checkOptions, expects } from "@millrace/core/checks";
import type { Door, OptionCheck, OptionChecks } from "@millrace/core/checks";
import type { JsonObject } from "@millrace/core";
import type { RequestSettings } from "@millrace/core/ports";
import type { VendorOptions } from "./auth.ts";
import { checkNetwork } from "./check-network.ts";
import { settingChecks } from "./protocols/setting-values.ts";
import { isOwnField, settingNames } from "./protocols/settings.ts";
import type { ProviderOptions } from "./provider.ts";
import type { SettingsTable } from "./settings.ts";
import { isHttpAddress } from "./transport/address.ts";

const { call, either, flag, having, oneOf, optional, record, text } = expects;

/** Names of options in other libraries. */
const hints = {
  baseURL: "write it as baseUrl",
  base_url: "write it as baseUrl",
  url: "write it as baseUrl",
  key: "write it as apiKey",
  api_key: "write it as apiKey",
  token: "write it as apiKey",
  maxRetries: "write retry: { attempts: … }, or retry: false",
  timeout: "write timeouts: { requestMs: 60_000 }",
  ...Object.fromEntries(settingNames.map((name) => [name, `write settings: { ${name}: … }`])),
  max_tokens: "write settings: { maxTokens: … }",
  maxOutputTokens: "write settings: { maxTokens: … }",
  top_p: "write settings: { topP: … }",
  stopSequences: "write settings: { stop: … }",
  tool_choice: "write settings: { toolChoice: … }",
  reasoningEffort: "write settings: { effort: … }",
  providerOptions: "write the vendor's own fields into settings",
};

const modelName: OptionCheck = text(
  'pass the vendor\'s name of the model first, such as "gpt-5", then the options',
);

/** An address that requests can be sent to. */
export const addressCheck: OptionCheck = {
  accepts: (value) => typeof value === "string" && isHttpAddress(value),
  fix: 'begin it with http:// or https://, as in "http://localhost:11434/v1"',
};

/** A key or a token. */
export const keyCheck: OptionCheck = {
  accepts: (value) => typeof value === "string" || typeof value === "function",
  fix: "use a text, or a function that returns one",
  secret: true,
};

/** An option of other vendors that this one has under another name. */
export function notHere(fix: string): OptionCheck {
  return { accepts: (value) => value === undefined, fix };
}

const common: OptionChecks<ProviderOptions & VendorOptions> = {
  apiKey: optional(keyCheck),
  baseUrl: optional(addressCheck),
  allowPlain: optional(flag),
  headers: optional({ ...record("use an object of texts"), secret: true }),
  fetch: optional(call("pass a function such as fetch")),
  network: optional(record('use an object such as { proxy: "http://proxy.corp:3128" }')),
  retry: optional(orFalse("use an object such as { attempts: 3 }, or false")),
  timeouts: optional(record("use an object such as { requestMs: 60_000 }")),
  price: optional(record("use an object such as { input: 1.25, output: 10 }")),
  limits: optional(record()),
  badEvents: optional(oneOf("fail", "skip")),
  traceHeaders: optional(flag),
  settings: optional(record("use an object such as { maxTokens: 4_000 }")),
  clock: optional(having(["now", "monotonic", "sleep"], "pass a clock, or leave it out")),
  random: optional(call()),
};

/** Throws `invalid_definition` for a model's name or options that can't be used. */
export function checkProvider<More extends object = object>(
  door: Pick<Door, "name" | "from">,
  given: {
    readonly model: unknown;
    readonly options: unknown;
    /** How the protocol takes settings. */
    readonly table?: SettingsTable | undefined;
  },
  more: OptionChecks<More>,
): void {
  const own = { ...door, hints };
  checkOption(own, "the model's name", given.model, modelName);
  checkOptions<Readonly<Record<string, unknown>>>(own, given.options, { ...common, ...more });
  checkNetwork(door, given.options as Pick<ProviderOptions, "fetch" | "network">);
  const { settings } = given.options as ProviderOptions;
  if (settings !== undefined && given.table !== undefined)
    checkSettings(own, settings, given.table);
}

/** Throws for values that no vendor takes. What depends on the model or the request ends the reply. */
function checkSettings(door: Door, settings: RequestSettings, table: SettingsTable): void {
  for (const name of settingNames) {
    const value = (settings as Partial<JsonObject>)[name];
    if (value === undefined || isOwnField(table, name, value)) continue;
    checkOption(door, `settings.${name}`, value, settingChecks[name]);
  }
}

function orFalse(fix: string): OptionCheck {
  return either(record(), { accepts: (value) => value === false, fix: "" }, fix);
}
