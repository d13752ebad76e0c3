import type { ConnectionOptions } from "@temporalio/client";
import { checkOption, expects, plainTransportFault, refusal } from "@millrace/core/checks";
import type { Door, OptionCheck, OptionChecks } from "@millrace/core/checks";

/** How Temporal is reached, unless the application hands over a connection of its own. */
export interface TemporalConnectOptions {
  /** Host and port. Left out: `TEMPORAL_ADDRESS`, else `127.0.0.1:7233`. */
  readonly address?: string | undefined;
  /** `default` by default. */
  readonly namespace?: string | undefined;
  /** As Temporal's own option. Left out: on if there is an `apiKey`. */
  readonly tls?: ConnectionOptions["tls"] | undefined;
  /** A function is called again from time to time, for keys that change. */
  readonly apiKey?: string | (() => string) | undefined;
  /** `true`: another machine may be reached without TLS. */
  readonly allowPlain?: boolean | undefined;
}

const { anything, call, either, flag, optional, text } = expects;

const addressCheck: OptionCheck = optional(text("use a host and a port, such as 127.0.0.1:7233"));

/** The checks of these options, at each door that has them. */
export const connectChecks: OptionChecks<TemporalConnectOptions> = {
  address: addressCheck,
  namespace: optional(text("use the name of a namespace")),
  tls: anything,
  apiKey: optional({ ...either(text(), call(), "use a text or a function"), secret: true }),
  allowPlain: optional(flag),
};

/** Their names. */
export const connectNames: readonly (keyof TemporalConnectOptions)[] = [
  "address",
  "namespace",
  "tls",
  "apiKey",
  "allowPlain",
];

/** Where Temporal is. The one place that reads the environment. */
export function addressOf({ address }: TemporalConnectOptions): string {
  return address ?? process.env["TEMPORAL_ADDRESS"] ?? "127.0.0.1:7233";
}

/**
 * Throws for an address of the environment that the option would not take, and for one on another machine that
 * would be reached without TLS.
 */
export function checkAddress(door: Door, options: TemporalConnectOptions): void {
  const { address, tls, apiKey, allowPlain } = options;
  if (address === undefined) checkOption(door, "TEMPORAL_ADDRESS", addressOf({}), addressCheck);
  const host = addressOf(options).replace(/:\d+$/, "");
  // Temporal's SDK uses TLS also for an API key.
  const encrypted = (tls ?? apiKey !== undefined) !== false;
  const fault = plainTransportFault({ host, encrypted, allowPlain, instead: "set tls: true" });
  if (fault !== undefined) throw refusal(door, fault);
}

/** Throws if an option is given that `instead`, which the application made, has already. */
export function refuseBeside(
  door: Door,
  options: TemporalConnectOptions,
  instead: { readonly option: string; readonly has: readonly (keyof TemporalConnectOptions)[] },
): void {
  const { option, has } = instead;
  const name = has.find((each) => options[each] !== undefined);
  if (name === undefined) return;
  throw refusal(
    door,
    `${name} is given beside a ${option}: leave it out, the ${option} has its own`,
  );
}
