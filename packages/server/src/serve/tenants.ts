import type { TenantStore } from "@millrace/agent/worker";
import { MillraceError } from "@millrace/core";
import { warn } from "@millrace/core/checks";
import type { BlobStore, EventLog, SessionStore } from "@millrace/core/ports";
import { createHub } from "../hub/hub.ts";
import type { Hub } from "../hub/hub.ts";
import type { HubOptions } from "../hub/options.ts";
import type { TenantPorts } from "../http/route-context.ts";
import type { RunHost } from "../runs/run-host.ts";

/** The ports of the process, before they are opened for a tenant. */
export interface ProcessPorts {
  readonly store: TenantStore;
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly runs: RunHost;
  readonly hub: Omit<HubOptions, "store" | "log">;
  /** The one tenant of a store without `forTenant`. */
  readonly onlyTenant: string;
}

/**
 * The ports of each tenant. The store is opened for the tenant before anything is read, so that a route
 * has nothing through which it could read another's.
 */
export class Tenants {
  readonly #ports: ProcessPorts;
  readonly #open = new Map<string, TenantPorts>();
  #draining = false;
  #warned = false;

  constructor(ports: ProcessPorts) {
    this.#ports = ports;
  }

  /** Warns if this tenant is driven here and the store's index does not list it. Once for all tenants. */
  noteUnlisted(tenant: string): void {
    const { store, runs } = this.#ports;
    const { ownTenant, forTenant } = store;
    const isListed = forTenant === undefined || ownTenant === undefined || ownTenant === tenant;
    if (isListed || !runs.drives || this.#warned) return;
    this.#warned = true;
    const found = `the store lists work of the tenant ${JSON.stringify(ownTenant)} alone`;
    const message = `${found}: a run of another tenant is not taken up after a crash`;
    const fix =
      "use postgresStore({ acrossTenants: true }), or driver: false and a worker that has it";
    warn("MILLRACE_TENANT_NOT_LISTED", message, fix);
  }

  /** Throws `invalid_definition` for a second tenant of a store that can't keep two apart. */
  of(tenant: string): TenantPorts {
    const known = this.#open.get(tenant);
    if (known !== undefined) return known;
    const { log, blobs, runs } = this.#ports;
    this.noteUnlisted(tenant);
    const store = this.#storeOf(tenant);
    const hub = createHub({ ...this.#ports.hub, store, log });
    if (this.#draining) void hub.drain({ drainMs: 0 });
    const made = { tenant, store, log, blobs, runs, hub };
    if (this.#open.size >= keptTenants) this.#forgetIdle();
    this.#open.set(tenant, made);
    return made;
  }

  /** A store that is in use, to ask whether stores answer. */
  anyStore(): SessionStore {
    const [open] = this.#open.values();
    return open?.store ?? this.#ports.store;
  }

  /** The hubs that are in use. */
  hubs(): readonly Hub[] {
    return [...this.#open.values()].map(({ hub }) => hub);
  }

  /** Ends all streams by and by. Those of tenants that come later end at once. */
  async drain(drainMs: number): Promise<void> {
    this.#draining = true;
    await Promise.all(this.hubs().map((hub) => hub.drain({ drainMs })));
  }

  /** Ends all viewers. */
  dispose(): void {
    for (const hub of this.hubs()) hub[Symbol.dispose]();
    this.#open.clear();
  }

  #storeOf(tenant: string): SessionStore {
    const { store, onlyTenant } = this.#ports;
    if (store.forTenant !== undefined) return store.forTenant(tenant);
    if (tenant === onlyTenant) return store;
    const fix = `let authenticate answer it, or pass store: (tenant) => … with a store for each`;
    throw new MillraceError(
      "invalid_definition",
      `the store keeps the sessions of one tenant, ${JSON.stringify(onlyTenant)}: ${fix}`,
    );
  }

  #forgetIdle(): void {
    for (const [tenant, { hub }] of this.#open) if (hub.sessions() === 0) this.#open.delete(tenant);
  }
}

/** How many tenants are kept before those without viewers are dropped. They cost a hub without rooms each. */
const keptTenants = 1_000;
