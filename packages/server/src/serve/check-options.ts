import { checkOption, checkOptions, expects, refusal } from "@millrace/core/checks";
import type { Door, OptionCheck } from "@millrace/core/checks";
import { dialectCollision } from "../http/dialect.ts";
import type { Dialect } from "../http/dialect.ts";
import { defaultLimits } from "../http/route-limits.ts";
import type { ServerLimits } from "../http/route-limits.ts";
import { routesWith } from "../http/routes.ts";
import type { MillraceOptions, StreamSettings } from "./millrace.ts";

const { above0, call, either, flag, from0, having, list, optional, record, text, whole } = expects;

const secretCheck: OptionCheck = {
  accepts: isLong,
  fix: "use a text of 32 characters or more, such as one of `openssl rand -hex 32`, or leave it out",
  secret: true,
};

/** Throws `invalid_definition` for options of a server that can't be used. */
export function checkMillraceOptions(options: unknown, from: Door["from"]): void {
  const hints = { drive: "write driver: false, or leave it out and let this process drive" };
  const door = { name: "createMillrace", from };
  const store = having(["find", "create"], "");
  checkOptions<MillraceOptions>({ ...door, hints }, options, {
    agent: either(
      call(),
      having(["open", "run"], ""),
      "pass an agent of defineAgent, or a function that gives one",
    ),
    authenticate: optional(call("pass a function that gives { tenant, user } or nothing")),
    authorize: optional(call("pass a function that gives true or false")),
    store: optional(
      either(call(), store, "pass a store, or a function that makes one for a tenant"),
    ),
    log: optional(having(["append", "read", "announce"], "pass an event log")),
    blobs: optional(having(["put", "read"], "pass a blob store")),
    driver: optional(
      either(
        { accepts: (value) => value === false, fix: "" },
        having(["wake"], ""),
        "pass a driver, such as temporalDriver() of @millrace/temporal/client, or false",
      ),
    ),
    counters: optional(
      having(["take", "hold", "release"], "pass counters, such as redisCounters()"),
    ),
    secret: optional(secretCheck),
    basePath: optional({ accepts: isPath, fix: "use a path such as /agent" }),
    publicPath: optional({ accepts: isPath, fix: "use a path such as /agent" }),
    dialects: optional({
      accepts: areDialects,
      fix: "pass a list of dialects, such as aiSdk() of @millrace/dialects/ai-sdk",
    }),
    origins: optional(list("pass a list such as https://app.example")),
    hosts: optional(list("pass a list such as app.example")),
    cookies: optional(flag),
    trustProxy: optional(flag),
    acceptsUrl: optional(call("pass a function that gets a URL, or leave it out")),
    limits: optional(record()),
    streams: optional(record()),
    onRequest: optional(call()),
    clock: optional(
      having(["now", "monotonic", "sleep", "after"], "pass a clock, or leave it out"),
    ),
    random: optional(
      call("pass a function that gives a number from 0 to below 1, or leave it out"),
    ),
  });
  const given = options as MillraceOptions; // checked above
  checkEnvironment(door, given);
  const { limits = {}, streams = {}, dialects = [] } = given;
  const collision = dialectCollision(dialects, routesWith());
  if (collision !== undefined) throw refusal(door, collision);
  const limitChecks = Object.fromEntries(
    Object.keys(defaultLimits).map((name) => [name, optional(from0("a number"))]),
  ) as Readonly<Record<keyof ServerLimits, ReturnType<typeof optional>>>;
  checkOptions<ServerLimits>({ ...door, inside: "limits" }, limits, limitChecks);
  checkOptions<StreamSettings>({ ...door, inside: "streams" }, streams, {
    maxMs: optional(above0("milliseconds")),
    heartbeatMs: optional(above0("milliseconds")),
    stallMs: optional(above0("milliseconds")),
    recheckMs: optional({
      accepts: (value) => typeof value === "number" && value > 0 && value <= 25_000,
      fix: "use milliseconds up to 25,000",
    }),
    budgetBytes: optional(whole(1)),
  });
}

/** The variables that count because an option was left out, by the checks of options. */
function checkEnvironment(door: Door, { secret, authenticate }: MillraceOptions): void {
  if (secret === undefined) {
    // An empty text counts as a value: with it, anyone could sign a ticket.
    checkOption(door, "MILLRACE_SECRET", process.env["MILLRACE_SECRET"], optional(secretCheck));
  }
  if (authenticate === undefined) {
    const path = optional(text("use the path of a file, or unset it"));
    checkOption(door, "MILLRACE_TOKEN_FILE", process.env["MILLRACE_TOKEN_FILE"], path);
  }
}

function isLong(value: unknown): boolean {
  return typeof value === "string" && value.length >= 32;
}

function areDialects(value: unknown): boolean {
  const isDialect = (each: unknown): boolean =>
    record().accepts(each) &&
    typeof (each as Dialect).name === "string" &&
    Array.isArray((each as Dialect).routes); // may be anything: both fields are checked
  return Array.isArray(value) && value.every(isDialect);
}

function isPath(value: unknown): boolean {
  return typeof value === "string" && /^(?:\/[A-Za-z0-9._~-]+)*\/?$/.test(value);
}
