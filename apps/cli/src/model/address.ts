import { isLoopback } from "@millrace/core/checks";

/** A model of a server at an address: `http://127.0.0.1:1234/v1#name`. */
export interface ModelAddress {
  readonly baseUrl: string;
  readonly model: string;
  readonly protocol: "http:" | "https:";
  /** Whether it never leaves this machine. */
  readonly isLoopback: boolean;
}

/**
 * Reads an address of a model. The name is what follows `#`, as it is written. Undefined if there is no
 * name, or if the address is none of HTTP. A user, a password and a query are refused: they are
 * credentials, and an address is stored with its session.
 */
export function readAddress(text: string): ModelAddress | undefined {
  const hash = text.indexOf("#");
  const baseUrl = text.slice(0, hash);
  const model = text.slice(hash + 1);
  if (hash < 0 || model === "" || !URL.canParse(baseUrl)) return undefined;
  const { protocol, username, password, search, hostname } = new URL(baseUrl);
  if (protocol !== "http:" && protocol !== "https:") return undefined;
  if (username !== "" || password !== "" || search !== "") return undefined;
  return { baseUrl, model, protocol, isLoopback: isLoopback(hostname) };
}

/** What is wrong with an address that a variable names, and how to write it. */
export function addressProblem(variable: string, baseUrl: string): string | undefined {
  return readAddress(`${baseUrl}#x`) === undefined
    ? `${variable} is no address of HTTP: ${JSON.stringify(baseUrl)}: write http://<host>/v1`
    : undefined;
}
