import { MillraceError } from "../errors.ts";
import { Redactor, shortestSecret } from "./redactor.ts";

/** A secret of the application, such as a password or a token. */
export interface Secret {
  /** Stands for the secret in notices. */
  readonly name: string;
  /** At least 8 characters. */
  readonly value: string;
}

/** The secrets of this process by their values. A secret may have been registered several times. */
const names = new Map<string, { readonly name: string; readonly registered: number }>();
/** The credentials of connections, the latest used last. Those that were registered too are in both. */
const credentials = new Map<string, string>();
/** Tokens are renewed for ever, so those that were not used for the longest time go. */
const mostCredentials = 4_096;
/** Shorter credentials, such as the key "not-needed" of a local server, may be words of a conversation. */
const shortestNoticed = 16;
const all = new Redactor();

/**
 * Registers a secret for the whole process, and returns the function that takes it back. From then on it
 * is replaced in every cause, error message, log line and span of Millrace, also in base64, hex and URL
 * encoding. Content is never changed: a model, a tool or a person that writes the secret raises a notice
 * with its name. Keys of models and passwords of stores are known without being registered.
 *
 * It is not a setting of an agent, because errors of connections, warnings and crashes have no agent.
 * Throws `invalid_definition` for a value of less than 8 characters, which ordinary words would contain.
 */
export function registerSecret({ name, value }: Secret): () => void {
  if (typeof value !== "string" || value.length < shortestSecret) {
    const found = typeof value === "string" ? `has ${value.length} characters` : "is no string";
    throw new MillraceError(
      "invalid_definition",
      `the secret ${name} ${found}, and at least ${shortestSecret} are needed: a shorter text occurs in ordinary words. Check that it is set; use a longer secret, or don't register it`,
    );
  }
  names.set(value, { name, registered: (names.get(value)?.registered ?? 0) + 1 });
  all.add(value);
  let active = true;
  return () => {
    if (active) release(value);
    active = false;
  };
}

function release(value: string): void {
  const known = names.get(value);
  if (known === undefined) return;
  if (known.registered > 1) names.set(value, { ...known, registered: known.registered - 1 });
  else {
    names.delete(value);
    if (!credentials.has(value)) all.delete(value);
  }
}

/**
 * Remembers a credential of a connection. Called by transports each time that they use one, because the
 * 4,096 that were used last are kept. A value of less than 8 characters is ignored, and one of less than 16 raises no notice.
 */
export function rememberCredential(name: string, value: string): void {
  if (value.length < shortestSecret) return;
  credentials.delete(value); // moves it to the end
  credentials.set(value, name);
  all.add(value);
  if (credentials.size <= mostCredentials) return;
  const [oldest = ""] = credentials.keys();
  credentials.delete(oldest);
  if (!names.has(oldest)) all.delete(oldest);
}

/** The text without the secrets of this process. */
export function redact(text: string): string {
  return all.redact(text);
}

/** The names of the secrets that a text of a conversation holds. */
export function secretsIn(text: string): readonly string[] {
  return [...all.find(text)].flatMap((value) => {
    const own = names.get(value)?.name;
    if (own !== undefined) return [own];
    return value.length < shortestNoticed ? [] : [credentials.get(value) ?? ""];
  });
}
