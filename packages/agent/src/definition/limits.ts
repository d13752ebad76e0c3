/** The limits of a run. One that is left out is the agent's, and then the default. */
export interface Limits {
  /** Model replies. */
  readonly turns?: number | undefined;
  /** Wall-clock time since the run started, including the time of waiting for people. */
  readonly seconds?: number | undefined;
  /** Input and output tokens of all attempts, sub-agents included. */
  readonly tokens?: number | undefined;
  /** In US dollars. Replies without a known cost do not count. */
  readonly cost?: number | undefined;
  /** How often the same call, or the same sequence of up to four calls, may come in a row. */
  readonly repeats?: number | undefined;
  /**
   * How many drivers in a row may end without a trace of the run, as a process that is killed does. Then
   * the run ends as failed with the cause `driver_lost`.
   */
  readonly lost?: number | undefined;
}

export const defaultLimits: Limits = { turns: 200, seconds: 7_200, repeats: 3, lost: 5 };
