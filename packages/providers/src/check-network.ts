import { X509Certificate } from "node:crypto";
import { checkOptions, expects, refusal } from "@millrace/core/checks";
import type { Door, OptionCheck, OptionChecks } from "@millrace/core/checks";
import type { ProviderOptions } from "./provider.ts";
import { isHttpAddress } from "./transport/address.ts";
import type { Network } from "./transport/network.ts";

const { either, flag, optional, text } = expects;

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
    secret: true, // a login without a scheme looks like a host
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
