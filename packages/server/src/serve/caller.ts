import type { Clock } from "@millrace/core/ports";
import type { Addresses } from "../auth/addresses.ts";
import { identify, unauthenticated } from "../auth/authenticator.ts";
import type { Authenticate } from "../auth/authenticator.ts";
import type { ReadTicket, Tickets } from "../auth/tickets.ts";
import type { Identity } from "../http/identity.ts";
import type { Matched } from "../http/match.ts";
import { Problem } from "../http/problem.ts";
import { requestHead, splitTarget } from "../http/request.ts";
import type { Incoming, RawQuery } from "../http/request.ts";
import type { WrongCredentials } from "../limits/wrong-credentials.ts";
import type { Exchange } from "./exchange.ts";

/** What finds out for whom a request acts. */
export interface CallerParts {
  readonly addresses: Addresses;
  readonly authenticate: Authenticate;
  /** Undefined in local mode, which has no tickets. */
  readonly tickets: Tickets | undefined;
  readonly wrongCredentials: WrongCredentials;
  readonly clock: Clock;
}

/** For whom a request acts, and how to find that out again while its stream is open. */
export interface Caller {
  readonly who: Identity;
  readonly ticket: ReadTicket | undefined;
  readonly identify: () => Promise<Identity | undefined>;
}

/** Counts wrong credentials, and refuses an address that has sent too many. */
export async function countedCaller(
  parts: CallerParts,
  exchange: Exchange,
  matched: Matched,
  query: RawQuery,
): Promise<Caller> {
  const { incoming } = exchange;
  const address = parts.addresses.counted(incoming);
  if (address === undefined || !hasCredentials(incoming, query))
    return callerOf(parts, exchange, matched, query);
  parts.wrongCredentials.admit(address);
  try {
    return await callerOf(parts, exchange, matched, query);
  } catch (error) {
    if (error instanceof Problem && error.code === "unauthenticated")
      await parts.wrongCredentials.charge(address);
    throw error;
  }
}

function hasCredentials({ header }: Incoming, query: RawQuery): boolean {
  return (
    header("authorization") !== undefined || header("cookie") !== undefined || query.has("ticket")
  );
}

async function callerOf(
  parts: CallerParts,
  { incoming, address }: Exchange,
  { route, params }: Matched,
  query: RawQuery,
): Promise<Caller> {
  const presented = route.ticket === undefined ? undefined : query.get("ticket");
  if (route.ticket !== undefined && presented !== undefined) {
    const asked = { use: route.ticket, sessionId: params["id"] ?? "", hash: params["hash"] };
    const ticket = await parts.tickets?.read(presented, asked, parts.clock.now());
    if (ticket === undefined) throw unauthenticated();
    const { who } = ticket;
    return { who, ticket, identify: async () => who };
  }
  const url = `${address?.origin ?? "http://localhost"}${splitTarget(incoming.target).path}`;
  const { header } = incoming;
  const ask = (): Promise<Identity> =>
    identify(
      parts.authenticate,
      { header, request: () => requestHead(incoming, url) },
      parts.clock,
    );
  return { who: await ask(), ticket: undefined, identify: () => ask().catch(undefinedIfRefused) };
}

/** A refusal is an answer; that nothing answered is not. */
function undefinedIfRefused(error: unknown): undefined {
  if (error instanceof Problem && error.code === "unauthenticated") return undefined;
  throw error;
}
