import { Client, Connection } from "@temporalio/client";

/** A client of Temporal's own, whose connection is closed with the test. */
export async function connectClient(
  address: string | undefined,
): Promise<Client & AsyncDisposable> {
  const connection = await Connection.connect(address === undefined ? {} : { address });
  const close = (): Promise<void> => connection.close();
  return Object.assign(new Client({ connection }), { [Symbol.asyncDispose]: close });
}
