import { defaultLimits } from "../packages/server/src/http/route-limits.ts";
import type { ServerLimits } from "../packages/server/src/http/route-limits.ts";

/** What each limit of a server bounds, and what the caller is answered above it. */
const meanings: Readonly<Record<keyof ServerLimits, readonly [what: string, above: string]>> = {
  bodyBytes: [
    "a JSON body with content: prompts, answers, and what dialects take",
    "413 `too_large`",
  ],
  controlBytes: ["any other JSON body", "413 `too_large`"],
  bodyValues: [
    "the values of a JSON body, in lists and objects of any depth",
    "400 `invalid_request`",
  ],
  heldBytesPerUser: [
    "larger bodies that are being read, together, by process",
    "429 `rate_limited`",
  ],
  heldBytesPerProcess: ["the same, of all users", "503 `overloaded`"],
  blobBytes: ["an uploaded file", "413 `too_large`"],
  headerBytes: ["the headers of a request", "431 `headers_too_large`"],
  metadataBytes: ["the metadata of a session", "413 `too_large`"],
  answerBytes: ["an answer of `events` as JSON", "the rest comes with the next one"],
  bodyMs: ["until a JSON body is there", "408 `request_timeout`"],
  blobMs: ["until a file is there", "408 `request_timeout`"],
  waitMs: ["a `Prefer: wait`", "it ends with what is"],
  ticketMs: ["from the making of a ticket to its use", "401 `unauthenticated`"],
  requestsPerUser: ["requests in a minute", "429 `rate_limited`"],
  requestsPerTenant: ["requests in a minute", "429 `rate_limited`"],
  bytesPerUser: ["larger JSON bodies in a minute", "429 `rate_limited`"],
  creationsPerUser: ["sessions made and forked in a minute", "429 `rate_limited`"],
  inputsPerUser: ["inputs in a minute", "429 `rate_limited`"],
  ticketsPerUser: ["tickets in a minute", "429 `rate_limited`"],
  abortsPerUser: ["stops in a minute, counted by themselves", "429 `rate_limited`"],
  notFoundPerUser: ["answers 404 in a minute", "429 `rate_limited`"],
  wrongCredentialsPerAddress: [
    "wrong credentials in a minute, of an address that is not shared",
    "429 `rate_limited`, whatever is sent",
  ],
  streamsPerUser: ["open streams, by process", "429 `quota_exceeded`"],
  viewersPerSession: ["viewers at once, by process", "429 `quota_exceeded`"],
  sessionsPerStream: ["sessions in one stream", "429 `quota_exceeded`"],
  streamsPerProcess: ["open streams", "503 `overloaded`"],
  exportsPerUser: ["exports at once, by process", "429 `quota_exceeded`"],
  inputsPerSession: ["inputs that wait", "429 `quota_exceeded`"],
  runsPerUser: ["runs at once", "the run waits for its turn"],
  runsPerTenant: ["runs at once", "the run waits for its turn"],
  sessionsPerUser: ["sessions", "429 `quota_exceeded`"],
  blobBytesPerSession: ["files of a session together", "429 `quota_exceeded`"],
  spendPerUser: ["micro-dollars in a day", "429 `quota_exceeded`; a run ends `limited`"],
  spendPerTenant: ["micro-dollars in a day", "429 `quota_exceeded`; a run ends `limited`"],
};

/** The rows of the table of limits. */
export function limitRows(): readonly (readonly string[])[] {
  return Object.entries(meanings).map(([name, [what, above]]) => [
    `\`${name}\``,
    what,
    shown(name, defaultLimits[name as keyof ServerLimits]), // a name of the record
    above,
  ]);
}

function shown(name: string, value: number): string {
  if (value === Infinity) return "none";
  const isSize = /bytes/i.test(name);
  if (isSize && value >= 2 ** 30) return `${value / 2 ** 30} GiB`;
  if (isSize && value >= 2 ** 20) return `${value / 2 ** 20} MiB`;
  if (isSize) return `${value / 2 ** 10} KiB`;
  return name.endsWith("Ms") ? `${value / 1_000} s` : value.toLocaleString("en");
}
