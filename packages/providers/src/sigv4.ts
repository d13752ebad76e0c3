import { createHash, createHmac } from "node:crypto";

/** Keys of AWS, in the shape of its own libraries. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

/** What is signed of a request. */
export interface AwsRequest {
  readonly method: string;
  /** As it is sent, with the encoding that it has there. */
  readonly path: string;
  /** Without the question mark. */
  readonly query?: string | undefined;
  /** All of them are signed. Several of one name are joined in their order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Where and when a signature holds. */
export interface AwsScope {
  readonly region: string;
  /** The service's name in signatures, such as `bedrock`. */
  readonly service: string;
  /** Milliseconds since 1970. AWS refuses a signature whose time is off by more than five minutes. */
  readonly now: number;
  /** False keeps `.`, `..` and empty segments of the path, as only S3 does. */
  readonly normalize?: boolean | undefined;
}

/** The steps of a signature. */
export interface AwsSignature {
  readonly canonicalRequest: string;
  readonly stringToSign: string;
  readonly signature: string;
  /** The value of the header `authorization`. */
  readonly authorization: string;
}

/**
 * Signs a request by Signature Version 4. The request has the headers `host` and `x-amz-date`, which
 * `amzDate` gives, and those that the service wants beside them.
 */
export function signAws(
  request: AwsRequest,
  scope: AwsScope,
  credentials: AwsCredentials,
): AwsSignature {
  const date = amzDate(scope.now);
  const area = `${date.slice(0, 8)}/${scope.region}/${scope.service}/aws4_request`;
  const headers = canonicalHeaders(request.headers);
  const names = headers.map(([name]) => name).join(";");
  const canonicalRequest = [
    request.method,
    canonicalPath(request.path, scope.normalize ?? true),
    canonicalQuery(request.query ?? ""),
    ...headers.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    sha256(request.body),
  ].join("\n");
  const stringToSign = [algorithm, date, area, sha256(canonicalRequest)].join("\n");
  const key = area.split("/").reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`);
  const signature = hmac(key, stringToSign).toString("hex");
  const proof = `Credential=${credentials.accessKeyId}/${area}, SignedHeaders=${names}, Signature=${signature}`;
  return { canonicalRequest, stringToSign, signature, authorization: `${algorithm} ${proof}` };
}

const algorithm = "AWS4-HMAC-SHA256";

/** A time as AWS writes it, such as `20150830T123600Z`. */
export function amzDate(now: number): string {
  return new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
}

/** The hash of a body, for the header `x-amz-content-sha256`. */
export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text, "utf8").digest();
}

/** Names in lower case and in order, values with single spaces. */
function canonicalHeaders(headers: AwsRequest["headers"]): readonly (readonly [string, string])[] {
  const joined = new Map<string, string>();
  for (const [given, text] of headers) {
    const name = given.trim().toLowerCase();
    const value = text.trim().replaceAll(/\s+/g, " ");
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before},${value}`);
  }
  return [...joined].toSorted(([left], [right]) => compare(left, right));
}

/**
 * The path with each of its segments encoded again. So a model's `:`, which is sent as `%3A`, is signed as
 * `%253A`: every service but S3 wants it so.
 */
function canonicalPath(path: string, normalize: boolean): string {
  const segments = path.split("/").slice(1);
  const kept = normalize ? normalized(segments) : segments;
  return `/${kept.map(encoded).join("/")}`;
}

function normalized(segments: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== "." && segment !== "") kept.push(segment);
  }
  const isFolder = ["", ".", ".."].includes(segments.at(-1) ?? "");
  return isFolder && kept.length > 0 ? [...kept, ""] : kept;
}

function canonicalQuery(query: string): string {
  if (query === "") return "";
  return query
    .split("&")
    .map((field) => {
      const [name = "", ...value] = field.split("=");
      return [encoded(decoded(name)), encoded(decoded(value.join("=")))] as const;
    })
    .toSorted(([name, value], [other, second]) => compare(name, other) || compare(value, second))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** By code points, as bytes are ordered: all of them are ASCII here. */
function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** RFC 3986: all but letters, digits and `-._~`. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // it is not encoded
  }
}
