import { createHmac, randomBytes } from "node:crypto";
import type { Agent } from "@millrace/agent";
import {
  idsFrom,
  memoryBlobs,
  memoryCounters,
  memoryEventLog,
  systemClock,
  systemRandom,
  uniqueName,
} from "@millrace/core/memory";
import type { Clock, Counters } from "@millrace/core/ports";
import { warn } from "@millrace/core/checks";
import { redactedMessage } from "@millrace/core/secrets";
import { Addresses } from "../auth/addresses.ts";
import { roleTable } from "../auth/authorize.ts";
import type { Authenticate } from "../auth/authenticator.ts";
import { localAuthenticate, localIdentity, localToken, tokenFile } from "../auth/local.ts";
import { Tickets } from "../auth/tickets.ts";
import type { Identity } from "../http/identity.ts";
import { usualHeartbeatMs } from "../hub/options.ts";
import { RouteTable } from "../http/match.ts";
import { defaultLimits } from "../http/route-limits.ts";
import type { ServerLimits } from "../http/route-limits.ts";
import type { Dialect } from "../http/dialect.ts";
import type { RouteWork } from "../http/route-context.ts";
import type { Route } from "../http/route.ts";
import { routesWith } from "../http/routes.ts";
import { HeldBytes } from "../limits/held-bytes.ts";
import { OwnedSessions } from "../limits/owned-sessions.ts";
import { RateLimits } from "../limits/rate-limits.ts";
import { Slots } from "../limits/slots.ts";
import { WrongCredentials } from "../limits/wrong-credentials.ts";
import { Spend } from "../limits/spend.ts";
import { openapiDocument } from "../openapi/document.ts";
import { works } from "../routes/works.ts";
import { clientToolsOf, driverHost, createRunHost } from "../runs/run-host.ts";
import { limitRuns } from "../limits/run-limits.ts";
import { Access } from "./access.ts";
import { checkMillraceOptions } from "./check-options.ts";
import { WebIncoming, webResponse } from "./fetch.ts";
import { noteTenants } from "./counts.ts";
import { Life, ownRoutes } from "./life.ts";
import { LostPeers } from "./lost-peers.ts";
import type { Millrace, MillraceOptions } from "./millrace.ts";
import { NodeIncoming } from "./node.ts";
import type { NodeRequest } from "./node.ts";
import type { EventResponse } from "../sse/sse-sink.ts";
import { OpenStreams } from "./open-streams.ts";
import { RestDropper } from "./drop-rest.ts";
import { handle } from "./pipeline.ts";
import type { PipelineParts } from "./pipeline.ts";
import { keepSwept } from "./sweeps.ts";
import { tenantStore } from "./tenant-store.ts";
import { Tenants } from "./tenants.ts";
import { writeReply } from "./write-reply.ts";
import type { Keeping } from "./write-reply.ts";
import { Problem, notFound } from "../http/problem.ts";

/**
 * Makes a server of sessions. Nothing listens yet: mount `fetch` or `node`. Throws `invalid_definition`
 * for options that can't be used.
 */
export function createMillrace<A extends Agent>(options: MillraceOptions<A>): Millrace<A> {
  checkMillraceOptions(options, createMillrace);
  const { agent, driver } = options;
  noteFrozenPlatform(process.env, driver === undefined);
  const local = options.authenticate === undefined;
  const limits: ServerLimits = { ...defaultLimits, ...options.limits };
  const { clock = systemClock, random = systemRandom } = options;
  const counters = options.counters ?? memoryCounters(clock);
  const secret =
    options.secret ?? process.env["MILLRACE_SECRET"] ?? randomBytes(32).toString("hex");
  const store = tenantStore(options.store, { clock, makeId: idsFrom(random) });
  const log = options.log ?? memoryEventLog({ clock });
  const blobs = options.blobs ?? memoryBlobs({ clock });
  const onlyTenant = local ? localIdentity.tenant : "default";
  const spend = new Spend(counters, limits, clock.monotonic);
  const limited = { counters, tenant: onlyTenant, limits, spend, clock };
  const { acquireSlot, ...here } = limitRuns(limited);
  // Within this process `admit` also sees which sessions are idle and may make room.
  const driven = options.counters === undefined ? here : { ...here, acquireSlot };
  const driving = { agent, store, log, blobs, limits: driven, clock, random };
  const runs = driver === undefined ? createRunHost(driving) : driverHost(driver);
  const {
    maxMs,
    heartbeatMs = usualHeartbeatMs,
    budgetBytes: snapshotBytes,
  } = options.streams ?? {};
  const hub = { maxMs, heartbeatMs, snapshotBytes, clock, random };
  const tenants = new Tenants({ store, log, blobs, runs, hub, onlyTenant });
  if (local) tenants.noteUnlisted(onlyTenant);
  const life = new Life(tenants, runs, clock);
  const { closing: signal } = life;
  if (runs.drives) void keepSwept({ blobs, store, clock, random, signal });
  const streams = new OpenStreams(clock, random, options.streams?.recheckMs);
  const newName = (): string => uniqueName(random);
  const tickets = local ? undefined : new Tickets(secret, onceBy(counters), limits, newName);
  const addresses = new Addresses({ ...options, local });
  const routes = routesWith(options.dialects);
  const parts: PipelineParts = {
    ...applicationOf(options),
    ...routeParts(routes, options.dialects, ticketWork(tickets, clock.now)),
    addresses,
    authenticate: options.authenticate ?? localMode(),
    local,
    access: new Access(options.authorize ?? roleTable, clock),
    ...countersOf(counters, limits, clock),
    spend,
    tenants,
    streams,
    tickets,
    settings: {
      addresses,
      cookies: options.cookies ?? false,
      whoTag: whoTagBy(secret),
      monotonic: clock.monotonic,
      random,
      heartbeatMs,
      draining: () => life.draining,
      onRequest: options.onRequest,
    },
    own: new Map(Object.entries(ownRoutes(life, () => tenants.anyStore(), routes))),
    closing: signal,
    clock,
    uniqueName: newName,
  };
  const keeping = keepingOf(clock, options.streams?.stallMs);
  const millrace: Millrace<A> = {
    fetch: async (request) => webResponse(await handle(parts, new WebIncoming(request)), keeping),
    node: (request, response) => void answerNode(parts, request, response, keeping),
    routes,
    openapi: () => openapiDocument(routes),
    disconnect: ({ tenant, user }) => streams.disconnect(tenant, user),
    close: ({ drainMs = 25_000 } = {}) => life.close(drainMs),
    [Symbol.asyncDispose]: () => life.close(0),
  };
  noteTenants(millrace, tenants);
  return millrace;
}

/**
 * Answers a request of Node. Never rejects: an answer that can't be written, such as one with a bad header, ends its
 * connection and not the process.
 */
async function answerNode(
  parts: PipelineParts,
  request: NodeRequest,
  response: EventResponse,
  keeping: Keeping,
): Promise<void> {
  try {
    const reply = await handle(parts, new NodeIncoming(request, response));
    await writeReply(reply, response, keeping);
  } catch (error) {
    const why = redactedMessage(error);
    warn("MILLRACE_REQUEST_FAILED", `the answer to a ${request.method} can't be written: ${why}`);
    response.destroy();
  }
}

/** What counts requests and what they hold. */
function countersOf(
  counters: Counters,
  limits: ServerLimits,
  { monotonic }: Clock,
): Pick<PipelineParts, "limits" | "rates" | "wrongCredentials" | "slots" | "heldBytes" | "owned"> {
  const rates = new RateLimits(counters, limits);
  return {
    limits,
    rates,
    wrongCredentials: new WrongCredentials(rates, limits.wrongCredentialsPerAddress, monotonic),
    slots: new Slots(limits),
    heldBytes: new HeldBytes(limits),
    owned: new OwnedSessions(limits.sessionsPerUser, monotonic),
  };
}

/** What becomes of connections that take nothing, or send what is not wanted. */
function keepingOf(clock: Clock, stallMs = 60_000): Keeping {
  const peers = new LostPeers({ clock, everyMs: stallMs / 4 });
  return { stallMs, clock, peers, rests: new RestDropper(clock) };
}

/** The table of the routes, their functions, and the headers of the dialects' clients. */
function routeParts(
  routes: readonly Route[],
  dialects: readonly Dialect[] = [],
  createTicket: RouteWork,
): Pick<PipelineParts, "table" | "works" | "dialectHeaders"> {
  const ofDialects = dialects.flatMap((dialect) =>
    dialect.routes.map(({ name, work }) => [name, work] as const),
  );
  return {
    table: new RouteTable(routes),
    works: new Map([...Object.entries({ ...works, createTicket }), ...ofDialects]),
    dialectHeaders: dialects.flatMap(({ requestHeaders = [] }) => requestHeaders),
  };
}

/** Where it is mounted and where pages find it, without a slash at the end, and what its pages may carry out and send. */
function applicationOf({
  agent,
  basePath = "",
  publicPath = basePath,
  acceptsUrl = ({ protocol }) => protocol === "https:",
}: MillraceOptions): Pick<PipelineParts, "basePath" | "publicPath" | "clientTools" | "acceptsUrl"> {
  const trimmed = (path: string): string => path.replace(/\/+$/, "");
  const clientTools = clientToolsOf(agent);
  const paths = { basePath: trimmed(basePath), publicPath: trimmed(publicPath) };
  return { ...paths, clientTools, acceptsUrl };
}

/** The token of this installation is printed when it is made, once. */
function localMode(): Authenticate {
  const show = (line: string): void => void process.stderr.write(`${line}\n`);
  return localAuthenticate(localToken(tokenFile(process.env), show));
}

/** Whether something is used for the first time, in all processes that share the counters. */
function onceBy(counters: Counters): (nonce: string, windowMs: number) => Promise<boolean> {
  return async (nonce, windowMs) => {
    const { taken } = await counters.take({ key: `ticket:${nonce}`, limit: 1, windowMs });
    return taken;
  };
}

/** Identities whose tags are kept. */
const keptTags = 10_000;

/** `Millrace-Who`: a keyed hash of tenant and user, by which tabs find that they are of one user. */
function whoTagBy(secret: string): (who: Identity) => string {
  const tags = new Map<string, string>();
  return ({ tenant, user }) => {
    const text = `who\0${tenant.length}\0${tenant}\0${user}`;
    const known = tags.get(text);
    if (known !== undefined) return known;
    const tag = createHmac("sha256", secret).update(text).digest("base64url").slice(0, 22);
    if (tags.size >= keptTags) tags.clear();
    tags.set(text, tag);
    return tag;
  };
}

/** Variables by which platforms are known that freeze or end a process after its answer. */
const frozen: Readonly<Record<string, string>> = {
  AWS_LAMBDA_FUNCTION_NAME: "AWS Lambda",
  VERCEL: "Vercel",
  NETLIFY: "Netlify",
  FUNCTIONS_WORKER_RUNTIME: "Azure Functions",
  K_SERVICE: "Cloud Run",
};

/** Warns where a run would stop with the answer to its prompt. */
function noteFrozenPlatform(
  environment: Readonly<Record<string, string | undefined>>,
  drives: boolean,
): void {
  const found = Object.keys(frozen).find((name) => environment[name] !== undefined);
  if (found === undefined || !drives) return;
  const fix = "pass driver: false, and drive runs by createWorker on a machine that stays";
  warn("MILLRACE_FROZEN_PLATFORM", `${frozen[found] ?? found} may stop runs after an answer`, fix);
}

interface TicketBody {
  readonly sessionId: string;
  readonly use: "events" | "blob";
  readonly hash?: string;
}

/** Makes tickets for sessions that the caller may read. Local mode has none: its token is for headers. */
function ticketWork(tickets: Tickets | undefined, now: () => number): RouteWork {
  return async (context) => {
    if (tickets === undefined) throw new Problem("forbidden", "local mode has no tickets");
    const { sessionId, use, hash } = context.body as TicketBody; // of the route's shape
    if ((use === "blob") !== (hash !== undefined)) {
      const pointer = "/hash";
      throw new Problem("invalid_request", "a ticket for a blob names its hash", { pointer });
    }
    const session = await context.open(sessionId, "read");
    if (session === undefined) throw notFound();
    const { uid } = session;
    return { status: 201, json: tickets.make(context.who, { use, sessionId, uid, hash }, now()) };
  };
}
