import type { ServerLimits } from "@millrace/server";

const wide = 1e9;

/** Limits that no test reaches. */
export const wideLimits: Partial<ServerLimits> = {
  requestsPerUser: wide,
  requestsPerTenant: wide,
  creationsPerUser: wide,
  inputsPerUser: wide,
  inputsPerSession: wide,
  streamsPerUser: wide,
  viewersPerSession: wide,
  runsPerUser: wide,
  runsPerTenant: wide,
};
