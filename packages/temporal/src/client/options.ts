import type { Client } from "@temporalio/client";
import type { TenantStore } from "@millrace/agent/worker";
import type { SessionId, SessionUid } from "@millrace/core";
import type { Clock, DriverIndex, DueSession } from "@millrace/core/ports";
import type { TemporalConnectOptions } from "../connect-options.ts";

/** What a driver is made of: a way to Temporal, and the index in which it finds lost wakes. */
export interface TemporalDriverOptions extends TemporalConnectOptions {
  /**
   * A client that the application made and closes: it has its own address, and it reconnects by its own settings.
   * Left out: the driver connects with its first wake.
   */
  readonly client?: Client | undefined;
  /**
   * The workflow that drives sessions, by the name under which the workers' file exports it. It takes
   * `WorkflowArgs`. `agentWorkflow` by default.
   */
  readonly workflowType?: string | undefined;
  /**
   * The id of a session's workflow, for workflows that have several sessions. Left out: `session:` and the
   * session's uid, so that each has its own. It must be the same for a session each time.
   */
  readonly workflowId?:
    | ((session: Pick<DueSession, "uid" | "sessionId" | "tenant">) => string)
    | undefined;
  /** Where workers of Temporal look for sessions. `millrace` by default. */
  readonly taskQueue?: string | undefined;
  /**
   * The store of the server. Its index lists sessions of all tenants that the server has, for
   * PostgreSQL with `acrossTenants: true`: a wake that was lost with its process is found there.
   */
  readonly store?: Pick<TenantStore, "drivers" | "ownTenant" | "forTenant"> | undefined;
  /** The index of a store that has none. Left out: the store's. */
  readonly index?: Pick<DriverIndex, "due"> | undefined;
  /** Called with what happens, for a log. One that fails changes nothing. Left out: warnings of the process. */
  readonly onEvent?: ((event: TemporalDriverEvent) => void) | undefined;
  /** Left out: the system's. */
  readonly clock?: Clock | undefined;
}

/** What happens to a driver, for a log. No content. */
export type TemporalDriverEvent =
  /** Temporal did not take a wake. Reported once for each outage; wakes are repeated until it does. */
  | { readonly type: "temporal_away"; readonly error: unknown }
  /** Temporal takes wakes again. */
  | { readonly type: "temporal_back" }
  /** Temporal refused the wake of one session, and would refuse it again. It is tried again at another head. */
  | {
      readonly type: "wake_refused";
      readonly uid: SessionUid;
      readonly sessionId: SessionId;
      readonly tenant?: string | undefined;
      readonly error: unknown;
    }
  /** The store did not list its sessions. Reported once for each outage. */
  | { readonly type: "store_away"; readonly error: unknown };
