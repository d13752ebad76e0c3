import type { Clock } from "@millrace/core/ports";
import { Problem } from "../http/problem.ts";
import type { Identity } from "../http/identity.ts";
import type { MaybePromise } from "../http/types.ts";

/** Reads one header of a request by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

/** Finds out whom a request acts for. Nothing means no. */
export interface Authenticate {
  (request: Request): MaybePromise<Identity | undefined>;
  /** The same from the headers alone, which saves making a `Request`. Helpers of this package have it. */
  readonly fromHeaders?: (header: HeaderReader) => MaybePromise<Identity | undefined>;
}

/** What credentials are read from. */
export interface Credentials {
  readonly header: HeaderReader;
  /** Made only for an `authenticate` of the application's own. */
  readonly request: () => Request;
}

/** The identity of a request. Throws `unauthenticated`, with one body for every reason. */
export async function identify(
  authenticate: Authenticate,
  credentials: Credentials,
  clock: Clock,
): Promise<Identity> {
  const now = clock.now();
  const { fromHeaders } = authenticate;
  const ask = (): MaybePromise<Identity | undefined> =>
    fromHeaders === undefined
      ? authenticate(credentials.request())
      : fromHeaders(credentials.header);
  const who = await askApplication(clock, "authenticate", ask);
  if (who === undefined || who === null) throw unauthenticated();
  checkIdentity(who);
  if (who.expiresAt !== undefined && who.expiresAt <= now) throw unauthenticated();
  return who;
}

/** Tenant and user become keys and parts of facts: a mistake here must not become another identity. */
function checkIdentity({ tenant, user, roles, expiresAt }: Identity): void {
  const isName = (value: unknown): boolean =>
    typeof value === "string" && value !== "" && value.length <= 256 && value.isWellFormed();
  const isTime = expiresAt === undefined || Number.isFinite(expiresAt);
  if (isName(tenant) && isName(user) && isTime && (roles === undefined || Array.isArray(roles)))
    return;
  const detail = "authenticate gave no usable identity: tenant and user are texts of 1 to 256";
  throw new Problem("overloaded", detail, { retryAfter: 5 });
}

/** The one 401. */
export function unauthenticated(): Problem {
  const headers = { "www-authenticate": "Bearer" };
  return new Problem("unauthenticated", "sign in, and send credentials that are valid", {
    headers,
  });
}

/** How long the application's functions may take. */
const askSeconds = 5;

/**
 * The answer of a function of the application. What throws, and what does not answer in time, is
 * `overloaded`: never a yes.
 */
export async function askApplication<T>(
  clock: Clock,
  name: string,
  ask: () => MaybePromise<T>,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const inTime = clock.after(askSeconds * 1_000, () => reject(new Error("no answer in time")));
  try {
    return await Promise.race([ask(), late]);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const detail = `${name} failed: repeat the request`;
    const problem = new Problem("overloaded", detail, { retryAfter: 2 });
    throw Object.assign(problem, { cause: error });
  } finally {
    inTime();
  }
}
