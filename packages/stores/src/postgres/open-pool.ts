import { MillraceError } from "@millrace/core";
import { refusePlainTransport } from "@millrace/core/checks";
import { rememberUrl } from "@millrace/core/secrets";
import { Client, Pool } from "pg";
import type { ClientConfig, PoolConfig } from "pg";

/** Where the database of a pool is, as in `PostgresStoreOptions`. */
export interface PoolAddress {
  readonly url?: string | undefined;
  readonly allowPlain?: boolean | undefined;
}

/** PostgreSQL can't hold U+0000, and half a surrogate pair becomes U+FFFD: two tenants would be one. */
export function checkTenant(tenant: string): string {
  if (tenant !== "" && !tenant.includes("\0") && tenant.isWellFormed()) return tenant;
  throw new MillraceError(
    "invalid_definition",
    `a tenant needs a name of well-formed text without U+0000, not ${JSON.stringify(tenant)}: use an id of your own for it, such as "acme" or "tenant_42"`,
  );
}

/** Throws `invalid_definition` for a pool of the caller that sends in the clear to another machine. */
export function refusePlainPool(pool: Pool, allowPlain: boolean | undefined): void {
  const { options } = pool as { readonly options?: PoolConfig };
  // A stream of the caller's own, such as a connector of a cloud, encrypts as it sees fit.
  if (options === undefined || options.stream !== undefined) return;
  refusePlain(options, allowPlain);
}

/** Asks the driver, which also reads the parameters of the address and its own environment variables. */
function refusePlain(config: ClientConfig, allowPlain: boolean | undefined): void {
  const { host, ssl } = new Client(config);
  refusePlainTransport({
    host: host.startsWith("/") ? undefined : host, // a socket
    encrypted: ssl, // false, or settings: the driver then insists on TLS
    allowPlain,
    instead: "add sslmode=verify-full to the address",
  });
}

/** A pool for the store alone. Throws `invalid_definition` for an address that can't be used. */
export function openPool({ url = process.env["DATABASE_URL"], allowPlain }: PoolAddress): Pool {
  if (url === undefined) {
    throw new MillraceError("invalid_definition", "a url, a pool or DATABASE_URL is needed");
  }
  refusePlain({ connectionString: url }, allowPlain);
  rememberUrl(url);
  const silence = { connectionTimeoutMillis: 10_000, keepAlive: true };
  const pool = new Pool({ connectionString: url, pipeline: true, ...silence });
  // The pool replaces an idle connection that breaks. Without a listener the event would throw.
  const ignore = (): void => undefined;
  pool.on("error", ignore);
  // One that breaks in the packet that completes its login has no listener of the pool any more.
  pool.on("connect", (client) => void client.on("error", ignore));
  return pool;
}
