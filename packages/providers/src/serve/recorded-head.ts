import type { Redactor } from "./redact.ts";

/** Names and values in the order in which they were sent; a name may occur twice. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

const secretHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "x-amz-security-token",
  "cookie",
  "set-cookie",
]);

/** Headers of one hop, or of this machine, which do not describe the vendor. */
const localHeaders: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "host",
  "forwarded",
  "x-forwarded-for",
  "x-real-ip",
]);

const identifying =
  /request-?id|trace|correlation|cf-ray|organi[sz]ation|project|account|tenant|user-?id|client-?id|session/;

const secretQuery = /^(?:key|api[-_]?key|access_token|token|sig|signature|x-amz-.*)$/i;

/** Pairs from the flat list in which Node gives headers. */
export function pairHeaders(raw: readonly string[]): HeaderList {
  return raw.flatMap((name, index) =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? ""] as const] : [],
  );
}

export function withoutHops(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !localHeaders.has(name.toLowerCase()));
}

/** Registers the secrets of a head with the redactor, before anything is written. */
export function learnSecrets(redactor: Redactor, headers: HeaderList, path: string): void {
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (secretHeaders.has(lower)) {
      for (const secret of secretsOf(lower, value)) redactor.secret(secret);
    } else if (isIdentifying(lower)) {
      redactor.name(value);
    }
  }
  for (const [name, value] of queryOf(path)) {
    if (secretQuery.test(name)) redactor.secret(value);
  }
}

/** The headers to store: without keys and hop-by-hop headers, and with stand-ins for ids. */
export function redactHeaders(
  redactor: Redactor,
  headers: HeaderList,
): Readonly<Record<string, readonly string[]>> {
  const kept: Record<string, string[]> = {};
  for (const [name, value] of withoutHops(headers)) {
    const lower = name.toLowerCase();
    if (secretHeaders.has(lower)) continue;
    const clean = isIdentifying(lower) ? redactor.name(value) : redactor.text(value);
    (kept[lower] ??= []).push(clean);
  }
  return kept;
}

/** The path without the query parameters that are keys. */
export function redactPath(redactor: Redactor, path: string): string {
  const [plain = "", ...rest] = path.split("?");
  const query = rest.join("?").split("&");
  const kept = query.filter((pair) => pair !== "" && !secretQuery.test(pair.split("=")[0] ?? ""));
  return redactor.text(kept.length === 0 ? plain : `${plain}?${kept.join("&")}`);
}

/** Values that a body may repeat alone: a key without its scheme, a cookie without its name. */
function secretsOf(name: string, value: string): readonly string[] {
  const pairs = value.split(";").map((pair) => pair.trim().replace(/^[^=]*=/, ""));
  if (name === "cookie") return pairs;
  // Only the first pair is the cookie. Attributes such as `HttpOnly` follow.
  if (name === "set-cookie") return pairs.slice(0, 1);
  return [value, value.split(/\s+/).at(-1) ?? ""];
}

function isIdentifying(name: string): boolean {
  return identifying.test(name) && !name.includes("ratelimit");
}

function queryOf(path: string): URLSearchParams {
  return new URLSearchParams(path.split("?").slice(1).join("?"));
}
