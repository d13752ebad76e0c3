/** Exit codes by the outcome of the run. `usage` is a mistake in the command line or its settings. */
export const exitCodes = { completed: 0, failed: 1, limited: 1, usage: 2, aborted: 130 } as const;
