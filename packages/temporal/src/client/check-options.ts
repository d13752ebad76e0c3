import { checkOptions, expects, plainTransportFault, refusal } from "@millrace/core/checks";
import type { Door } from "@millrace/core/checks";
import type { TemporalConnectOptions, TemporalDriverOptions } from "./options.ts";

const { anything, call, either, flag, having, optional, text } = expects;

const storeFix =
  "pass the store of the server, such as postgresStore({ acrossTenants: true }) of @millrace/stores/postgres";

/** Throws `invalid_definition` for options of a driver that can't be used. */
export function checkDriverOptions(options: unknown, from: Door["from"]): void {
  const door = { name: "temporalDriver", from };
  checkOptions<TemporalDriverOptions>(door, options, {
    client: optional({ accepts: isClient, fix: "pass a Client of @temporalio/client" }),
    address: optional(text("use a host and a port, such as 127.0.0.1:7233")),
    namespace: optional(text("use the name of a namespace")),
    tls: anything,
    apiKey: optional({ ...either(text(), call(), "use a text or a function"), secret: true }),
    allowPlain: optional(flag),
    taskQueue: optional(text("use the name of the workers' task queue")),
    store: optional({ accepts: isObject, fix: storeFix }),
    index: optional(having(["due"], "leave it out for a store with its own")),
    onEvent: optional(call()),
    clock: optional(having(["monotonic", "sleep"], "pass a clock, or leave it out")),
  });
  const given = options as TemporalDriverOptions; // checked above
  if (given.client === undefined) refusePlain(door, given);
  else refuseBesideClient(door, given);
  if (given.index === undefined && given.store?.drivers === undefined) {
    const what = given.store === undefined ? "store is missing" : "store has no index of drivers";
    throw refusal(door, `${what}, in which lost wakes are found: ${storeFix}`);
  }
}

const connectNames = ["address", "namespace", "tls", "apiKey", "allowPlain"] as const;

function refuseBesideClient(door: Door, given: TemporalConnectOptions): void {
  const name = connectNames.find((each) => given[each] !== undefined);
  if (name === undefined) return;
  throw refusal(door, `${name} is given beside a client: leave it out, the client has its own`);
}

function refusePlain(
  door: Door,
  { address = "", tls, apiKey, allowPlain }: TemporalConnectOptions,
): void {
  const host = address === "" ? undefined : address.replace(/:\d+$/, "");
  // Temporal's client uses TLS also for an API key.
  const encrypted = (tls ?? apiKey !== undefined) !== false;
  const fault = plainTransportFault({ host, encrypted, allowPlain, instead: "set tls: true" });
  if (fault !== undefined) throw refusal(door, fault);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function isClient(value: unknown): boolean {
  // Not by `instanceof`: an application may have another copy of Temporal's client.
  return isObject(value) && isObject((value as { readonly workflow?: unknown }).workflow);
}
