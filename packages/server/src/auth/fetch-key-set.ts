import type { FetchImplementation } from "jose";
import { parseJson } from "@millrace/core/json";
import { redactedUrl } from "@millrace/core/secrets";

/** Key sets have some KB. */
const mostBytes = 1024 * 1024;

/**
 * Fetches a key set for the library, which would read an answer of any length, and whose error for one that is no JSON
 * has its first bytes. The caller's signal limits the time.
 */
export const fetchKeySet: FetchImplementation = async (url, init) => {
  const response = await fetch(url, init);
  if (response.status !== 200) return response; // the library's error has the status alone
  const parsed = parseJson(await bounded(url, response.body));
  if (!parsed.ok)
    throw new Error(`the key set at ${redactedUrl(url)} is no JSON: check the address`);
  return Response.json(parsed.value);
};

async function bounded(url: string, body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop closes the connection.
  for await (const piece of body ?? []) {
    length += piece.length;
    if (length > mostBytes) {
      throw new Error(
        `the key set at ${redactedUrl(url)} is longer than ${mostBytes} bytes: check the address`,
      );
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
