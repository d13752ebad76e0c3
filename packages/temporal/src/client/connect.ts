import { Client, Connection } from "@temporalio/client";
import { rememberHeaders } from "@millrace/core/secrets";
import { addressOf } from "../connect-options.ts";
import type { TemporalDriverOptions } from "./options.ts";

/** A client that is there when it is asked for. */
export interface ConnectedClient {
  readonly get: () => Client;
  /** Closes a connection of the driver's own. One of the application stays open. */
  readonly close: () => Promise<void>;
}

/** Without this bound a channel would wait up to two minutes before it connects again after an outage. */
const reconnecting = {
  "grpc.initial_reconnect_backoff_ms": 200,
  "grpc.max_reconnect_backoff_ms": 1_000,
};

/** The application's client, or one of the driver's own that is made and connects with its first call. */
export function connectedClient(options: TemporalDriverOptions): ConnectedClient {
  const { client: given, namespace = "default", tls, apiKey } = options;
  const address = addressOf(options);
  if (given !== undefined) return { get: () => given, close: async () => undefined };
  if (typeof apiKey === "string")
    rememberHeaders(`https://${address}`, { authorization: `Bearer ${apiKey}` });
  let connection: Connection | undefined;
  let client: Client | undefined;
  const connect = (): Client => {
    connection = Connection.lazy({
      address,
      ...(tls === undefined ? {} : { tls }),
      ...(apiKey === undefined ? {} : { apiKey }),
      interceptors: [], // the driver repeats by itself, with the newest head
      channelArgs: reconnecting,
    });
    return new Client({ connection, namespace });
  };
  return {
    get: () => (client ??= connect()),
    close: async () => await connection?.close(),
  };
}
