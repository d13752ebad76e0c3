import { createHmac, randomBytes } from "node:crypto";
import type { Agent } from "@millrace/agent";
import { memoryBlobs, memoryCounters, memoryEventLog, systemClock } from "@millrace/core/memory";
import type { Counters } from "@millrace/core/ports";
import { Addresses } from "../auth/addresses.ts";
import { roleTable } from "../auth/authorize.ts";
import type { Authenticate } from "../auth/authenticator.ts";
import { localAuthenticate, localIdentity, localToken, tokenFile } from "../auth/local.ts";
import { Tickets } from "../auth/tickets.ts";
import type { Identity } from "../http/identity.ts";
import { RouteTable } from "../http/match.ts";
import { defaultLimits } from "../http/route-limits.ts";
import type { ServerLimits } from "../http/route-limits.ts";
import { dialectNames } from "../http/route.ts";
import type { DialectName, Route } from "../http/route.ts";
import { routes } from "../http/routes.ts";
import { OwnedSessions } from "../limits/owned-sessions.ts";
import { RateLimits } from "../limits/rate-limits.ts";
import { Slots } from "../limits/slots.ts";
import { Spend } from "../limits/spend.ts";
import { openapiDocument } from "../openapi/document.ts";
import { works } from "../routes/works.ts";
import { clientToolsOf } from "../runs/client-tools.ts";
import { driverHost } from "../runs/driver-host.ts";
import { createRunHost } from "../runs/run-host.ts";
import { limitRuns } from "../limits/run-limits.ts";
import { Access } from "./access.ts";
import { checkMillraceOptions } from "./check-options.ts";
import { WebIncoming, webResponse } from "./fetch.ts";
import { Life } from "./life.ts";
import { LostPeers } from "./lost-peers.ts";
import type { Millrace, MillraceOptions } from "./millrace.ts";
import { NodeIncoming } from "./node.ts";
import { OpenStreams } from "./open-streams.ts";
import { ownRoutes } from "./own-routes.ts";
import { handle } from "./pipeline.ts";
import type { PipelineParts } from "./pipeline.ts";
import { noteFrozenPlatform } from "./platform.ts";
import { keepSwept } from "./sweeps.ts";
import { tenantStore } from "./tenant-store.ts";
import { Tenants } from "./tenants.ts";
import { ticketWork } from "./ticket-work.ts";
import { writeReply } from "./write-reply.ts";

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
  const counters = options.counters ?? memoryCounters();
  const secret =
    options.secret ?? process.env["MILLRACE_SECRET"] ?? randomBytes(32).toString("hex");
  const store = tenantStore(options.store);
  const log = options.log ?? memoryEventLog();
  const blobs = options.blobs ?? memoryBlobs();
  const onlyTenant = local ? localIdentity.tenant : "default";
  const spend = new Spend(counters, limits, systemClock.monotonic);
  const { place, ...here } = limitRuns({ counters, tenant: onlyTenant, limits, spend });
  // Of this process alone `admit` knows more: which sessions are idle and may make room.
  const driven = options.counters === undefined ? here : { ...here, place };
  const driving = { agent, store, log, blobs, limits: driven };
  const runs = driver === undefined ? createRunHost(driving) : driverHost(driver);
  const { maxMs, heartbeatMs, budgetBytes: snapshotBytes } = options.streams ?? {};
  const tenants = new Tenants({
    store,
    log,
    blobs,
    runs,
    hub: { maxMs, heartbeatMs, snapshotBytes },
    onlyTenant,
  });
  if (local) tenants.noteUnlisted(onlyTenant);
  const life = new Life(tenants, runs, systemClock);
  const { closing: signal } = life;
  if (runs.drives)
    void keepSwept({ blobs, store, clock: systemClock, random: Math.random, signal });
  const streams = new OpenStreams(systemClock, Math.random, options.streams?.recheckMs);
  const tickets = local ? undefined : new Tickets(secret, onceBy(counters), limits.ticketMs);
  const addresses = new Addresses({ ...options, local });
  const parts: PipelineParts = {
    ...applicationOf(options),
    table: new RouteTable(routesWith(options.dialects)),
    addresses,
    authenticate: options.authenticate ?? localMode(),
    local,
    access: new Access(options.authorize ?? roleTable),
    limits,
    rates: new RateLimits(counters, limits),
    slots: new Slots(limits),
    spend,
    owned: new OwnedSessions(limits.sessionsPerUser, systemClock.monotonic),
    tenants,
    streams,
    tickets,
    settings: {
      addresses,
      cookies: options.cookies ?? false,
      whoTag: whoTagBy(secret),
      monotonic: systemClock.monotonic,
      random: Math.random,
      draining: () => life.draining,
      onRequest: options.onRequest,
    },
    works: { ...works, createTicket: ticketWork(tickets, systemClock.now) },
    own: ownRoutes(life, () => tenants.anyStore()),
    closing: signal,
    now: systemClock.now,
    sleep: (ms) => systemClock.sleep(ms),
  };
  const stallMs = options.streams?.stallMs ?? 60_000;
  const keeping = { stallMs, peers: new LostPeers({ clock: systemClock, everyMs: stallMs / 4 }) };
  return {
    fetch: async (request) => webResponse(await handle(parts, new WebIncoming(request)), keeping),
    node: (request, response) => {
      const incoming = new NodeIncoming(request, response);
      void handle(parts, incoming).then((reply) => writeReply(reply, response, keeping));
    },
    routes: routesWith(options.dialects),
    openapi: openapiDocument,
    disconnect: ({ tenant, user }) => streams.disconnect(tenant, user),
    close: ({ drainMs = 25_000 } = {}) => life.close(drainMs),
    [Symbol.asyncDispose]: () => life.close(0),
  };
}

/** Our own routes, and those of these dialects. */
function routesWith(dialects: readonly DialectName[] = dialectNames): readonly Route[] {
  return routes.filter(({ dialect }) => dialect === undefined || dialects.includes(dialect));
}

/** Where it is mounted and where pages find it, without a slash at the end, and what its pages may carry out. */
function applicationOf({
  agent,
  basePath = "",
  publicPath = basePath,
}: MillraceOptions): Pick<PipelineParts, "basePath" | "publicPath" | "clientTools"> {
  const trimmed = (path: string): string => path.replace(/\/+$/, "");
  const clientTools = clientToolsOf(agent);
  return { basePath: trimmed(basePath), publicPath: trimmed(publicPath), clientTools };
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

/** `Millrace-Who`: a keyed hash of tenant and user, by which tabs know that they are of one user. */
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
