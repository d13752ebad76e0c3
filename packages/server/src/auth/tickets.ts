import { createHmac, timingSafeEqual } from "node:crypto";
import { isJsonObject, parseJson } from "@millrace/core/wire";
import type { Identity } from "../http/identity.ts";
import type { ServerLimits } from "../http/route-limits.ts";
import type { MaybePromise } from "../http/types.ts";
import { unauthenticated } from "./authenticator.ts";

/** What a ticket opens: one session's events once, or one blob. */
export interface TicketUse {
  readonly use: "events" | "blob";
  readonly sessionId: string;
  readonly uid: string;
  readonly hash?: string | undefined;
}

/** A ticket that was presented and is valid. */
export interface ReadTicket extends TicketUse {
  readonly who: Identity;
}

interface Payload extends TicketUse {
  readonly tenant: string;
  readonly user: string;
  readonly roles?: readonly string[] | undefined;
  /** When the identity expires. */
  readonly until?: number | undefined;
  readonly expiresAt: number;
  readonly nonce: string;
}

/** How long a blob's ticket is good: a media element reads ranges while it plays. */
const blobMs = 300_000;

/**
 * Signed tickets for URLs: `EventSource` and media elements send no headers. A ticket names tenant, user,
 * session, use and expiry, and opens nothing else.
 */
export class Tickets {
  readonly #secret: string;
  readonly #useOnce: (nonce: string, windowMs: number) => MaybePromise<boolean>;
  readonly #makeNonce: () => string;
  readonly #validMs: Readonly<Record<TicketUse["use"], number>>;

  /**
   * `useOnce` answers whether a nonce is used for the first time, in all processes that share counters. Nonces have to
   * differ, and need not be hard to guess: tickets are signed.
   */
  constructor(
    secret: string,
    useOnce: (nonce: string, windowMs: number) => MaybePromise<boolean>,
    { ticketMs }: Pick<ServerLimits, "ticketMs">,
    makeNonce: () => string,
  ) {
    this.#secret = secret;
    this.#useOnce = useOnce;
    this.#makeNonce = makeNonce;
    this.#validMs = { events: ticketMs, blob: blobMs };
  }

  make(who: Identity, use: TicketUse, now: number): { ticket: string; expiresAt: number } {
    const expiresAt = now + this.#validMs[use.use];
    const { tenant, user, roles, expiresAt: until } = who;
    const nonce = this.#makeNonce();
    const payload: Payload = { ...use, tenant, user, roles, until, expiresAt, nonce };
    const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
    return { ticket: `${text}.${this.#sign(text)}`, expiresAt };
  }

  /** Throws `unauthenticated` for a ticket that is forged, expired, used, or for something else. */
  async read(
    ticket: string,
    asked: Pick<TicketUse, "use" | "sessionId" | "hash">,
    now: number,
  ): Promise<ReadTicket> {
    const payload = this.#verified(ticket);
    const { tenant, user, roles, until, expiresAt, nonce, ...use } = payload;
    const fits =
      use.use === asked.use && use.sessionId === asked.sessionId && use.hash === asked.hash;
    if (!fits || expiresAt <= now) throw unauthenticated();
    if (use.use === "events" && !(await this.#useOnce(nonce, this.#validMs.events))) {
      throw unauthenticated();
    }
    return { ...use, who: { tenant, user, roles, expiresAt: until } };
  }

  #verified(ticket: string): Payload {
    const [text = "", signature = "", ...more] = ticket.split(".");
    // Compared as text: the last letter has bits that carry nothing, and a ticket has one spelling.
    const given = Buffer.from(signature);
    const expected = Buffer.from(this.#sign(text));
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
    if (!isOurs || more.length > 0) throw unauthenticated();
    const parsed = parseJson(Buffer.from(text, "base64url").toString("utf8"));
    if (!parsed.ok || !isJsonObject(parsed.value)) throw unauthenticated();
    return parsed.value as unknown as Payload; // signed by us
  }

  #sign(text: string): string {
    return createHmac("sha256", this.#secret).update(`ticket\0${text}`).digest("base64url");
  }
}
