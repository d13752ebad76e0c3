/** Every limit of the server, one name for each row of the table of limits. Sizes in bytes, times in milliseconds. */
export interface ServerLimits {
  readonly bodyBytes: number;
  readonly controlBytes: number;
  readonly bodyValues: number;
  readonly heldBytesPerUser: number;
  readonly heldBytesPerProcess: number;
  readonly blobBytes: number;
  readonly headerBytes: number;
  readonly metadataBytes: number;
  readonly answerBytes: number;
  readonly bodyMs: number;
  readonly blobMs: number;
  readonly waitMs: number;
  /** How long a ticket for events may be used after it was made. */
  readonly ticketMs: number;
  readonly requestsPerUser: number;
  readonly requestsPerTenant: number;
  readonly bytesPerUser: number;
  readonly creationsPerUser: number;
  readonly inputsPerUser: number;
  readonly ticketsPerUser: number;
  readonly abortsPerUser: number;
  readonly notFoundPerUser: number;
  readonly wrongCredentialsPerAddress: number;
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
  controlBytes: 64 * 1_024,
  bodyValues: 100_000,
  heldBytesPerUser: 16 * 1_024 * 1_024,
  heldBytesPerProcess: 256 * 1_024 * 1_024,
  blobBytes: 32 * 1_024 * 1_024,
  headerBytes: 16 * 1_024,
  metadataBytes: 16 * 1_024,
  answerBytes: 1_024 * 1_024,
  bodyMs: 60_000,
  blobMs: 300_000,
  waitMs: 60_000,
  ticketMs: 30_000,
  requestsPerUser: 600,
  requestsPerTenant: 6_000,
  bytesPerUser: 128 * 1_024 * 1_024,
  creationsPerUser: 30,
  inputsPerUser: 60,
  ticketsPerUser: 60,
  abortsPerUser: 120,
  notFoundPerUser: 60,
  wrongCredentialsPerAddress: 100,
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
