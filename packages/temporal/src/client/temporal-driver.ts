import { warn } from "@millrace/core/checks";
import { systemClock } from "@millrace/core/memory";
import type { SessionDriver } from "@millrace/core/ports";
import { redactedMessage } from "@millrace/core/secrets";
import { defaultTaskQueue, defaultWorkflowType } from "../names.ts";
import { checkDriverOptions } from "./check-options.ts";
import { connectedClient } from "./connect.ts";
import type { TemporalDriverEvent, TemporalDriverOptions } from "./options.ts";
import { isRefusal, isRunning, signalSession } from "./signal.ts";
import { sweepLostWakes } from "./sweep.ts";
import { Wakes } from "./wakes.ts";
import type { Wake } from "./wakes.ts";

/** A driver for the option `driver` of `createMillrace`, which closes it. */
export interface TemporalDriver extends SessionDriver, AsyncDisposable {
  /** Returns at once, and never throws. */
  readonly wake: (session: Wake) => void;
  /** Sends what waits, for at most some seconds. May be called again. */
  readonly close: () => Promise<void>;
}

/**
 * Makes a driver that starts and signals one Temporal workflow for each session with work; a worker of
 * `@millrace/temporal/worker` drives it. Nothing is thrown at requests: while Temporal is away, wakes are
 * merged and repeated, and one that was lost with its process is found in the store within 10 s.
 * Throws `invalid_definition` for options that can't be used.
 */
export function temporalDriver(options: TemporalDriverOptions): TemporalDriver {
  checkDriverOptions(options, temporalDriver);
  const { store, index = store?.drivers, clock = systemClock } = options;
  const { workflowType = defaultWorkflowType, taskQueue = defaultTaskQueue } = options;
  const workflow = { workflowType, taskQueue, workflowId: options.workflowId };
  const report = reportTo(options.onEvent);
  const client = connectedClient(options);
  const send = (wake: Wake): Promise<void> => signalSession(client.get(), workflow, wake);
  const { random } = Math;
  const wakes = new Wakes({ send, isRefusal, report, clock, random });
  const closing = new AbortController();
  const { signal } = closing;
  const swept =
    index &&
    sweepLostWakes({
      index,
      wakes,
      isRunning: (session) => isRunning(client.get(), workflow, session),
      report,
      clock,
      random,
      signal,
    });
  const noteTenant = tenantNote(store);
  let closed: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    closing.abort();
    await Promise.all([swept, wakes.close()]);
    await client.close();
  };
  const close = (): Promise<void> => (closed ??= drain());
  const wake = (session: Wake): void => {
    noteTenant(session.tenant);
    wakes.add(session);
  };
  return { wake, close, [Symbol.asyncDispose]: close };
}

/** An observer that fails does not stop the driver. Without one, failures are warnings of the process. */
function reportTo(
  onEvent: (event: TemporalDriverEvent) => void = warnOf,
): (event: TemporalDriverEvent) => void {
  return (event) => {
    try {
      onEvent(event);
    } catch {
      // Its own matter.
    }
  };
}

function warnOf(event: TemporalDriverEvent): void {
  if (event.type === "temporal_back") return;
  const message = {
    temporal_away: "Temporal does not answer, so no session goes on; it is tried again",
    wake_refused: "Temporal refused to start or signal the workflow of a session",
    store_away:
      "the store does not list its sessions, so lost wakes are not found; it is tried again",
  }[event.type];
  const instead = "check `address` or TEMPORAL_ADDRESS, or pass `onEvent`";
  warn("MILLRACE_DRIVER_FAILED", `${message}: ${redactedMessage(event.error)}`, instead);
}

/** Warns once of a tenant whose lost wakes the store's index would not show. */
function tenantNote(store: TemporalDriverOptions["store"]): (tenant: string | undefined) => void {
  const { ownTenant } = store ?? {};
  let isWarned = ownTenant === undefined;
  return (tenant) => {
    if (isWarned || tenant === undefined || tenant === ownTenant) return;
    isWarned = true;
    const found = `the store lists work of the tenant ${JSON.stringify(ownTenant)} alone`;
    const message = `${found}: a wake of another tenant that is lost with its process is not repeated`;
    warn("MILLRACE_TENANT_NOT_LISTED", message, "use postgresStore({ acrossTenants: true })");
  };
}
