/** A process's network to a store or a log. */
export interface Link {
  /** Refuses connections. */
  isAway: boolean;
  /** Nothing arrives in either direction: callers wait until their time limit. */
  isCut: boolean;
  /** The share of calls that are lost, on the way there or back. */
  loss: number;
  slowMs: number;
}

export function wholeLink(): Link {
  return { isAway: false, isCut: false, loss: 0, slowMs: 0 };
}

/** After how long a call is given up whose answer does not come. */
export const callTimeoutMs = 5_000;
