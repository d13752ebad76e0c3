import type { JsonObject } from "@millrace/core";

import { canonicalJson } from "../tool/hash.ts";

/** A tool's pin, by the server's own name for it. */
export type Pins = Readonly<Record<string, string>>;

/**
 * What a server's tool was when it was trusted, as 64 hexadecimal digits: SHA-256 over its description and
 * schemas as the server sent them, which are JSON of bounded depth by then.
 */
export async function pinOf(listed: JsonObject): Promise<string> {
  const { description, inputSchema, outputSchema } = listed;
  const text = canonicalJson([
    typeof description === "string" ? description : null,
    inputSchema ?? null,
    outputSchema ?? null,
  ]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Servers whose pins are held. The one that was opened first is forgotten first. */
const mostServers = 1_000;
const firstPins = new Map<string, Pins>();

/**
 * The pins by which a server's tools are compared: those of its first connection in this process. A tool
 * that is new to them is added. `server` names where it is and what it is called.
 */
export function keepPins(server: string, pins: Pins): Pins {
  const kept = { ...pins, ...firstPins.get(server) };
  firstPins.delete(server);
  firstPins.set(server, kept);
  const [oldest] = firstPins.keys();
  if (firstPins.size > mostServers && oldest !== undefined) firstPins.delete(oldest);
  return kept;
}
