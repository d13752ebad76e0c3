import type { Random } from "../../kit/random.ts";
import { valueOf } from "./schema-values.ts";
import type { JsonSchema } from "./schema-values.ts";

/** A route of the server, as its own document lists it. */
export interface RawRoute {
  readonly method: string;
  readonly path: string;
  /** Left out: it takes no JSON. */
  readonly schema?: JsonSchema | undefined;
}

/** A user: the header that signs in, and a session of its own. */
export interface RawUser {
  readonly header: string;
  readonly session: string;
}

/** What random requests to a server are made of. */
export interface RawTarget {
  /** The host and port that the server answers for. */
  readonly host: string;
  readonly routes: readonly RawRoute[];
  /** So many that rates do not refuse most requests. */
  readonly users: readonly RawUser[];
}

/** The bytes for one connection. */
export interface RawRequests {
  readonly bytes: Buffer;
  readonly count: number;
  /** Whether the server is expected to close the connection by itself: nothing in the framing was changed. */
  readonly isWhole: boolean;
}

/** What is changed of a request that a route would take. */
const changes = [
  "nothing",
  "nothing",
  "body",
  "body",
  "header",
  "header",
  "method",
  "target",
  "framing",
] as const;

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"];

/** Targets that programs have failed on: unparsable, ambiguous, of other forms, with odd escapes. */
const oddTargets = [
  ..."//[ http://[ //[::1 https://a@:b/ http:// // /// * ? # /? /# /% /%ff /%00 /%2e%2e/ /..".split(
    " ",
  ),
  ..."/agent /agent/ /agent// /agent/v1 /agent/v1// /agent/%zz /agent/v1/sessions/%e0%a4".split(
    " ",
  ),
  ..."/index.html /assets/ /assets/.. /config.json /policy-report /@vite/client /src/ /..;/".split(
    " ",
  ),
  ..."/__proto__ /constructor /agent/v1/sessions/__proto__ /agent/v1/sessions?__proto__=1".split(
    " ",
  ),
  "\\agent\\v1",
  "agent/v1",
  "/agent/v1/sessions/\u00e9",
  `/${"a".repeat(9_000)}`,
  "http://other.test/agent/v1/sessions",
  "/agent/v1/sessions?q=%ff&limit=-1",
];

const oddValues = [
  "",
  " ",
  "%",
  "\u00e9\u00ff",
  "\t",
  ",,,",
  ";;q=",
  '"',
  "[",
  "-1",
  "NaN",
  "1e999",
  "9".repeat(40),
  "bytes=9-1,-",
  "a".repeat(3_000),
  "*/*;q=x",
  "__proto__",
  "[::",
  "127.0.0.1:99999999",
  "a b",
  "other.test",
];

/** Headers that the server reads, or Node does. */
const readNames = (
  "Accept Authorization Content-Digest Content-Length Content-Type Cookie Host Idempotency-Key If-Match " +
  "If-None-Match If-Range Last-Event-ID Millrace-Session Origin Prefer Range Transfer-Encoding"
).split(" ");

const otherNames = (
  "Accept-Encoding Connection Content-Encoding Expect Forwarded HTTP2-Settings Keep-Alive Referer Sec-Fetch-Dest Sec-Fetch-Site TE " +
  "Traceparent Trailer Upgrade X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-HTTP-Method-Override"
).split(" ");

const usualValues = [
  "application/json",
  "application/json; charset=utf-8",
  "text/event-stream",
  "text/html",
  "gzip",
  "chunked",
  "gzip, chunked",
  "identity",
  "100-continue",
  "close",
  "keep-alive",
  "Upgrade, HTTP2-Settings",
  "websocket",
  "h2c",
  "document",
  "cross-site",
  "wait=1",
  "bytes=0-10",
  "0",
  "5",
];

/** One to four requests of one connection. About half go to a route as it wants them but for one change. */
export function rawRequests(random: Random, target: RawTarget): RawRequests {
  const count = random.chance(0.15) ? 2 + random.below(3) : 1;
  const pieces = Array.from({ length: count }, (_, at) =>
    oneRequest(random, target, at === count - 1),
  );
  const bytes = Buffer.from(pieces.map(({ text }) => text).join(""), "latin1");
  const isCut = random.chance(0.08);
  if (isCut) return { bytes: bytes.subarray(0, random.below(bytes.length)), count, isWhole: false };
  if (random.chance(0.08)) return { bytes: mutated(random, bytes), count, isWhole: false };
  return { bytes, count, isWhole: pieces.every(({ isWhole }) => isWhole) };
}

function oneRequest(
  random: Random,
  { host, routes, users }: RawTarget,
  isLast: boolean,
): { readonly text: string; readonly isWhole: boolean } {
  const route = random.pick(routes);
  const user = random.pick(users);
  const changed = random.pick(changes);
  const body = bodyOf(random, route, user.session, changed === "body");
  // Of several headers of one name Node takes the first or joins them, by the name.
  const headers = changed === "header" ? [...oddHeaders(random)] : [];
  headers.push(`Host: ${host}`, "Content-Type: application/json");
  headers.push(`Idempotency-Key: ${random.below(1e9)}-0123456789abcdef`);
  if (random.chance(0.95)) headers.push(user.header);
  if (random.chance(0.95)) headers.push(`Origin: http://${host}`);
  const hasBody = !["GET", "HEAD"].includes(route.method);
  if (hasBody) headers.push(framing(random, changed === "framing", body.length));
  if (isLast) headers.push("Connection: close");
  const method = changed === "method" ? oddMethod(random) : route.method;
  const path = filled(random, route.path, user.session);
  const line = `${method} ${changed === "target" ? oddTarget(random, path) : path} HTTP/1.1`;
  const text = `${line}\r\n${headers.join("\r\n")}\r\n\r\n${hasBody ? body : ""}`;
  return { text, isWhole: changed === "nothing" || changed === "body" };
}

function filled(random: Random, path: string, session: string): string {
  const other = (): string => random.pick(["first", "gone", "%20", "%E6%97%A5", "0".repeat(64)]);
  const odd = `?${random.pick(["limit=5", "v=1", "v=2", "a=%", "format=html"])}`;
  return (
    path.replaceAll(/\{\w+\}/g, () => (random.chance(0.8) ? session : other())) +
    (random.chance(0.2) ? odd : "")
  );
}

function oddMethod(random: Random): string {
  if (random.chance(0.7)) return random.pick([...methods, "CONNECT", "PRI", "get", "G\u00e9T", ""]);
  return letters(random, 1 + random.below(12));
}

function oddTarget(random: Random, path: string): string {
  const odd = random.pick(oddTargets);
  if (random.chance(0.5)) return odd;
  const from = Buffer.from(random.chance(0.5) ? odd : path, "latin1");
  return mutated(random, from)
    .toString("latin1")
    .replaceAll(/[\r\n]/g, "%");
}

function oddHeaders(random: Random): readonly string[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const known = random.pick(random.chance(0.6) ? readNames : otherNames);
    const name = random.chance(0.9) ? known : letters(random, 1 + random.below(20));
    const value = random.chance(0.5) ? random.pick(usualValues) : random.pick(oddValues);
    return `${name}: ${value}`;
  });
}

function framing(random: Random, isOdd: boolean, length: number): string {
  if (!isOdd) return `Content-Length: ${length}`;
  return random.pick([
    "Content-Length: 0",
    `Content-Length: ${length + 1 + random.below(50)}`,
    `Content-Length: ${Math.max(0, length - 1 - random.below(20))}`,
    `Content-Length: ${length}\r\nContent-Length: ${length + 1}`,
    `Content-Length: ${length}\r\nTransfer-Encoding: chunked`,
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: x",
    "Content-Length: -1",
    "X-None: 1",
  ]);
}

/** The characters stand for bytes. */
function bodyOf(random: Random, { schema }: RawRoute, session: string, isOdd: boolean): string {
  const value = schema === undefined ? "bytes" : valueOf(random, schema, session);
  const bytes = Buffer.from(JSON.stringify(value));
  if (!isOdd) return bytes.toString("latin1");
  if (random.chance(0.2)) return letters(random, random.below(400));
  if (random.chance(0.2))
    return random.pick(["[]", "null", "1", '{"__proto__":{"a":1}}', "[".repeat(99)]);
  return mutated(random, bytes).toString("latin1");
}

/** A few bytes replaced, removed, doubled or put in. */
function mutated(random: Random, bytes: Buffer): Buffer {
  let result = bytes;
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    const at = random.below(result.length + 1);
    const gap = random.below(3);
    const some = Buffer.from(letters(random, random.below(4)), "latin1");
    const back = random.chance(0.3) ? Math.max(0, at - 8) : Math.min(result.length, at + gap);
    result = Buffer.concat([result.subarray(0, at), some, result.subarray(back)]);
  }
  return result;
}

/** Any characters of one byte, mostly those with a meaning in requests. */
function letters(random: Random, length: number): string {
  const meant = "/[]{}%:;,?#&=\\\"' \t\r\n@*.-+0aZ";
  return Array.from({ length }, () =>
    random.chance(0.6) ? meant[random.below(meant.length)] : String.fromCharCode(random.below(256)),
  ).join("");
}
