import { warn } from "@millrace/core/checks";
import type { SessionDriver, SessionRecord } from "@millrace/core/ports";
import { redactedMessage } from "@millrace/core/secrets";
import type { RunHost } from "./run-host.ts";

/** The host of a server whose runs workers elsewhere drive. */
const undriven: RunHost = {
  drives: false,
  wake: () => undefined,
  note: () => undefined,
  close: async () => undefined,
};

/**
 * A run host that drives nothing: it reports stored facts to a driver outside, if there is one. No request waits for the
 * driver, and none fails by it; what a lost report would have begun is in the store.
 */
export function driverHost(driver: SessionDriver | false): RunHost {
  if (driver === false) return undriven;
  const wake = async (session: SessionRecord, n: number): Promise<void> => {
    const { uid, sessionId, tenant } = session;
    await driver.wake({ uid, sessionId, tenant, head: Math.max(session.head, n) });
  };
  return {
    drives: false,
    wake: (session, n) => void warnIfFailed("wake", () => wake(session, n)),
    note: (session, head) =>
      void warnIfFailed("wake", async () => await wake(session, await head())),
    close: () => warnIfFailed("close", async () => await driver.close?.()),
  };
}

async function warnIfFailed(call: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    warn("MILLRACE_DRIVER_FAILED", `${call} of the driver failed: ${redactedMessage(error)}`);
  }
}
