import { X509Certificate } from "node:crypto";
import { checkOption, checkOptions, expects, refusal } from "@millrace/core/checks";
import type { Door, OptionCheck, OptionChecks } from "@millrace/core/checks";
import type { VendorOptions } from "./auth.ts";
import type { ProviderOptions } from "./provider.ts";
import { isHttpAddress } from "./transport/address.ts";
import type { Network } from "./transport/network.ts";

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
  timeout: "write timeouts: { request: milliseconds }",
  temperature: "write settings: { temperature: … }",
  maxTokens: "write it into settings, by the vendor's name of it",
  max_tokens: "write it into settings",
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
  timeouts: optional(record("use an object such as { request: 60_000 }")),
  price: optional(record("use an object such as { input: 1.25, output: 10 }")),
  limits: optional(record()),
  badEvents: optional(oneOf("fail", "skip")),
  traceHeaders: optional(flag),
  settings: optional(record("use an object of the vendor's own settings")),
  clock: optional(having(["now", "monotonic", "sleep"], "pass a clock, or leave it out")),
  random: optional(call()),
};

/** Throws `invalid_definition` for a model's name or options that can't be used. */
export function checkProvider<More extends object = object>(
  door: Pick<Door, "name" | "from">,
  given: { readonly model: unknown; readonly options: unknown },
  more: OptionChecks<More>,
): void {
  const own = { ...door, hints };
  checkOption(own, "the model's name", given.model, modelName);
  checkOptions<Readonly<Record<string, unknown>>>(own, given.options, { ...common, ...more });
  checkNetwork(door, given.options as Pick<ProviderOptions, "fetch" | "network">);
}

const pem: OptionCheck = {
  accepts: (value) => isPem(value) && parses(() => new X509Certificate(value)),
  fix: "pass the content of a PEM file with a certificate, not its path",
};

const privateKey: OptionCheck = {
  accepts: (value) =>
    typeof value === "string" ? value.includes("PRIVATE KEY-----") : value instanceof Uint8Array,
  fix: "pass the content of a PEM file with a private key, not its path",
  secret: true,
};

function isPem(value: unknown): value is string | Uint8Array<ArrayBuffer> {
  return typeof value === "string" || value instanceof Uint8Array;
}

/** TLS ignores an authority that it can't read, so it is read before. */
function parses(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

const network: OptionChecks<Network> = {
  proxy: optional({
    accepts: (value) => value === false || (typeof value === "string" && isHttpAddress(value)),
    fix: 'use an address such as "http://proxy.corp:3128", or false',
    secret: true, // a login without a scheme can't be told from a host
  }),
  noProxy: optional(text('use hosts such as "localhost,.corp.example"')),
  ca: optional(
    either(
      pem,
      { ...pem, accepts: (value) => Array.isArray(value) && value.every(pem.accepts) },
      pem.fix,
    ),
  ),
  cert: optional(pem),
  key: optional(privateKey),
  passphrase: optional({ ...text(), secret: true }),
  http2: optional(flag),
};

/** Throws `invalid_definition` for a network that can't be used. */
export function checkNetwork(
  door: Pick<Door, "name" | "from">,
  options: Pick<ProviderOptions, "fetch" | "network">,
): void {
  if (options.network === undefined) return;
  const hints = {
    rejectUnauthorized: "pass the server's authority as ca",
    noproxy: "write it as noProxy",
  };
  checkOptions<Network>({ ...door, inside: "network", hints }, options.network, network);
  const { cert, key } = options.network;
  if ((cert === undefined) !== (key === undefined)) {
    throw refusal(door, "network.cert and network.key belong together: pass both");
  }
  if (options.fetch !== undefined) {
    throw refusal(
      door,
      "network is for our own transport: leave it out, and give your fetch its proxy",
    );
  }
}

function orFalse(fix: string): OptionCheck {
  return either(record(), { accepts: (value) => value === false, fix: "" }, fix);
}
