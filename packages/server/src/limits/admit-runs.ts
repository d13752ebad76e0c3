import type { SessionRecord } from "@millrace/core/ports";

/** How many runs at once. */
export interface RunLimits {
  readonly runsPerUser: number;
  readonly runsPerTenant: number;
}

/** Whether one more session may be worked on beside others, by its owner and its tenant. */
export function admitRuns(
  limits: RunLimits,
): (session: SessionRecord, beside: readonly SessionRecord[]) => boolean {
  return (session, beside) => {
    const tenant = beside.filter((other) => other.tenant === session.tenant);
    if (tenant.length >= limits.runsPerTenant) return false;
    const { owner } = session;
    if (owner === undefined) return true; // of the application itself
    return tenant.filter((other) => other.owner === owner).length < limits.runsPerUser;
  };
}
