import { isLoopback } from "@millrace/core/checks";

/** A server that the command may use, or what is wrong with its address. */
export type ServerAddress =
  | { readonly url: string; readonly token: string | undefined }
  | { readonly url?: undefined; readonly problem: string };

/**
 * Reads the address of a server. Its token is never part of it: a command line is seen by every user of the
 * machine. Nor does a token leave the machine without TLS.
 */
export function readServerAddress(text: string, token: string | undefined): ServerAddress {
  if (!URL.canParse(text)) return { problem: `--url is no address: ${JSON.stringify(text)}` };
  const { protocol, username, password, search, hash, hostname } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:")
    return { problem: "--url is an address of HTTP: --url http://127.0.0.1:3000" };
  if (username !== "" || password !== "" || search !== "" || hash !== "")
    return { problem: "--url has no user, query or #: a token is in MILLRACE_TOKEN" };
  const known = token === undefined || token === "" ? undefined : token;
  if (known !== undefined && protocol === "http:" && !isLoopback(hostname))
    return { problem: "MILLRACE_TOKEN is not sent without TLS: --url https://…" };
  return { url: text.replace(/\/+$/, ""), token: known };
}
