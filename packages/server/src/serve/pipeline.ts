import type { SessionRecord } from "@millrace/core/ports";
import {
  formOf,
  namedForm,
  waitOf,
  belowBase,
  pathSegments,
  splitTarget,
  checkQuery,
  readQuery,
  keyOf,
} from "../http/request.ts";
import type { Answer, StreamAnswer } from "../http/answer.ts";
import type { Sink } from "../hub/options.ts";
import { untilGrid } from "../http/grid.ts";
import type { Identity } from "../http/identity.ts";
import type { Incoming, RawQuery } from "../http/request.ts";
import type { Matched, RouteTable } from "../http/match.ts";
import { Problem, notFound } from "../http/problem.ts";
import { readBody } from "../http/read-body.ts";
import type { ClientTools } from "../runs/run-host.ts";
import type { Quotas, RouteContext, RouteWork, TenantPorts } from "../http/route-context.ts";
import type { ServerLimits } from "../http/route-limits.ts";
import type { HeldBytes } from "../limits/held-bytes.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { OwnedSessions } from "../limits/owned-sessions.ts";
import type { Slots, StreamSlot } from "../limits/slots.ts";
import type { Spend } from "../limits/spend.ts";
import type { Access } from "./access.ts";
import { countedCaller } from "./caller.ts";
import type { Caller, CallerParts } from "./caller.ts";
import { Exchange } from "./exchange.ts";
import type { ExchangeSettings } from "./exchange.ts";
import { problemOf } from "./faults.ts";
import { releaseAfterBody, preflight } from "./reply.ts";
import type { OpenStreams } from "./open-streams.ts";
import type { Reply } from "./reply.ts";
import { wasRemoved } from "./access.ts";
import type { Tenants } from "./tenants.ts";

/** What the pipeline is made of. */
export interface PipelineParts extends CallerParts {
  readonly basePath: string;
  readonly publicPath: string;
  readonly clientTools: ClientTools;
  readonly acceptsUrl: (url: URL) => boolean;
  readonly table: RouteTable;
  /** Headers of requests that pages of other origins may send for the dialects. */
  readonly dialectHeaders: readonly string[];
  /** Whether health needs credentials too. */
  readonly local: boolean;
  readonly access: Access;
  readonly limits: ServerLimits;
  readonly rates: RateLimits;
  readonly slots: Slots;
  readonly heldBytes: HeldBytes;
  readonly owned: OwnedSessions;
  readonly spend: Spend;
  readonly tenants: Tenants;
  readonly streams: OpenStreams;
  readonly settings: ExchangeSettings;
  /** The functions of the routes, by their names. */
  readonly works: ReadonlyMap<string, RouteWork>;
  /** The routes of the server itself, which need no tenant. */
  readonly own: ReadonlyMap<string, () => Promise<Answer>>;
  /** Aborted when waits are to answer with what is. */
  readonly closing: AbortSignal;
  /** Of this host. */
  readonly uniqueName: () => string;
}

/**
 * Handles one request. The order of the checks is part of the contract: host, path, verb, origin,
 * credentials, rate, size and form, then find and authorise, then meaning. All before the find are blind
 * to ids, so that no earlier answer reveals whether something exists.
 */
export async function handle(parts: PipelineParts, incoming: Incoming): Promise<Reply> {
  const exchange = new Exchange(incoming, parts.settings);
  try {
    return await answer(parts, exchange);
  } catch (error) {
    return refuse(parts, exchange, error);
  }
}

/** The answer of a refusal. A 404 waits for the grid, and counts. */
async function refuse(parts: PipelineParts, exchange: Exchange, error: unknown): Promise<Reply> {
  const problem = problemOf(error, exchange.requestId);
  if (problem.code !== "not_found") return exchange.refusal(problem);
  let shown = problem;
  try {
    if (exchange.who !== undefined) await parts.rates.chargeNotFound(exchange.who);
  } catch (limited) {
    shown = problemOf(limited, exchange.requestId);
  }
  await untilGrid(() => exchange.age, parts.clock.sleep);
  return exchange.refusal(shown);
}

async function answer(parts: PipelineParts, exchange: Exchange): Promise<Reply> {
  const { incoming } = exchange;
  exchange.address = parts.addresses.admit(incoming);
  refuseLongHeaders(incoming, parts.limits.headerBytes);
  const { path, query } = splitTarget(incoming.target);
  const below = belowBase(path, parts.basePath);
  if (below === undefined) throw notFound();
  const { verbs, match } = parts.table.find(pathSegments(below));
  const rawQuery = readQuery(query);
  const matched = incoming.method === "OPTIONS" ? undefined : match(incoming.method);
  exchange.route = matched?.route;
  const explicit = isExplicit(incoming, matched, rawQuery);
  parts.addresses.admitOrigin(incoming, exchange.address, explicit);
  if (matched === undefined) return exchange.reply(preflight(verbs, parts.dialectHeaders));
  const { route } = matched;
  const isNeeded = route.signedIn || parts.local;
  const caller = isNeeded ? await countedCaller(parts, exchange, matched, rawQuery) : undefined;
  exchange.who = caller?.who;
  if (caller !== undefined) exchange.rate = await parts.rates.charge(caller.who, route.bucket);
  const own = parts.own.get(route.name);
  if (own !== undefined) {
    checkQuery(rawQuery, route.query);
    formOf(route, incoming.header("accept"));
    return exchange.reply(await own());
  }
  if (caller === undefined) throw notFound();
  return work(parts, exchange, { ...matched, ...caller, rawQuery });
}

function refuseLongHeaders({ headerBytes }: Incoming, limit: number): void {
  if (headerBytes <= limit) return;
  throw new Problem("headers_too_large", `the headers have more than ${limit} bytes`, { limit });
}

/** Whether credentials were put there by a program, not added by a browser. */
function isExplicit(incoming: Incoming, matched: Matched | undefined, query: RawQuery): boolean {
  if (incoming.header("authorization") !== undefined) return true;
  return matched?.route.ticket !== undefined && query.has("ticket");
}

/** A request whose caller is known. */
interface Admitted extends Matched, Caller {
  readonly rawQuery: RawQuery;
}

async function work(parts: PipelineParts, exchange: Exchange, admitted: Admitted): Promise<Reply> {
  const { route, params, who } = admitted;
  const { incoming } = exchange;
  const query = checkQuery(admitted.rawQuery, route.query);
  const accepted = formOf(route, incoming.header("accept"));
  if (query["v"] !== undefined && query["v"] !== "1") {
    throw new Problem("not_acceptable", "messages are spoken in version 1", { supported: [1] });
  }
  const key = keyOf(route, incoming.header("idempotency-key"));
  const charge = (size: number): Promise<void> => parts.rates.chargeBytes(who, size);
  const reading = { ...parts, held: parts.heldBytes.open(who), charge };
  const { json, bytes } = await readBody(incoming, route.request, reading);
  const form = route.stream === "named" ? namedForm(query, json) : accepted;

  const ports = parts.tenants.of(who.tenant);
  const { access, limits } = parts;
  const { id } = params;
  const asked = route.actions.filter((action) => action !== "create" && action !== "list");
  let session: SessionRecord | undefined;
  try {
    session = id === undefined ? undefined : await access.find(ports, who, id, asked);
  } catch (error) {
    const cursor = incoming.header("last-event-id") ?? stringOf(query["cursor"]);
    const isMissing = error instanceof Problem && error.code === "not_found" && id !== undefined;
    if (!isMissing || route.name !== "watchSession") throw error;
    if (!(await wasRemoved({ access, ports, who, id, cursor }))) throw error;
    return exchange.reply({ status: 204 });
  }
  const { ticket } = admitted;
  if (ticket !== undefined && session?.uid !== ticket.uid) throw notFound();
  const run = parts.works.get(route.name);
  if (run === undefined) throw notFound();
  const slot = form === "stream" ? openSlot(parts, who, session) : undefined;
  const releaseExport = route.name === "exportSession" ? parts.slots.export(who) : undefined;
  try {
    const context: RouteContext = {
      ...ports,
      who,
      session,
      params,
      query,
      header: incoming.header,
      key,
      body: json,
      bytes,
      form,
      waitMs: waitOf(incoming.header("prefer"), limits.waitMs),
      get signal() {
        return AbortSignal.any([incoming.signal, parts.closing]);
      },
      open: (sessionId, action) => access.open(ports, who, sessionId, action),
      admit: (action, session) => access.admit(who, action, { ...session, tenant: ports.tenant }),
      admitMetadata: (record, metadata) => access.admitMetadata(ports, who, record, metadata),
      limits,
      publicPath: parts.publicPath,
      clientTools: parts.clientTools,
      acceptsUrl: parts.acceptsUrl,
      quotas: quotasOf(parts, ports, who),
      now: () => ports.store.now(),
      clock: parts.clock,
      uniqueName: parts.uniqueName,
    };
    const answered = await run(context);
    if (releaseExport !== undefined)
      return releaseAfterBody(exchange.reply(answered), releaseExport, incoming.signal);
    return slot === undefined
      ? exchange.reply(answered)
      : streamed({ parts, exchange, admitted, ports, slot }, answered);
  } catch (error) {
    releaseExport?.();
    slot?.release();
    throw error;
  }
}

function quotasOf(
  { owned, spend, rates }: PipelineParts,
  ports: TenantPorts,
  who: Identity,
): Quotas {
  const { tenant, store } = ports;
  return {
    hasRoom: (user) => owned.hasRoom(store, { tenant, user }),
    made: (user) => owned.made({ tenant, user }),
    overspent: (user) => spend.overspent({ tenant, user }),
    missed: () => rates.chargeNotFound(who),
  };
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function openSlot(
  { slots }: PipelineParts,
  who: Identity,
  session: SessionRecord | undefined,
): StreamSlot {
  const slot = slots.stream(who);
  try {
    if (session !== undefined) slot.view(session.uid);
    return slot;
  } catch (error) {
    slot.release();
    throw error;
  }
}

/** What a stream is tied to. */
interface Streaming {
  readonly parts: PipelineParts;
  readonly exchange: Exchange;
  readonly admitted: Admitted;
  readonly ports: TenantPorts;
  readonly slot: StreamSlot;
}

/** The reply, with its stream tied to what it holds and to those who are asked about it. */
function streamed(streaming: Streaming, answered: Answer): Reply {
  const { parts, exchange, slot } = streaming;
  const { stream } = answered;
  if (stream === undefined) {
    slot.release();
    return exchange.reply(answered);
  }
  for (const { uid } of stream.sessions) slot.view(uid);
  return {
    ...exchange.reply(answered),
    stream: {
      start: (sink) => follow(streaming, stream, sink),
      failed: (error) => refuse(parts, exchange, error),
      ended: () => slot.release(),
    },
  };
}

async function follow(
  { parts, exchange, admitted, ports }: Streaming,
  stream: StreamAnswer,
  sink: Sink,
): Promise<void> {
  const { who, identify: ask } = admitted;
  const { header } = exchange.incoming;
  const handle = stream.start(sink);
  const forget = parts.streams.add({
    who,
    credentials: `${header("authorization") ?? ""}\0${header("cookie") ?? ""}`,
    sessions: stream.sessions,
    identify: ask,
    // Read anew: what grants a right may stand in the session's metadata.
    mayRead: async (now, { sessionId, uid }) =>
      (await parts.access.open(ports, now, sessionId, "read"))?.uid === uid,
    end: handle.end,
  });
  try {
    await handle.ended;
  } finally {
    forget();
  }
}
