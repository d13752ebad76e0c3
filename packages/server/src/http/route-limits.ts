/** Every limit of the server, one name for each row of the table of limits. Sizes in bytes, times in seconds. */
export interface ServerLimits {
  readonly bodyBytes: number;
  readonly blobBytes: number;
  readonly headerBytes: number;
  readonly metadataBytes: number;
  readonly answerBytes: number;
  readonly bodySeconds: number;
  readonly blobSeconds: number;
  readonly waitSeconds: number;
  /** How long a ticket for events may be used after it was made. */
  readonly ticketSeconds: number;
  readonly requestsPerUser: number;
  readonly requestsPerTenant: number;
  readonly creationsPerUser: number;
  readonly inputsPerUser: number;
  readonly ticketsPerUser: number;
  readonly abortsPerUser: number;
  readonly notFoundPerUser: number;
  readonly streamsPerUser: number;
  readonly viewersPerSession: number;
  readonly sessionsPerStream: number;
  readonly streamsPerProcess: number;
  readonly exportsPerUser: number;
  readonly inputsPerSession: number;
  readonly runsPerUser: number;
  readonly runsPerTenant: number;
  readonly sessionsPerUser: number;
  readonly blobBytesPerSession: number;
  /** Micro-dollars a day. Infinity until set. */
  readonly spendPerUser: number;
  readonly spendPerTenant: number;
}

/** What a route's function needs of the limits. */
export type RouteLimits = ServerLimits;

/** What holds unless an application says otherwise. */
export const defaultLimits: ServerLimits = {
  bodyBytes: 10 * 1_024 * 1_024,
  blobBytes: 32 * 1_024 * 1_024,
  headerBytes: 16 * 1_024,
  metadataBytes: 16 * 1_024,
  answerBytes: 1_024 * 1_024,
  bodySeconds: 60,
  blobSeconds: 300,
  waitSeconds: 60,
  ticketSeconds: 30,
  requestsPerUser: 600,
  requestsPerTenant: 6_000,
  creationsPerUser: 30,
  inputsPerUser: 60,
  ticketsPerUser: 60,
  abortsPerUser: 120,
  notFoundPerUser: 60,
  streamsPerUser: 50,
  viewersPerSession: 20,
  sessionsPerStream: 50,
  streamsPerProcess: 10_000,
  exportsPerUser: 2,
  inputsPerSession: 100,
  runsPerUser: 10,
  runsPerTenant: 100,
  sessionsPerUser: 10_000,
  blobBytesPerSession: 1_024 * 1_024 * 1_024,
  spendPerUser: Infinity,
  spendPerTenant: Infinity,
};
