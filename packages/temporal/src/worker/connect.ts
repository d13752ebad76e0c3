import { NativeConnection } from "@temporalio/worker";
import { rememberHeaders } from "@millrace/core/secrets";
import { addressOf } from "../connect-options.ts";
import type { TemporalWorkerOptions } from "./options.ts";

/** A worker's way to Temporal. */
export interface WorkerConnection {
  readonly connection: NativeConnection;
  /** Closes a connection of the worker's own. One of the application stays open. */
  readonly close: () => Promise<void>;
}

/** How often a key that a function gives is read again. */
const keyMs = 60_000;

/** The application's connection, or one of the worker's own. Rejects if Temporal does not answer. */
export async function connectWorker(options: TemporalWorkerOptions): Promise<WorkerConnection> {
  const { connection: given, tls, apiKey } = options;
  if (given !== undefined) return { connection: given, close: async () => undefined };
  const address = addressOf(options);
  const readKey = (): string | undefined => {
    const key = typeof apiKey === "function" ? apiKey() : apiKey;
    if (key !== undefined)
      rememberHeaders(`https://${address}`, { authorization: `Bearer ${key}` });
    return key;
  };
  const key = readKey();
  const connection = await NativeConnection.connect({
    address,
    ...(tls === undefined ? {} : { tls }),
    ...(key === undefined ? {} : { apiKey: key }),
  });
  const renew = async (): Promise<void> => await connection.setApiKey(readKey() ?? "");
  const timer =
    typeof apiKey === "function"
      ? // A key that can't be read now is read again: the one before may still be valid.
        setInterval(() => void renew().catch(() => undefined), keyMs).unref()
      : undefined;
  return {
    connection,
    close: async () => {
      clearInterval(timer);
      await connection.close().catch(() => undefined); // nothing is sent through it any more
    },
  };
}
