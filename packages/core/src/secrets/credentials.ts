import { rememberCredential } from "./known-secrets.ts";

/** Names of headers and of query parameters that hold credentials. */
const secretName = /auth|cookie|credential|key|pass|secret|signature|token/i;

/**
 * Makes the credentials in the headers of a request known to this process, so that no error, log line or
 * span repeats them. Headers count by their names; those of `proof` all do.
 */
export function rememberHeaders(
  url: string,
  headers: Readonly<Record<string, string>>,
  proof: Readonly<Record<string, string>> = {},
): void {
  const of = hostOf(url);
  for (const [name, value] of Object.entries(headers)) {
    if (secretName.test(name)) rememberHeader(`the header ${name} of ${of}`, value);
  }
  for (const [name, value] of Object.entries(proof)) {
    rememberHeader(`the header ${name} of ${of}`, value);
  }
}

/** Makes the credentials in a URL known to this process, as `rememberHeaders` does. A broken URL counts too. */
export function rememberUrl(url: string): void {
  const of = hostOf(url);
  const [user, password] = splitOnce(userOf(url), ":");
  for (const text of password === undefined ? [user] : [password]) {
    rememberCredential(`the password of ${of}`, text);
    rememberCredential(`the password of ${of}`, decoded(text));
  }
  if (!URL.canParse(url)) return;
  for (const [name, value] of new URL(url).searchParams) {
    if (secretName.test(name)) rememberCredential(`the parameter ${name} of ${of}`, value);
  }
}

/** A URL as it may be shown: without user, password, query and fragment. Also one that can't be parsed. */
export function redactedUrl(url: string): string {
  const user = userOf(url);
  const [address = ""] = url.replace(`${user}@`, () => "").split(/[?#]/);
  return address;
}

/** What stands before the last "@" of the authority. A password may hold any character if the URL is broken. */
function userOf(url: string): string {
  const start = url.indexOf("//") + 2;
  const end = url.lastIndexOf("@");
  return start < 2 || end < start ? "" : url.slice(start, end);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "a server";
}

/**
 * A header's whole value, what follows its scheme, each field of it such as a cookie, and the password of
 * basic authentication.
 */
function rememberHeader(name: string, value: string): void {
  const [, scheme = "", rest = value] = /^(\S+) +(\S.*)$/.exec(value) ?? [];
  const pair = scheme.toLowerCase() === "basic" ? fromBase64(rest) : "";
  for (const found of [value, rest, ...value.split(/[\s;,]+/), pair]) {
    rememberCredential(name, found);
    rememberCredential(name, (splitOnce(found, "=")[1] ?? "").replaceAll('"', ""));
  }
  rememberCredential(name, splitOnce(pair, ":")[1] ?? "");
}

function splitOnce(text: string, by: string): readonly [string, string?] {
  const at = text.indexOf(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function fromBase64(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)));
  } catch {
    return "";
  }
}

/** URLs hold credentials encoded. One that can't be decoded stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
